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

START_TEST(all_values_are_exchanged) {
  size_t count = counts[_i];
  tpti_run *run = tpti_test_run(2);
  float *a = values_of(count, 2), *b = values_of(count, 3);
  float *was_a = values_of(count, 2), *was_b = values_of(count, 3);
  ck_assert_uint_eq(tpti_flat_exchange(run, a, b, count), count);
  ck_assert_uint_eq(tpti_test_first_difference(a, was_b, count), count);
  ck_assert_uint_eq(tpti_test_first_difference(b, was_a, count), count);
  ck_assert(a[count] == beside && b[count] == beside);
  free(a);
  free(b);
  free(was_a);
  free(was_b);
  tpti_test_run_free(run);
}
END_TEST

static int32_t stop_soon(void *user, const void *handle, double done) {
  (void)handle;
  (void)done;
  return ++*(int *)user == 2;
}

/* What is said to be exchanged is, and nothing after it: so a stop can be undone. */
START_TEST(a_stopped_exchange_says_how_far_it_came) {
  enum { BLOCKS = 200 };
  const size_t count = (size_t)BLOCKS * TPTI_FLAT_BLOCK;
  for (int32_t threads = 1; threads <= 2; threads++) {
    tpti_run *run = tpti_test_run(threads);
    int calls = 0;
    float *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b);
    ck_assert(a && b);
    for (size_t i = 0; i < count; i++) b[i] = 1;
    run->progress = stop_soon, run->progress_user = &calls; /* comes when 5 ms have gone by */
    run->last_tick = 0;
    size_t done = tpti_flat_exchange(run, a, b, count);
    ck_assert(done <= count && (done == count || done % TPTI_FLAT_BLOCK == 0));
    ck_assert(done == count || run->stopped);
    size_t right = 0;
    while (right < count && a[right] == (right < done) && b[right] == !(right < done)) right++;
    ck_assert_uint_eq(right, count);
    bool stopped = run->stopped; /* the second one may be stopped too, after its last block */
    size_t again = tpti_flat_exchange(run, a, b, count);
    ck_assert(stopped ? again == 0 : again == count || run->stopped);
    free(a);
    free(b);
    tpti_test_run_free(run);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("train/flat");
  TCase *c = tcase_create("flat");
  tcase_add_loop_test(c, all_values_are_cleared, 0, COUNTS);
  tcase_add_loop_test(c, all_values_are_exchanged, 0, COUNTS);
  tcase_add_test(c, a_stopped_exchange_says_how_far_it_came);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
