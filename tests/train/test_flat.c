/* Passes over flat arrays: the same at every number of threads, and nothing beside the values. */
#include "train/flat.h"

#include <math.h>
#include <stdlib.h>

#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"

static const size_t counts[] = {1, 31, TPTI_FLAT_BLOCK - 1, TPTI_FLAT_BLOCK,
                                3 * (size_t)TPTI_FLAT_BLOCK + 7};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static const float beside = 12.5f;

static float *values_of(size_t count, uint64_t seed) {
  float *values = malloc((count + 1) * sizeof *values);
  ck_assert_ptr_nonnull(values);
  tpti_test_fill(values, count, seed);
  values[count] = beside;
  return values;
}

START_TEST(all_values_are_cleared) {
  size_t count = counts[_i];
  tpti_run *run = tpti_test_run(2);
  float *values = values_of(count, 1);
  tpti_flat_clear(run, values, count);
  for (size_t i = 0; i < count; i++) ck_assert(values[i] == 0 && !signbit(values[i]));
  ck_assert_float_eq(values[count], beside);
  free(values);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(all_values_are_copied) {
  size_t count = counts[_i];
  tpti_run *run = tpti_test_run(2);
  float *from = values_of(count, 2), *to = values_of(count, 3), *want = values_of(count, 2);
  tpti_flat_copy(run, to, from, count);
  ck_assert_uint_eq(tpti_test_first_difference(to, want, count), count);
  ck_assert_uint_eq(tpti_test_first_difference(from, want, count), count);
  ck_assert_float_eq(to[count], beside);
  free(from);
  free(to);
  free(want);
  tpti_test_run_free(run);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("train/flat");
  TCase *c = tcase_create("flat");
  tcase_add_loop_test(c, all_values_are_cleared, 0, COUNTS);
  tcase_add_loop_test(c, all_values_are_copied, 0, COUNTS);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
