/* The global norm and its clipping factor. */
#include "train/clip.h"

#include <math.h>
#include <stdlib.h>

#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"

enum { COUNT = 3 * TPTI_FLAT_BLOCK + 17 };

static double norm_with(int32_t threads, const float *values, size_t count) {
  double partial[4];
  tpti_run *run = tpti_test_run(threads);
  double norm = tpti_global_norm(run, values, count, partial);
  tpti_test_run_free(run);
  return norm;
}

START_TEST(norm_is_that_of_the_sum) {
  float *values = malloc(COUNT * sizeof *values);
  ck_assert_ptr_nonnull(values);
  tpti_test_fill(values, COUNT, 5);
  double sum = 0.0;
  for (size_t i = 0; i < COUNT; i++) sum += (double)values[i] * (double)values[i];
  double norm = norm_with(1, values, COUNT);
  ck_assert_double_eq_tol(norm, sqrt(sum), 1e-12 * norm);
  ck_assert(norm_with(2, values, COUNT) == norm);
  ck_assert(norm_with(7, values, COUNT) == norm);
  free(values);
}
END_TEST

START_TEST(large_values_do_not_overflow) {
  const float values[3] = {3e38f, -3e38f, 1.0f};
  ck_assert_double_eq_tol(norm_with(1, values, 3), sqrt(2.0) * 3e38, 1e32);
}
END_TEST

START_TEST(what_is_not_finite_shows) {
  float values[40] = {0};
  values[33] = NAN;
  ck_assert(!isfinite(norm_with(1, values, 40)));
  values[33] = -INFINITY;
  ck_assert(!isfinite(norm_with(1, values, 40)));
}
END_TEST

START_TEST(factor_only_shrinks) {
  ck_assert_double_eq(tpti_clip_factor(0.5, 1.0), 1.0);
  ck_assert_double_eq(tpti_clip_factor(0.0, 1.0), 1.0);
  ck_assert_double_eq_tol(tpti_clip_factor(4.0, 1.0), 0.25, 1e-6);
  ck_assert_double_eq(tpti_clip_factor(1e9, 0.0), 1.0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("train clip");
  TCase *tests = tcase_create("clip");
  tcase_add_test(tests, norm_is_that_of_the_sum);
  tcase_add_test(tests, large_values_do_not_overflow);
  tcase_add_test(tests, what_is_not_finite_shows);
  tcase_add_test(tests, factor_only_shrinks);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
