/* Defaults, presets, copies, and one key at a time. */
#include "spec/spec.h"

#include <string.h>

#include "support/runner.h"

static tpti_spec spec;

static void begin(void) { tpti_spec_init(&spec); }
static void end(void) { tpti_spec_free(&spec); }

static void sets(const char *key, const char *value) {
  tpt_status status = tpti_spec_set(&spec, key, value);
  ck_assert_msg(status == TPT_OK, "%s", tpti_error_text());
}

static void has(const tpti_spec *of, const char *key, const char *expected) {
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  ck_assert_int_eq(tpti_spec_get(of, key, &text), TPT_OK);
  tpti_buffer_append(&text, "", 1);
  ck_assert_str_eq(text.data, expected);
  tpti_buffer_free(&text);
}

/* Setting fails with the message, and the value stays. */
static void refuses(const char *key, const char *value, const char *message) {
  tpti_buffer before, after;
  tpti_buffer_init(&before, &tpti_memory_default);
  tpti_buffer_init(&after, &tpti_memory_default);
  tpti_spec_format(&spec, &before);
  ck_assert_msg(tpti_spec_set(&spec, key, value) == TPT_E_CONFIG, "accepted %s: %s", key, value);
  ck_assert_msg(strstr(tpti_error_text(), message), "%s", tpti_error_text());
  tpti_spec_format(&spec, &after);
  ck_assert_uint_eq(before.used, after.used);
  ck_assert_mem_eq(before.data, after.data, before.used);
  tpti_buffer_free(&before);
  tpti_buffer_free(&after);
}

START_TEST(the_defaults_are_the_papers_small_model) {
  const tpti_dims *m = &spec.model;
  ck_assert_uint_eq(m->V, 10000);
  ck_assert_uint_eq(m->D, 192);
  ck_assert_uint_eq(m->F, 512);
  ck_assert(m->phase_aligned && m->dc == TPTI_DC_HORN && m->rotation == TPTI_ROTATION_REPLACE);
  ck_assert_double_eq(m->rope_base, 10000);
  ck_assert_double_eq(m->norm_eps, 1e-6);
  ck_assert_double_eq(spec.train.lr, 3e-4);
  ck_assert_double_eq(spec.train.beta2, 0.999);
  ck_assert_uint_eq(spec.train.steps, 20000);
  ck_assert_int_eq(spec.train.ignore_index, -1);
  ck_assert_int_eq(tpti_spec_check(&spec), TPT_OK);
}
END_TEST

START_TEST(every_preset_is_right_in_itself) {
  size_t count = 0;
  for (const char *name; (name = tpti_spec_preset_name(count)); count++) {
    tpti_spec preset;
    ck_assert_int_eq(tpti_spec_preset(name, &preset), TPT_OK);
    ck_assert_msg(tpti_spec_check(&preset) == TPT_OK, "%s: %s", name, tpti_error_text());
    ck_assert_uint_eq(preset.train.seq_len, preset.model.max_seq_len);
    ck_assert_double_eq(preset.train.theta_lr, preset.train.lr);
  }
  ck_assert_uint_eq(count, 5);
  ck_assert_ptr_null(tpti_spec_preset_name(SIZE_MAX));
}
END_TEST

START_TEST(presets_carry_the_papers_settings) {
  tpti_spec large;
  ck_assert_int_eq(tpti_spec_preset("3pt-123m", &large), TPT_OK);
  has(&large, "train.beta2", "0.95");
  has(&large, "train.weight_decay", "0.1");
  has(&large, "train.batch", "8");
  has(&large, "train.grad_accum", "4");
  has(&large, "train.steps", "30000");
  has(&large, "train.seq_len", "1024");
  ck_assert_int_eq(tpti_spec_preset("rope-only-123m", &large), TPT_OK);
  has(&large, "model.d_model", "768");
  has(&large, "model.n_phases", "1");
  has(&large, "model.dc.profile", "none");
  has(&large, "model.rotation.mode", "none");
  has(&large, "model.embedding.scale", "sqrt_d");
}
END_TEST

START_TEST(an_unknown_preset_is_answered_with_all) {
  tpti_spec none;
  ck_assert_int_eq(tpti_spec_preset("3pt-7b", &none), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpti_error_text(),
                   "unknown preset \"3pt-7b\", one of 3pt-5m, 3pt-123m, 3pt-1b, rope-only-5m, "
                   "rope-only-123m is allowed");
}
END_TEST

START_TEST(what_was_not_given_follows) {
  sets("model.max_seq_len", "1000");
  sets("train.lr", "1e-2");
  has(&spec, "train.seq_len", "1000");
  has(&spec, "model.dc.tau", "250");
  has(&spec, "train.theta_lr", "0.01");
  sets("train.seq_len", "10");
  sets("model.dc.tau", "7.5");
  sets("train.theta_lr", "0");
  sets("model.max_seq_len", "64");
  sets("train.lr", "1");
  has(&spec, "train.seq_len", "10");
  has(&spec, "model.dc.tau", "7.5");
  has(&spec, "train.theta_lr", "0");
}
END_TEST

START_TEST(values_are_yaml) {
  static const char *const rows[][3] = {
      {"model.n_phases", " 4 # four", "4"},
      {"model.rope.base", "5e5", "500000"},
      {"train.lr", "+1", "1"},
      {"train.eps", ".0001", "0.0001"},
      {"train.ignore_index", "-2147483648", "-2147483648"},
      {"train.seed", "18446744073709551615", "18446744073709551615"},
      {"model.attention.phase_aligned", "False", "false"},
      {"model.dc.profile", "'ramp'", "ramp"},
      {"model.dc.profile", "[1, -0.5, 2e-3]", "[1, -0.5, 0.002]"},
      {"model.dc.profile", "- 1\n- 2", "[1, 2]"},
      {"model.dc.profile", "none", "none"},
      {"model.rotation.schedule", "[0.1]", "[0.1]"},
      {"model.rotation.schedule", "u_shaped", "u_shaped"},
      {"train.precision", "bf16x3", "bf16x3"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    sets(rows[i][0], rows[i][1]);
    has(&spec, rows[i][0], rows[i][2]);
  }
}
END_TEST

START_TEST(a_wrong_value_changes_nothing) {
  sets("model.dc.profile", "[3, 2, 1]");
  static const char *const rows[][3] = {
      {"model.n_phases", "three", "is \"three\", an integer from 1 to 4096 is allowed"},
      {"model.n_phases", "0", "an integer from 1 to 4096"},
      {"model.n_phases", "-1", "an integer from 1"},
      {"model.n_phases", "3.0", "an integer from 1"},
      {"model.n_phases", "4\n---\n5", "a second document"},
      {"model.n_phases", "'3'", "is \"3\" in quotes"},
      {"model.n_phases", "[3]", "is a list, an integer"},
      {"model.n_phases", "{a: 3}", "is a section of keys"},
      {"model.n_phases", "", "is \"\", an integer"},
      {"model.vocab_size", "2147483648", "to 2147483647 is allowed"},
      {"train.seed", "18446744073709551616", "to 18446744073709551615 is allowed"},
      {"train.ignore_index", "2147483648", "to 2147483647 is allowed"},
      {"train.beta1", "1", "a number from 0 to below 1 is allowed"},
      {"train.lr", "-1e-3", "a number from 0 to 1000000 is allowed"},
      {"train.lr", ".nan", "a number from 0"},
      {"train.lr", "1,5", "a number from 0"},
      {"train.eps", "0", "a number from 1.0e-30 to 1"},
      {"model.rope.base", "0", "a number from 1.0e-06"},
      {"model.dc.tau", "0", "a number above 0 and up to 1.0e+30 is allowed"},
      {"model.dc.profile", "cone", "learned, or a list of numbers, is allowed"},
      {"model.dc.profile", "[1, .inf]", "has the entry \".inf\" (1 from 0), a number"},
      {"model.dc.profile", "[1, '2']", "is a list with quotes"},
      {"model.dc.profile", "[]", "is an empty list"},
      {"model.dc.profile", "[1]\n---\nhorn", "a second document"},
      {"model.attention.phase_aligned", "yes", "true or false is allowed"},
      {"model.attention.phase_aligned", "'true'", "true or false is allowed"},
      {"train.decay", "some", "one of all, matrices is allowed"},
      {"model.dc", "horn", "model.dc is a section of keys"},
      {"model.phases", "3", "did you mean model.n_phases?"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    refuses(rows[i][0], rows[i][1], rows[i][2]);
}
END_TEST

START_TEST(a_copy_has_its_own_lists) {
  tpti_spec copy;
  sets("model.dc.profile", "[3, 2, 1]");
  sets("model.rotation.schedule", "[0.5]");
  ck_assert_int_eq(tpti_spec_copy(&spec, &copy), TPT_OK);
  ck_assert_ptr_ne(copy.model.dc_values, spec.model.dc_values);
  sets("model.dc.profile", "horn");
  has(&copy, "model.dc.profile", "[3, 2, 1]");
  has(&copy, "model.rotation.schedule", "[0.5]");
  tpti_spec_free(&copy);
  ck_assert_ptr_null(copy.model.dc_values);
}
END_TEST

START_TEST(a_missing_key_has_no_value) {
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  ck_assert_int_eq(tpti_spec_get(&spec, "model.n_fases", &text), TPT_E_CONFIG);
  ck_assert_uint_eq(text.used, 0);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("spec");
  TCase *c = tcase_create("one key at a time");
  tcase_add_checked_fixture(c, begin, end);
  tcase_add_test(c, the_defaults_are_the_papers_small_model);
  tcase_add_test(c, every_preset_is_right_in_itself);
  tcase_add_test(c, presets_carry_the_papers_settings);
  tcase_add_test(c, an_unknown_preset_is_answered_with_all);
  tcase_add_test(c, what_was_not_given_follows);
  tcase_add_test(c, values_are_yaml);
  tcase_add_test(c, a_wrong_value_changes_nothing);
  tcase_add_test(c, a_copy_has_its_own_lists);
  tcase_add_test(c, a_missing_key_has_no_value);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
