/* The tests' own tools, which nothing else would find out: a guard that sees nothing guards
 * nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/compare.h"
#include "support/folder.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/runner.h"

START_TEST(allocator_counts) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  void *one = tpti_take(&a.memory, 100), *two = tpti_take(&a.memory, 1);
  ck_assert(one != NULL && two != NULL);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 101);
  tpti_give(&a.memory, one, 100);
  tpti_give(&a.memory, two, 1);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  ck_assert_uint_eq(a.peak, 101);
  ck_assert_uint_eq(a.blocks, 0);
}
END_TEST

START_TEST(allocator_fails_on_demand) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 2);
  void *one = tpti_take(&a.memory, 8);
  ck_assert_ptr_nonnull(one);
  ck_assert_ptr_null(tpti_take(&a.memory, 8));
  ck_assert_ptr_null(tpti_take(&a.memory, 8));
  tpti_test_allocator_fail_at(&a, 0);
  void *two = tpti_take(&a.memory, 8);
  ck_assert_ptr_nonnull(two);
  tpti_give(&a.memory, one, 8);
  tpti_give(&a.memory, two, 8);
}
END_TEST

START_TEST(allocator_sees_misuse) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  char *block = a.memory.allocate(&a, 100, 64);
  ck_assert_ptr_nonnull(block);
  block[100] = 0;
  a.memory.release(&a, block, 100, 64);
  ck_assert_uint_eq(a.misuses, 1);
  block = a.memory.allocate(&a, 100, 64);
  a.memory.release(&a, block, 99, 64);
  ck_assert_uint_eq(a.misuses, 2);
}
END_TEST

START_TEST(errors_are_relative_to_the_norm) {
  const float got[] = {3, 4.5f};
  const double want[] = {3, 4}, zero[] = {0, 0};
  ck_assert_double_eq_tol(tpti_test_error(got, want, 2), 0.1, 1e-12);
  ck_assert_double_eq_tol(tpti_test_error(got, zero, 2), sqrt(9 + 20.25), 1e-12);
  const float bad[] = {3, NAN};
  ck_assert(isinf(tpti_test_error(bad, want, 2)));
  ck_assert_uint_eq(tpti_test_first_difference(got, bad, 2), 1);
}
END_TEST

START_TEST(random_input_is_in_range) {
  float values[1000];
  double sum = 0;
  tpti_test_fill(values, 1000, 3);
  for (size_t i = 0; i < 1000; i++) {
    ck_assert(values[i] >= -1 && values[i] < 1);
    sum += (double)values[i];
  }
  ck_assert_double_lt(fabs(sum), 60); /* three deviations: 3 sqrt(1000 / 3) = 55 */
  int32_t tokens[1000];
  tpti_test_tokens(tokens, 1000, 7, 3);
  for (size_t i = 0; i < 1000; i++) ck_assert(tokens[i] >= 0 && tokens[i] < 7);
}
END_TEST

START_TEST(every_golden_case_is_read) {
  size_t cases = 0;
  for (; tpti_golden_case(cases); cases++) {
    tpti_golden *g = tpti_golden_open(tpti_golden_case(cases));
    const tpti_golden_tensor *logits = tpti_golden_need(g, "out.logits");
    ck_assert_uint_eq(logits->ndim, 3);
    ck_assert_uint_eq(logits->shape[2], (size_t)tpti_golden_number(g, "vocab_size"));
    ck_assert_uint_eq(logits->count, logits->shape[0] * logits->shape[1] * logits->shape[2]);
    double loss = tpti_golden_need(g, "out.loss")->values[0];
    ck_assert(loss > 0 && loss < 10);
    ck_assert_ptr_null(tpti_golden_find(g, "nonsense"));
    ck_assert_ptr_nonnull(strstr(tpti_golden_yaml(g), "vocab_size"));
    tpti_golden_close(g);
  }
  ck_assert_uint_ge(cases, 8);
}
END_TEST

static void square(void *argument, size_t item, void *scratch) {
  ck_assert_ptr_nonnull(scratch);
  ((size_t *)argument)[item] = item * item;
}

START_TEST(runs_work) {
  size_t squares[50] = {0};
  tpti_run *run = tpti_test_run(2);
  tpti_parallel(run, 50, square, squares);
  for (size_t i = 0; i < 50; i++) ck_assert_uint_eq(squares[i], i * i);
  ck_assert_ptr_nonnull(run->kernels);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(folder_is_counted_and_removed) {
  static const char *const names[] = {"a", ".b", "..c"};
  char folder[] = "/tmp/3pt-test-XXXXXX", path[64];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  for (size_t i = 0; i < 3; i++) {
    ck_assert_uint_eq(tpti_test_entries(folder), i);
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    ck_assert_int_eq(fclose(fopen(path, "wb")), 0);
  }
  ck_assert_uint_eq(tpti_test_entries(folder), 3);
  tpti_test_remove_folder(folder);
  ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("support");
  TCase *c = tcase_create("support");
  tcase_add_test(c, allocator_counts);
  tcase_add_test(c, allocator_fails_on_demand);
  tcase_add_test(c, allocator_sees_misuse);
  tcase_add_test(c, errors_are_relative_to_the_norm);
  tcase_add_test(c, random_input_is_in_range);
  tcase_add_test(c, every_golden_case_is_read);
  tcase_add_test(c, runs_work);
  tcase_add_test(c, folder_is_counted_and_removed);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
