/* A wrong name is answered with what may have been meant. */
#include <string.h>

#include "spec/keys.h"
#include "support/runner.h"

static void suggests(const char *name, size_t line, const char *message) {
  ck_assert_int_eq(tpti_key_unknown(name, line), TPT_E_CONFIG);
  ck_assert_str_eq(tpti_error_text(), message);
}

START_TEST(an_unknown_key_is_answered_with_the_nearest) {
  suggests("model.n_phase", 7,
           "line 7: unknown key \"model.n_phase\"; did you mean model.n_phases?");
  suggests("modle", 1, "line 1: unknown key \"modle\"; did you mean model?");
  suggests("model.batch", 0, "unknown key \"model.batch\"; did you mean train.batch?");
  suggests("n_phases", 2, "line 2: unknown key \"n_phases\"; did you mean model.n_phases?");
  suggests("model.dcc", 2, "line 2: unknown key \"model.dcc\"; did you mean model.dc?");
  suggests("train.beta3", 0, "unknown key \"train.beta3\"; did you mean train.beta1?");
}
END_TEST

START_TEST(a_far_key_is_answered_without_a_guess) {
  char longest[2001];
  memset(longest, 'a', 2000);
  longest[2000] = '\0';
  suggests("optimizer", 3, "line 3: unknown key \"optimizer\"; model and train are allowed here");
  suggests("train.xy", 0, "unknown key \"train.xy\"; 3pt.yaml(5) lists the keys");
  suggests("", 0, "unknown key \"\"; model and train are allowed here");
  suggests("model.dc", 4,
           "line 4: model.dc is a section of keys, not a key: it holds KEY: VALUE, a line each");
  suggests("model", 0, "model is a section of keys, not a key");
  ck_assert_int_eq(tpti_key_unknown(longest, 1), TPT_E_CONFIG);
  ck_assert_uint_lt(strlen(tpti_error_text()), 200);
}
END_TEST

START_TEST(sections_are_known) {
  ck_assert(tpti_key_is_section("model"));
  ck_assert(tpti_key_is_section("model.dc"));
  ck_assert(!tpti_key_is_section("model.d"));
  ck_assert(!tpti_key_is_section("model.d_model"));
  ck_assert(!tpti_key_is_section(""));
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("names");
  TCase *c = tcase_create("unknown keys");
  tcase_add_test(c, an_unknown_key_is_answered_with_the_nearest);
  tcase_add_test(c, a_far_key_is_answered_without_a_guess);
  tcase_add_test(c, sections_are_known);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
