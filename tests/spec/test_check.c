/* The rules between keys, one broken at a time, and descriptions of one model. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"
#include "support/runner.h"

static tpti_spec spec;

static void begin(void) { tpti_spec_init(&spec); }
static void end(void) { tpti_spec_free(&spec); }

static void sets(const char *key, const char *value) {
  tpt_status status = tpti_spec_set(&spec, key, value);
  ck_assert_msg(status == TPT_OK, "%s", tpti_error_text());
}

static void breaks(const char *message) {
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_E_CONFIG);
  ck_assert_str_eq(tpti_error_text(), message);
}

typedef struct broken {
  const char *pairs[8]; /* key, value, ... over the defaults */
  const char *message;
} broken;

static const broken rows[] = {
    {{"model.d_model", "190"},
     "model.d_model is 190, model.n_phases is 3: d_model must be a multiple of n_phases"},
    {{"model.d_model", "189"},
     "model.d_model is 189, model.n_phases is 3: d_model / n_phases must be even"},
    {{"model.d_model", "6", "model.n_q_heads", "4", "model.n_phases", "1"},
     "model.d_model is 6, model.n_q_heads is 4: d_model must be a multiple of n_q_heads"},
    {{"model.d_model", "6", "model.n_q_heads", "6", "model.n_phases", "1"},
     "model.d_model is 6, model.n_q_heads is 6: d_model / n_q_heads must be even"},
    {{"model.n_q_heads", "12", "model.n_kv_heads", "9"},
     "model.n_q_heads is 12, model.n_kv_heads is 9: n_q_heads must be a multiple of n_kv_heads"},
    {{"model.n_phases", "4"},
     "model.n_q_heads is 6, model.n_phases is 4, model.attention.phase_aligned is true: n_q_heads "
     "must be a multiple of n_phases, or phase_aligned false"},
    {{"model.n_kv_heads", "2"},
     "model.n_kv_heads is 2, model.n_phases is 3, model.attention.phase_aligned is true: "
     "n_kv_heads must be a multiple of n_phases, or phase_aligned false"},
    {{"model.dc.profile", "[1, 2]", "model.max_seq_len", "3"},
     "model.dc.profile is a list of length 2, model.max_seq_len is 3: the list must have at least "
     "max_seq_len numbers"},
    {{"model.rotation.schedule", "[1, 2, 3, 4, 5]"},
     "model.rotation.schedule is a list of length 5, model.n_layers is 4: the list must have "
     "n_layers numbers"},
    {{"train.seq_len", "129"},
     "train.seq_len is 129, model.max_seq_len is 128: seq_len must be at most max_seq_len"},
    {{"train.warmup", "20000"},
     "train.warmup is 20000, train.steps is 20000: warmup must be less than steps"},
    {{"train.batch", "1048576", "model.max_seq_len", "2048"},
     "train.batch is 1048576, train.seq_len is 2048: batch times seq_len must be at most "
     "2147483647"},
};

START_TEST(a_broken_rule_is_named_with_its_values) {
  for (const char *const *pair = rows[_i].pairs; *pair; pair += 2) sets(pair[0], pair[1]);
  breaks(rows[_i].message);
}
END_TEST

START_TEST(parameters_must_be_addressable) {
  spec.model.L = SIZE_MAX / 1000; /* beyond what a key allows: as on a machine of fewer bits */
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_E_CONFIG);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "the parameters must fit the address space"));
}
END_TEST

START_TEST(the_edges_of_the_rules_hold) {
  sets("model.n_phases", "1");
  sets("model.n_kv_heads", "2");
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_OK);
  sets("model.n_phases", "4");
  sets("model.attention.phase_aligned", "false");
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_OK);
  sets("model.max_seq_len", "2");
  sets("model.dc.profile", "[1, 2, 3]");
  sets("model.rotation.schedule", "[1, 2, 3, 4]");
  sets("train.warmup", "0");
  sets("train.steps", "1");
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_OK);
  sets("model.max_seq_len", "1");
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_OK);
}
END_TEST

START_TEST(the_least_model_is_right) {
  static const char *const keys[] = {"model.vocab_size", "model.n_layers", "model.n_q_heads",
                                     "model.n_kv_heads", "model.d_ff",     "model.n_phases",
                                     "model.max_seq_len"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) sets(keys[i], "1");
  sets("model.d_model", "2");
  ck_assert_msg(tpti_spec_check(&spec) == TPT_OK, "%s", tpti_error_text());
}
END_TEST

static void differs(const char *key, const char *value, const char *message) {
  tpti_spec other;
  ck_assert_int_eq(tpti_spec_copy(&spec, &other), TPT_OK);
  ck_assert_int_eq(tpti_spec_same_model(&spec, &other, "the file"), TPT_OK);
  ck_assert_int_eq(tpti_spec_set(&other, key, value), TPT_OK);
  tpt_status status = tpti_spec_same_model(&spec, &other, "the file");
  tpti_spec_free(&other);
  ck_assert_int_eq(status, message ? TPT_E_CONFIG : TPT_OK);
  if (message) ck_assert_str_eq(tpti_error_text(), message);
}

START_TEST(two_models_differ_in_the_first_key_that_does) {
  sets("model.dc.profile", "[1, 2]");
  differs("model.d_model", "384", "model.d_model is 192, and 384 in the file");
  differs("model.max_seq_len", "64", "model.max_seq_len is 128, and 64 in the file");
  differs("model.dc.profile", "horn",
          "model.dc.profile is a list of length 2, and horn in the file");
  differs("model.dc.profile", "[1, 3]",
          "model.dc.profile is a list of length 2, and the file has other numbers in it");
  differs("model.attention.phase_aligned", "false",
          "model.attention.phase_aligned is true, and false in the file");
  differs("train.lr", "1", NULL);
  differs("train.batch", "3", NULL);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("check");
  TCase *c = tcase_create("rules");
  tcase_add_checked_fixture(c, begin, end);
  tcase_add_loop_test(c, a_broken_rule_is_named_with_its_values, 0,
                      (int)(sizeof rows / sizeof *rows));
  tcase_add_test(c, parameters_must_be_addressable);
  tcase_add_test(c, the_edges_of_the_rules_hold);
  tcase_add_test(c, the_least_model_is_right);
  tcase_add_test(c, two_models_differ_in_the_first_key_that_does);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
