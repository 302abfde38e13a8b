/* One value: what is allowed, in words, and when two are the same. */
#include <stdio.h>
#include <string.h>

#include "spec/keys.h"
#include "support/runner.h"

static void allows(const char *key, const char *expected) {
  char text[TPTI_KEY_TEXT];
  ck_assert_str_eq(tpti_key_allowed(tpti_key_find(key), text), expected);
}

START_TEST(what_is_allowed_is_said_in_words) {
  allows("model.n_phases", "an integer from 1 to 4096");
  allows("train.seed", "an integer from 0 to 18446744073709551615");
  allows("train.ignore_index", "an integer from -2147483648 to 2147483647");
  allows("train.lr_floor", "a number from 0 to 1");
  allows("train.beta1", "a number from 0 to below 1");
  allows("model.dc.tau", "a number above 0 and up to 1.0e+30");
  allows("model.attention.phase_aligned", "true or false");
  allows("model.rotation.mode", "one of replace, residual, none");
  allows("model.rotation.schedule", "one of linear, constant, u_shaped, or a list of numbers,");
}
END_TEST

/* The longest text fits: nothing of it was cut. */
START_TEST(every_allowed_text_fits) {
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    char text[TPTI_KEY_TEXT];
    ck_assert_uint_lt(strlen(tpti_key_allowed(&tpti_keys[i], text)), TPTI_KEY_TEXT - 1);
  }
}
END_TEST

/* A second value of each key differs from its default, and comes back from its text. */
START_TEST(every_key_is_stored_printed_and_compared) {
  static const char *const others[TPTI_KEYS] = {
      "20",    "48",     "7",         "12",     "1",        "33",    "2",    "9",
      "500.5", "1e-5",   "false",     "sqrt_d", "learned",  "0.125", "none", "u_shaped",
      "5",     "6",      "8",         "11",     "10",       "0.5",   "0",    "1e-3",
      "0.25",  "0.0625", "1e-7",      "1",      "matrices", "0.1",   "-100", "0.01",
      "bf16",  "block",  "123456789", "0",      "77"};
  tpti_spec defaults;
  tpti_spec_init(&defaults);
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const tpti_key *key = &tpti_keys[i];
    tpti_spec spec;
    tpti_buffer text;
    tpti_spec_init(&spec);
    ck_assert(tpti_key_equal(&spec, &defaults, key));
    ck_assert_msg(tpti_spec_set(&spec, key->name, others[i]) == TPT_OK, "%s", tpti_error_text());
    ck_assert_msg(!tpti_key_equal(&spec, &defaults, key), "%s", key->name);
    tpti_buffer_init(&text, &tpti_memory_default);
    ck_assert(tpti_key_print(&spec, key, &text));
    tpti_buffer_append(&text, "", 1);
    ck_assert_int_eq(tpti_spec_set(&defaults, key->name, text.data), TPT_OK);
    ck_assert_msg(tpti_key_equal(&spec, &defaults, key), "%s: %s", key->name, text.data);
    ck_assert_uint_eq(spec.given, tpti_key_bit(key));
    tpti_buffer_free(&text);
    tpti_spec_init(&defaults);
  }
}
END_TEST

START_TEST(lists_are_compared_number_by_number) {
  const tpti_key *key = tpti_key_find("model.dc.profile");
  static const char *const lists[] = {"[1, 2]", "[1, 3]", "[1, 2, 3]", "horn"};
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++) {
      tpti_spec a, b;
      tpti_spec_init(&a);
      tpti_spec_init(&b);
      ck_assert_int_eq(tpti_spec_set(&a, key->name, lists[i]), TPT_OK);
      ck_assert_int_eq(tpti_spec_set(&b, key->name, lists[j]), TPT_OK);
      ck_assert_int_eq(tpti_key_equal(&a, &b, key), i == j);
      tpti_spec_free(&a);
      tpti_spec_free(&b);
    }
}
END_TEST

/* Every bound: it is allowed itself, and what lies beyond it is not. */
START_TEST(integers_are_held_to_their_bounds) {
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const tpti_key *key = &tpti_keys[i];
    if (key->type != TPTI_KEY_SIZE && key->type != TPTI_KEY_UINT64) continue;
    tpti_spec spec;
    char text[32];
    tpti_spec_init(&spec);
    for (int beyond = 0; beyond < 2; beyond++) {
      if (key->most == UINT64_MAX && beyond) continue;
      snprintf(text, sizeof text, "%llu", (unsigned long long)key->most + (unsigned)beyond);
      ck_assert_int_eq(tpti_spec_set(&spec, key->name, text), beyond ? TPT_E_CONFIG : TPT_OK);
      if (key->least == 0 && beyond) continue;
      snprintf(text, sizeof text, "%llu", (unsigned long long)key->least - (unsigned)beyond);
      ck_assert_int_eq(tpti_spec_set(&spec, key->name, text), beyond ? TPT_E_CONFIG : TPT_OK);
    }
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("value");
  TCase *c = tcase_create("one value");
  tcase_add_test(c, what_is_allowed_is_said_in_words);
  tcase_add_test(c, every_allowed_text_fits);
  tcase_add_test(c, every_key_is_stored_printed_and_compared);
  tcase_add_test(c, lists_are_compared_number_by_number);
  tcase_add_test(c, integers_are_held_to_their_bounds);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
