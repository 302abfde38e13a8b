/* The zero-sum penalty against its equation in float64. */
#include "op/zero_sum.h"

#include "gradient.h"
#include "support/runner.h"

typedef struct shape {
  size_t M, D, N;
} shape;

static const shape shapes[] = {{1, 2, 1},   {2, 6, 3},   {3, 10, 1}, {5, 14, 7},  {7, 34, 1},
                               {17, 66, 3}, {33, 30, 5}, {65, 4, 2}, {129, 6, 1}, {3, 192, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* As the paper says it: by the phases' means. */
static double reference(double *sums, const double *x, const shape *s) {
  size_t P = s->D / s->N;
  double penalty = 0;
  for (size_t m = 0; m < s->M; m++) {
    sums[m] = 0;
    for (size_t i = 0; i < s->N; i++) {
      double mean = 0;
      for (size_t c = 0; c < P; c++) mean += x[m * s->D + i * P + c] / (double)P;
      sums[m] += mean;
    }
    penalty += sums[m] * sums[m];
  }
  return penalty / (double)s->M;
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *x = filled(&a, s->M * s->D, 1), *sums = poisoned(&a, s->M);
  double *want = zeros(&a, s->M);
  double penalty = tpti_zero_sum_forward(run, sums, x, s->M, s->D, s->N);
  double expected = reference(want, doubled(&a, x, s->M * s->D), s);
  ck_assert_double_eq_tol(penalty, expected, 2e-7 * expected);
  tpti_test_near(sums, want, s->M, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(zero_mean_rows_cost_nothing) {
  tpti_run *run = tpti_test_run(1);
  const float x[12] = {1, -1, 2, -2, 3, -3, 5, 5, -4, -4, -1, -1};
  float sums[2];
  ck_assert_double_eq(tpti_zero_sum_forward(run, sums, x, 2, 6, 3), 0);
  ck_assert_float_eq(sums[0], 0);
  ck_assert_float_eq(sums[1], 0);
  tpti_test_run_free(run);
}
END_TEST

typedef struct problem {
  const double *x;
  double *sums;
  double coef;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  return p->coef * reference(p->sums, p->x, p->s);
}

/* dx adds to what was there. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->M * s->D;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *x = filled(&a, count, 1), *sums = poisoned(&a, s->M), *dx = filled(&a, count, 2);
  for (size_t i = 0; i < count; i++) dx[i] *= 0.01f; /* no larger than what is added */
  double *x64 = doubled(&a, x, count), *want = doubled(&a, dx, count);
  problem p = {x64, zeros(&a, s->M), 0.75, s};
  numeric_gradient(want, x64, count, loss_of, &p);
  tpti_zero_sum_forward(run, sums, x, s->M, s->D, s->N);
  tpti_zero_sum_backward(run, dx, sums, 0.75f, s->M, s->D, s->N);
  tpti_test_near(dx, want, count, near_backward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  enum { M = 333, D = 42, N = 3 };
  arrays a = {0};
  float *x = filled(&a, M * D, 1), *sums0 = NULL, *dx0 = NULL;
  double penalty0 = 0;
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *sums = poisoned(&a, M), *dx = filled(&a, M * D, 2);
    double penalty = tpti_zero_sum_forward(run, sums, x, M, D, N);
    tpti_zero_sum_backward(run, dx, sums, 0.5f, M, D, N);
    if (!sums0) sums0 = sums, dx0 = dx, penalty0 = penalty;
    same_bits(sums, sums0, M);
    same_bits(dx, dx0, M * D);
    ck_assert_double_eq(penalty, penalty0);
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("zero_sum");
  TCase *c = tcase_create("zero_sum");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_test(c, zero_mean_rows_cost_nothing);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_test(c, threads_do_not_change_bits);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
