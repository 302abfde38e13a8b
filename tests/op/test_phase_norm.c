/* PhaseNorm against its equation in float64. */
#include "op/phase_norm.h"

#include "gradient.h"
#include "support/runner.h"

static const float eps = 1e-6f;

typedef struct shape {
  size_t M, D, N;
} shape;

static const shape shapes[] = {{1, 2, 1},   {2, 6, 3},   {3, 10, 1},  {5, 14, 1},  {7, 34, 1},
                               {17, 66, 1}, {33, 30, 3}, {65, 42, 3}, {5, 198, 3}, {3, 170, 5},
                               {7, 4, 2},   {2, 96, 3},  {3, 192, 3}, {129, 24, 4}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void reference(double *n, const double *h, const double *gain, const shape *s) {
  size_t P = s->D / s->N;
  for (size_t i = 0; i < s->M * s->N; i++) {
    double squares = 0;
    for (size_t c = 0; c < P; c++) squares += h[i * P + c] * h[i * P + c];
    double r = 1 / sqrt(squares / (double)P + (double)eps);
    for (size_t c = 0; c < P; c++) n[i * P + c] = h[i * P + c] * r * gain[i % s->N * P + c];
  }
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, s->M * s->D, 1), *gain = filled(&a, s->D, 2);
  float *n = poisoned(&a, s->M * s->D), *rstd = poisoned(&a, s->M * s->N);
  double *want = zeros(&a, s->M * s->D), *roots = zeros(&a, s->M * s->N);
  tpti_phase_norm_forward(run, n, rstd, h, gain, eps, s->M, s->D, s->N);
  reference(want, doubled(&a, h, s->M * s->D), doubled(&a, gain, s->D), s);
  tpti_test_near(n, want, s->M * s->D, near_forward);
  size_t P = s->D / s->N;
  for (size_t i = 0; i < s->M * s->N; i++) {
    for (size_t c = 0; c < P; c++) roots[i] += pow((double)h[i * P + c], 2) / (double)P;
    roots[i] = 1 / sqrt(roots[i] + (double)eps);
  }
  tpti_test_near(rstd, roots, s->M * s->N, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(in_place_and_without_rstd_are_the_same) {
  const shape *s = &shapes[_i];
  size_t count = s->M * s->D;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, count, 1), *gain = filled(&a, s->D, 2), *n = poisoned(&a, count);
  tpti_phase_norm_forward(run, n, poisoned(&a, s->M * s->N), h, gain, eps, s->M, s->D, s->N);
  tpti_phase_norm_forward(run, h, NULL, h, gain, eps, s->M, s->D, s->N);
  same_bits(h, n, count);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* Decoding feeds one row where training feeds many. */
START_TEST(a_row_alone_has_the_same_bits) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *h = filled(&a, s->M * s->D, 3), *gain = filled(&a, s->D, 4);
  float *n = poisoned(&a, s->M * s->D), *alone = poisoned(&a, s->D);
  tpti_phase_norm_forward(run, n, NULL, h, gain, eps, s->M, s->D, s->N);
  for (size_t m = 0; m < s->M; m++) {
    tpti_phase_norm_forward(run, alone, NULL, h + m * s->D, gain, eps, 1, s->D, s->N);
    same_bits(alone, (n + m * s->D), s->D);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(a_row_of_zeros_stays_finite) {
  tpti_run *run = tpti_test_run(1);
  float h[6] = {0}, gain[6] = {1, 1, 1, 1, 1, 1}, n[6], rstd[3];
  tpti_phase_norm_forward(run, n, rstd, h, gain, eps, 1, 6, 3);
  for (size_t i = 0; i < 6; i++) ck_assert_float_eq(n[i], 0);
  for (size_t i = 0; i < 3; i++) ck_assert_float_eq_tol(rstd[i], 1000, 1e-3f);
  tpti_test_run_free(run);
}
END_TEST

typedef struct problem {
  const double *h, *gain;
  double *n;
  const float *dn;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  reference(p->n, p->h, p->gain, p->s);
  return weighted(p->dn, p->n, p->s->M * p->s->D);
}

/* Both outputs add to what was there. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->M * s->D;
  if (count > 1600) return; /* the numeric gradient takes count^2 */
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, count, 1), *gain = filled(&a, s->D, 2), *dn = filled(&a, count, 5);
  float *n = poisoned(&a, count), *rstd = poisoned(&a, s->M * s->N);
  float *dh = filled(&a, count, 6), *dgain = filled(&a, s->D, 7);
  double *h64 = doubled(&a, h, count), *gain64 = doubled(&a, gain, s->D);
  double *want_h = doubled(&a, dh, count), *want_gain = doubled(&a, dgain, s->D);
  tpti_phase_norm_forward(run, n, rstd, h, gain, eps, s->M, s->D, s->N);
  float *partial = poisoned(&a, tpti_row_blocks(s->M) * s->D);
  tpti_phase_norm_backward(run, dh, partial, dn, h, rstd, gain, s->M, s->D, s->N);
  tpti_phase_norm_backward_gain(dgain, partial, s->M, s->D);
  problem p = {h64, gain64, zeros(&a, count), dn, s};
  numeric_gradient(want_h, h64, count, loss_of, &p);
  numeric_gradient(want_gain, gain64, s->D, loss_of, &p);
  tpti_test_near(dh, want_h, count, near_backward);
  tpti_test_near(dgain, want_gain, s->D, near_backward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  enum { M = 333, D = 42, N = 3 };
  arrays a = {0};
  float *h = filled(&a, M * D, 1), *gain = filled(&a, D, 2), *dn = filled(&a, M * D, 3);
  float *first[4] = {0};
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *n = poisoned(&a, M * D), *rstd = poisoned(&a, M * N);
    float *dh = filled(&a, M * D, 4), *dgain = filled(&a, D, 5);
    tpti_phase_norm_forward(run, n, rstd, h, gain, eps, M, D, N);
    float *partial = poisoned(&a, tpti_row_blocks(M) * D);
    tpti_phase_norm_backward(run, dh, partial, dn, h, rstd, gain, M, D, N);
    tpti_phase_norm_backward_gain(dgain, partial, M, D);
    float *now[4] = {n, rstd, dh, dgain};
    const size_t counts[4] = {M * D, M * N, M * D, D};
    for (size_t i = 0; i < 4; i++) {
      if (t == 0) first[i] = now[i];
      same_bits(now[i], first[i], counts[i]);
    }
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("phase_norm");
  TCase *c = tcase_create("phase_norm");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_loop_test(c, in_place_and_without_rstd_are_the_same, 0, SHAPES);
  tcase_add_loop_test(c, a_row_alone_has_the_same_bits, 0, SHAPES);
  tcase_add_test(c, a_row_of_zeros_stays_finite);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_test(c, threads_do_not_change_bits);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
