/* The learning-rate schedule against its equation. */
#include "train/schedule.h"

#include <math.h>

#include "support/runner.h"

static const tpti_recipe recipe = {.steps = 100, .warmup = 20, .lr_floor = 0.1};

START_TEST(warm_up_is_linear_from_zero) {
  ck_assert_double_eq(tpti_schedule_share(&recipe, 0), 0.0);
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 5), 0.25, 1e-15);
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 19), 0.95, 1e-15);
}
END_TEST

START_TEST(cosine_to_the_floor) {
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 20), 1.0, 1e-15);
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 60), 0.55, 1e-15);
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 100), 0.1, 1e-15);
}
END_TEST

START_TEST(stays_at_the_floor) {
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, 101), 0.1, 1e-15);
  ck_assert_double_eq_tol(tpti_schedule_share(&recipe, UINT64_MAX), 0.1, 1e-15);
}
END_TEST

START_TEST(no_warm_up) {
  const tpti_recipe none = {.steps = 10, .warmup = 0, .lr_floor = 0.0};
  ck_assert_double_eq_tol(tpti_schedule_share(&none, 0), 1.0, 1e-15);
  ck_assert_double_eq_tol(tpti_schedule_share(&none, 10), 0.0, 1e-15);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("train schedule");
  TCase *tests = tcase_create("schedule");
  tcase_add_test(tests, warm_up_is_linear_from_zero);
  tcase_add_test(tests, cosine_to_the_floor);
  tcase_add_test(tests, stays_at_the_floor);
  tcase_add_test(tests, no_warm_up);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
