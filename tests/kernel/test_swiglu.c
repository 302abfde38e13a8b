/* Every variant of the SwiGLU kernels against the plain one. */
#include "kernel/swiglu.h"

#include "variants.h"

enum { LONGEST = 70 };

static void widen(float *gates, size_t F) {
  for (size_t f = 0; f < F; f++) gates[f] *= f % 4 == 0 ? 25.0f : 5.0f;
}

START_TEST(forward) {
  for (size_t F = 1; F <= LONGEST; F++) {
    guarded g = {0};
    float *gate_up = guarded_take(&g, 2 * F, 1), *act = guarded_take(&g, F, 2);
    float *want = guarded_take(&g, F, 3);
    widen(gate_up, F);
    tpti_swiglu_forward_plain(want, gate_up, F);
    variant((size_t)_i)->swiglu_forward(act, gate_up, F);
    same_values(act, want, F, 4e-7);
    guarded_end(&g);
  }
}
END_TEST

/* Its outputs may take the places of gate_up and dact. */
START_TEST(backward) {
  for (size_t F = 1; F <= LONGEST; F++) {
    guarded g = {0};
    float *gate_up = guarded_take(&g, 2 * F, 1), *dact = guarded_take(&g, F, 2);
    float *gradient = guarded_nan(&g, 2 * F), *act = guarded_nan(&g, F);
    float *want = guarded_nan(&g, 2 * F), *want_act = guarded_nan(&g, F);
    widen(gate_up, F);
    tpti_swiglu_backward_plain(want, want_act, dact, gate_up, F);
    variant((size_t)_i)->swiglu_backward(gradient, act, dact, gate_up, F);
    same_values(gradient, want, 2 * F, 1e-6);
    same_values(act, want_act, F, 4e-7);
    variant((size_t)_i)->swiglu_backward(gate_up, dact, dact, gate_up, F);
    ck_assert_uint_eq(tpti_test_first_difference(gate_up, gradient, 2 * F), 2 * F);
    ck_assert_uint_eq(tpti_test_first_difference(dact, act, F), F);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(backward_gives_the_output_too) {
  for (size_t F = 1; F <= LONGEST; F++) {
    guarded g = {0};
    float *gate_up = guarded_take(&g, 2 * F, 1), *dact = guarded_take(&g, F, 2);
    float *gradient = guarded_nan(&g, 2 * F), *act = guarded_nan(&g, F);
    float *again = guarded_nan(&g, F), *want = guarded_nan(&g, F);
    widen(gate_up, F);
    tpti_swiglu_forward_plain(want, gate_up, F);
    variant((size_t)_i)->swiglu_forward(act, gate_up, F);
    variant((size_t)_i)->swiglu_backward(gradient, again, dact, gate_up, F);
    same_values(again, want, F, 4e-7);
    ck_assert_uint_eq(tpti_test_first_difference(again, act, F), F);
    guarded_end(&g);
  }
}
END_TEST

/* Where exp overflows the sigmoid is 0, and nothing turns into NaN. */
START_TEST(extreme_gates) {
  enum { F = 37 };
  const float extremes[] = {-3e38f, -1000, -104, -89, -88, -1e-30f, 0, 1e-30f, 88, 89, 104, 3e38f};
  float gate_up[2 * F], act[F], again[F], want[F], gradient[2 * F], want_gradient[2 * F], ones[F];
  float want_again[F];
  for (size_t f = 0; f < F; f++) gate_up[f] = extremes[f % 12], gate_up[F + f] = ones[f] = 1;
  variant((size_t)_i)->swiglu_forward(act, gate_up, F);
  variant((size_t)_i)->swiglu_backward(gradient, again, ones, gate_up, F);
  tpti_swiglu_forward_plain(want, gate_up, F);
  tpti_swiglu_backward_plain(want_gradient, want_again, ones, gate_up, F);
  for (size_t f = 0; f < F; f++) {
    ck_assert_float_eq_tol(act[f], want[f], 1e-6f * fabsf(want[f]) + 1e-30f);
    ck_assert_float_eq(again[f], act[f]);
    ck_assert_float_eq_tol(want_again[f], want[f], 1e-6f * fabsf(want[f]) + 1e-30f);
    ck_assert_float_eq_tol(gradient[f], want_gradient[f], 1e-6f);
    ck_assert_float_eq_tol(gradient[F + f], want_gradient[F + f], 1e-6f * fabsf(want[f]) + 1e-30f);
  }
  gate_up[35] = NAN;
  variant((size_t)_i)->swiglu_forward(act, gate_up, F);
  ck_assert(isnan(act[35]) && !isnan(act[34]) && !isnan(act[36]));
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("swiglu");
  TCase *c = tcase_create("swiglu");
  tcase_add_loop_test(c, forward, 0, variant_count());
  tcase_add_loop_test(c, backward, 0, variant_count());
  tcase_add_loop_test(c, backward_gives_the_output_too, 0, variant_count());
  tcase_add_loop_test(c, extreme_gates, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
