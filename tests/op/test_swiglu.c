/* SwiGLU against its equation in float64. */
#include "op/swiglu.h"

#include "gradient.h"
#include "support/runner.h"

typedef struct shape {
  size_t M, F;
} shape;

static const shape shapes[] = {{1, 1},  {2, 2},  {3, 3},  {5, 5},   {7, 7},
                               {3, 17}, {2, 33}, {4, 65}, {65, 10}, {129, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void reference(double *act, const double *gate_up, const shape *s) {
  for (size_t i = 0; i < s->M * s->F; i++) {
    size_t at = i / s->F * 2 * s->F + i % s->F;
    act[i] = gate_up[at] / (1 + exp(-gate_up[at])) * gate_up[at + s->F];
  }
}

/* Gates to both ends of the sigmoid. */
static float *gates(arrays *a, size_t count) {
  float *values = filled(a, count, 1);
  for (size_t i = 0; i < count; i++) values[i] *= i % 3 == 0 ? 20.0f : 3.0f;
  return values;
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *gate_up = gates(&a, s->M * 2 * s->F), *act = poisoned(&a, s->M * s->F);
  double *want = zeros(&a, s->M * s->F);
  tpti_swiglu_forward(run, act, gate_up, s->M, s->F);
  reference(want, doubled(&a, gate_up, s->M * 2 * s->F), s);
  tpti_test_near(act, want, s->M * s->F, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(a_row_alone_has_the_same_bits) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *gate_up = gates(&a, s->M * 2 * s->F), *act = poisoned(&a, s->M * s->F);
  float *alone = poisoned(&a, s->F);
  tpti_swiglu_forward(run, act, gate_up, s->M, s->F);
  for (size_t m = 0; m < s->M; m++) {
    tpti_swiglu_forward(run, alone, gate_up + m * 2 * s->F, 1, s->F);
    same_bits(alone, (act + m * s->F), s->F);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* silu(-1000) is -0, silu(1000) is 1000; no overflow of exp may turn either into NaN. */
START_TEST(extreme_gates) {
  enum { F = 20 };
  const float extremes[] = {-1e4f, -1000, -90, -88, 0, 88, 90, 1000, 1e4f};
  tpti_run *run = tpti_test_run(1);
  float gate_up[2 * F], act[F], again[F], dact[F], gradient[2 * F];
  for (size_t f = 0; f < F; f++) {
    gate_up[f] = extremes[f % 9];
    gate_up[F + f] = dact[f] = 1;
  }
  tpti_swiglu_forward(run, act, gate_up, 1, F);
  tpti_swiglu_backward(run, gradient, again, dact, gate_up, 1, F);
  for (size_t f = 0; f < F; f++) {
    double x = (double)gate_up[f], s = 1 / (1 + exp(-x));
    ck_assert_double_eq_tol((double)act[f], x * s, 1e-6 * fabs(x * s) + 1e-30);
    ck_assert_double_eq_tol((double)again[f], x * s, 1e-6 * fabs(x * s) + 1e-30);
    ck_assert_double_eq_tol((double)gradient[F + f], x * s, 1e-6 * fabs(x * s) + 1e-30);
    ck_assert_double_eq_tol((double)gradient[f], s * (1 + x * (1 - s)), 1e-6);
  }
  gate_up[7] = NAN;
  tpti_swiglu_forward(run, act, gate_up, 1, F);
  ck_assert_float_nan(act[7]);
  ck_assert_float_eq(act[6], 90);
  tpti_test_run_free(run);
}
END_TEST

typedef struct problem {
  const double *gate_up;
  double *act;
  const float *dact;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  reference(p->act, p->gate_up, p->s);
  return weighted(p->dact, p->act, p->s->M * p->s->F);
}

/* Its outputs are overwritten, and may take the places of gate_up and dact. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->M * 2 * s->F;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *gate_up = gates(&a, count), *dact = filled(&a, s->M * s->F, 3);
  float *gradient = poisoned(&a, count), *act = poisoned(&a, s->M * s->F);
  double *x = doubled(&a, gate_up, count), *want = zeros(&a, count);
  problem p = {x, zeros(&a, s->M * s->F), dact, s};
  numeric_gradient(want, x, count, loss_of, &p);
  tpti_swiglu_backward(run, gradient, act, dact, gate_up, s->M, s->F);
  tpti_test_near(gradient, want, count, near_backward);
  tpti_swiglu_backward(run, gate_up, dact, dact, gate_up, s->M, s->F);
  same_bits(gate_up, gradient, count);
  same_bits(dact, act, s->M * s->F);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(backward_gives_the_output_too) {
  const shape *s = &shapes[_i];
  size_t count = s->M * 2 * s->F;
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *gate_up = gates(&a, count), *dact = filled(&a, s->M * s->F, 3);
  float *gradient = poisoned(&a, count), *act = poisoned(&a, s->M * s->F);
  double *want = zeros(&a, s->M * s->F);
  reference(want, doubled(&a, gate_up, count), s);
  tpti_swiglu_backward(run, gradient, act, dact, gate_up, s->M, s->F);
  tpti_test_near(act, want, s->M * s->F, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  enum { M = 333, F = 21 };
  arrays a = {0};
  float *gate_up = gates(&a, M * 2 * F), *dact = filled(&a, M * F, 2);
  float *forward = NULL, *output = NULL, *backward = NULL;
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *act = poisoned(&a, M * F), *again = poisoned(&a, M * F);
    float *gradient = poisoned(&a, M * 2 * F);
    tpti_swiglu_forward(run, act, gate_up, M, F);
    tpti_swiglu_backward(run, gradient, again, dact, gate_up, M, F);
    if (!forward) forward = act, output = again, backward = gradient;
    same_bits(act, forward, M * F);
    same_bits(again, output, M * F);
    same_bits(gradient, backward, M * 2 * F);
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("swiglu");
  TCase *c = tcase_create("swiglu");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_loop_test(c, a_row_alone_has_the_same_bits, 0, SHAPES);
  tcase_add_test(c, extreme_gates);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_loop_test(c, backward_gives_the_output_too, 0, SHAPES);
  tcase_add_test(c, threads_do_not_change_bits);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
