/* Every variant of the PhaseNorm kernels against the plain one. */
#include "kernel/norm.h"

#include "variants.h"

static const tpti_norm_shape shapes[] = {{1, 1, 1},  {2, 3, 2},  {3, 1, 7},  {1, 2, 8},  {2, 1, 15},
                                         {3, 3, 16}, {2, 1, 17}, {1, 5, 31}, {2, 2, 32}, {3, 1, 33},
                                         {2, 3, 64}, {1, 1, 65}, {1, 3, 85}, {64, 3, 10}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void compare_forward(const tpti_kernels *k, const tpti_norm_shape *s, int _i) {
  size_t D = s->N * s->P, count = s->rows * D;
  guarded g = {0};
  float *h = guarded_take(&g, count, 1), *gain = guarded_take(&g, D, 2);
  float *want = guarded_take(&g, count, 3), *roots = guarded_take(&g, s->rows * s->N, 3);
  float *n = guarded_take(&g, count, 4), *rstd = guarded_take(&g, s->rows * s->N, 4);
  tpti_norm_forward_plain(want, roots, h, gain, 1e-5f, s);
  k->norm_forward(n, rstd, h, gain, 1e-5f, s);
  same_values(n, want, count, 3e-7);
  same_values(rstd, roots, s->rows * s->N, 3e-7);
  k->norm_forward(h, NULL, h, gain, 1e-5f, s);
  ck_assert_uint_eq(tpti_test_first_difference(h, n, count), count);
  guarded_end(&g);
}

START_TEST(forward) {
  for (size_t s = 0; s < SHAPES; s++) compare_forward(variant((size_t)_i), &shapes[s], _i);
}
END_TEST

static void compare_backward(const tpti_kernels *k, const tpti_norm_shape *s, int _i) {
  size_t D = s->N * s->P, count = s->rows * D;
  guarded g = {0};
  float *dn = guarded_take(&g, count, 1), *h = guarded_take(&g, count, 2);
  float *rstd = guarded_take(&g, s->rows * s->N, 3), *gain = guarded_take(&g, D, 4);
  float *dh = guarded_take(&g, count, 5), *want = guarded_take(&g, count, 5);
  float *dgain = guarded_take(&g, D, 6), *sums = guarded_take(&g, D, 7);
  tpti_norm_backward_plain(want, sums, dn, h, rstd, gain, s);
  k->norm_backward(dh, dgain, dn, h, rstd, gain, s);
  same_values(dh, want, count, 2e-6); /* differences: they cancel where P is small */
  same_values(dgain, sums, D, 1e-6);
  guarded_end(&g);
}

START_TEST(backward) {
  for (size_t s = 0; s < SHAPES; s++) compare_backward(variant((size_t)_i), &shapes[s], _i);
}
END_TEST

START_TEST(values_that_are_not_numbers_stay_in_their_phase) {
  const tpti_norm_shape s = {2, 2, 20};
  float h[80], gain[40], n[80], rstd[4];
  for (size_t i = 0; i < 80; i++) h[i] = gain[i % 40] = 1;
  h[25] = NAN;
  h[79] = INFINITY;
  variant((size_t)_i)->norm_forward(n, rstd, h, gain, 1e-5f, &s);
  for (size_t i = 0; i < 20; i++) {
    ck_assert(isfinite(n[i]) && isnan(n[20 + i]) && isfinite(n[40 + i]));
  }
  ck_assert_float_nan(n[79]);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("norm");
  TCase *c = tcase_create("norm");
  tcase_add_loop_test(c, forward, 0, variant_count());
  tcase_add_loop_test(c, backward, 0, variant_count());
  tcase_add_loop_test(c, values_that_are_not_numbers_stay_in_their_phase, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
