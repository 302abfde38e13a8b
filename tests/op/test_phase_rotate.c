/* The phase rotation against its equation in float64. */
#include "op/phase_rotate.h"

#include "gradient.h"
#include "support/runner.h"

typedef struct shape {
  size_t M, D, N;
  bool residual;
} shape;

static const shape shapes[] = {{1, 2, 1, false},   {2, 6, 3, false},   {3, 10, 1, true},
                               {5, 14, 1, false},  {7, 34, 1, false},  {17, 66, 1, true},
                               {33, 30, 3, false}, {65, 18, 3, true},  {5, 198, 3, false},
                               {3, 170, 5, true},  {7, 4, 2, false},   {2, 96, 3, true},
                               {3, 192, 3, false}, {129, 8, 4, false}, {4, 8, 4, true}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void reference(double *out, const double *h, const double *theta, const shape *s) {
  size_t pairs = s->D / s->N / 2;
  for (size_t i = 0; i < s->N * pairs; i++) {
    double a = theta[i % pairs] + 8 * atan(1) * (double)(i / pairs) / (double)s->N;
    double cosine = cos(a), sine = sin(a);
    for (size_t at = 2 * i; at < s->M * s->D; at += s->D) {
      out[at] = h[at] * cosine - h[at + 1] * sine + (s->residual ? h[at] : 0);
      out[at + 1] = h[at] * sine + h[at + 1] * cosine + (s->residual ? h[at + 1] : 0);
    }
  }
}

/* theta of every layer and beyond: uniform in [-1, 1) times 4. */
static float *angles(arrays *a, size_t count) {
  float *theta = filled(a, count, 9);
  for (size_t i = 0; i < count; i++) theta[i] *= 4;
  return theta;
}

START_TEST(table_is_rounded_once) {
  enum { N = 3, D = 66, P = D / N };
  arrays a = {0};
  float *theta = angles(&a, P / 2), cosine[D / 2], sine[D / 2];
  tpti_phase_rotate_table(cosine, sine, theta, D, N);
  for (size_t i = 0; i < D / 2; i++) {
    double angle = (double)theta[i % (P / 2)] + 8 * atan(1) * (double)(i / (P / 2)) / N;
    ck_assert_double_eq_tol((double)cosine[i], cos(angle), 3.1e-8);
    ck_assert_double_eq_tol((double)sine[i], sin(angle), 3.1e-8);
  }
  arrays_free(&a);
}
END_TEST

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  size_t count = s->M * s->D, pairs = s->D / s->N / 2;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, count, 1), *theta = angles(&a, pairs), *out = poisoned(&a, count);
  float *cosine = poisoned(&a, s->D / 2), *sine = poisoned(&a, s->D / 2);
  double *want = zeros(&a, count);
  tpti_phase_rotate_table(cosine, sine, theta, s->D, s->N);
  tpti_phase_rotate_forward(run, out, h, cosine, sine, s->residual, s->M, s->D);
  reference(want, doubled(&a, h, count), doubled(&a, theta, pairs), s);
  tpti_test_near(out, want, count, near_forward);
  tpti_phase_rotate_forward(run, h, h, cosine, sine, s->residual, s->M, s->D);
  same_bits(h, out, count);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(a_row_alone_has_the_same_bits) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *h = filled(&a, s->M * s->D, 1), *out = poisoned(&a, s->M * s->D);
  float *cosine = filled(&a, s->D / 2, 2), *sine = filled(&a, s->D / 2, 3);
  float *alone = poisoned(&a, s->D);
  tpti_phase_rotate_forward(run, out, h, cosine, sine, s->residual, s->M, s->D);
  for (size_t m = 0; m < s->M; m++) {
    tpti_phase_rotate_forward(run, alone, h + m * s->D, cosine, sine, s->residual, 1, s->D);
    same_bits(alone, (out + m * s->D), s->D);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* A fact of the geometry that the library must show. */
START_TEST(replace_keeps_the_norm_of_every_phase) {
  enum { M = 5, N = 3, P = 34, D = N * P };
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, M * D, 1), *theta = angles(&a, P / 2), *out = poisoned(&a, M * D);
  float *cosine = poisoned(&a, D / 2), *sine = poisoned(&a, D / 2);
  tpti_phase_rotate_table(cosine, sine, theta, D, N);
  tpti_phase_rotate_forward(run, out, h, cosine, sine, false, M, D);
  for (size_t i = 0; i < M * N; i++) {
    double before = 0, after = 0;
    for (size_t c = 0; c < P; c++) {
      before += pow((double)h[i * P + c], 2);
      after += pow((double)out[i * P + c], 2);
    }
    ck_assert_double_eq_tol(after, before, 1e-6 * before);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

typedef struct problem {
  const double *h, *theta;
  double *out;
  const float *dout;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  reference(p->out, p->h, p->theta, p->s);
  return weighted(p->dout, p->out, p->s->M * p->s->D);
}

/* dh is overwritten, dtheta adds; dh may be dout. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->M * s->D, pairs = s->D / s->N / 2;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *h = filled(&a, count, 1), *theta = angles(&a, pairs), *dout = filled(&a, count, 5);
  float *cosine = poisoned(&a, s->D / 2), *sine = poisoned(&a, s->D / 2);
  float *dh = poisoned(&a, count), *dtheta = filled(&a, pairs, 6);
  float *partial = poisoned(&a, tpti_row_blocks(s->M) * s->D / 2);
  double *h64 = doubled(&a, h, count), *theta64 = doubled(&a, theta, pairs);
  double *want_h = zeros(&a, count), *want_theta = doubled(&a, dtheta, pairs);
  problem p = {h64, theta64, zeros(&a, count), dout, s};
  numeric_gradient(want_h, h64, count, loss_of, &p);
  numeric_gradient(want_theta, theta64, pairs, loss_of, &p);
  tpti_phase_rotate_table(cosine, sine, theta, s->D, s->N);
  tpti_phase_rotate_backward(run, dh, partial, dout, h, cosine, sine, s->residual, s->M, s->D);
  tpti_phase_rotate_backward_theta(dtheta, partial, s->M, s->D, s->N);
  tpti_test_near(dh, want_h, count, near_backward);
  tpti_test_near(dtheta, want_theta, pairs, near_backward);
  float *again = filled(&a, pairs, 6), *in_place = copied(&a, dout, count);
  tpti_phase_rotate_backward(run, in_place, partial, in_place, h, cosine, sine, s->residual, s->M,
                             s->D);
  tpti_phase_rotate_backward_theta(again, partial, s->M, s->D, s->N);
  same_bits(in_place, dh, count);
  same_bits(again, dtheta, pairs);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  enum { M = 333, D = 42, N = 3 };
  arrays a = {0};
  float *h = filled(&a, M * D, 1), *dout = filled(&a, M * D, 3);
  float *cosine = filled(&a, D / 2, 4), *sine = filled(&a, D / 2, 5);
  float *first[3] = {0};
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *out = poisoned(&a, M * D), *dh = poisoned(&a, M * D);
    float *dtheta = filled(&a, D / N / 2, 6);
    tpti_phase_rotate_forward(run, out, h, cosine, sine, _i == 1, M, D);
    float *partial = poisoned(&a, tpti_row_blocks(M) * D / 2);
    tpti_phase_rotate_backward(run, dh, partial, dout, h, cosine, sine, _i == 1, M, D);
    tpti_phase_rotate_backward_theta(dtheta, partial, M, D, N);
    float *now[3] = {out, dh, dtheta};
    const size_t counts[3] = {M * D, M * D, D / N / 2};
    for (size_t i = 0; i < 3; i++) {
      if (t == 0) first[i] = now[i];
      same_bits(now[i], first[i], counts[i]);
    }
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("phase_rotate");
  TCase *c = tcase_create("phase_rotate");
  tcase_add_test(c, table_is_rounded_once);
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_loop_test(c, a_row_alone_has_the_same_bits, 0, SHAPES);
  tcase_add_test(c, replace_keeps_the_norm_of_every_phase);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_loop_test(c, threads_do_not_change_bits, 0, 2);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
