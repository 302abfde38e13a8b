/* Every variant of the rotation kernels against the plain one. */
#include "kernel/rotate.h"

#include "variants.h"

static const size_t pair_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 96};
enum { PAIR_COUNTS = sizeof pair_counts / sizeof pair_counts[0] };

static void compare_forward(const tpti_kernels *k, const tpti_rotate_shape *s, int _i) {
  size_t count = s->rows * 2 * s->pairs;
  guarded g = {0};
  float *h = guarded_take(&g, count, 1), *out = guarded_take(&g, count, 2);
  float *cosine = guarded_take(&g, s->pairs, 3), *sine = guarded_take(&g, s->pairs, 4);
  float *want = guarded_take(&g, count, 5);
  tpti_rotate_forward_plain(want, h, cosine, sine, s);
  k->rotate_forward(out, h, cosine, sine, s);
  same_values(out, want, count, 2e-7);
  k->rotate_forward(h, h, cosine, sine, s);
  ck_assert_uint_eq(tpti_test_first_difference(h, out, count), count);
  guarded_end(&g);
}

static void compare_backward(const tpti_kernels *k, const tpti_rotate_shape *s, int _i) {
  size_t count = s->rows * 2 * s->pairs;
  guarded g = {0};
  float *dout = guarded_take(&g, count, 1), *h = guarded_take(&g, count, 2);
  float *cosine = guarded_take(&g, s->pairs, 3), *sine = guarded_take(&g, s->pairs, 4);
  float *dh = guarded_take(&g, count, 5), *want = guarded_take(&g, count, 6);
  float *dangle = guarded_take(&g, s->pairs, 7), *sums = guarded_take(&g, s->pairs, 8);
  tpti_rotate_backward_plain(want, sums, dout, h, cosine, sine, s);
  k->rotate_backward(dh, dangle, dout, h, cosine, sine, s);
  same_values(dh, want, count, 2e-7);
  same_values(dangle, sums, s->pairs, 1e-6);
  k->rotate_backward(dout, dangle, dout, h, cosine, sine, s);
  ck_assert_uint_eq(tpti_test_first_difference(dout, dh, count), count);
  same_values(dangle, sums, s->pairs, 1e-6);
  guarded_end(&g);
}

static void every_shape(void (*compare)(const tpti_kernels *, const tpti_rotate_shape *, int),
                        bool residual, int index) {
  for (size_t p = 0; p < PAIR_COUNTS; p++) {
    const tpti_rotate_shape s = {1 + p % 4 + (p == 5 ? 60 : 0), pair_counts[p], residual};
    compare(variant((size_t)index), &s, index);
  }
}

START_TEST(forward_replace) { every_shape(compare_forward, false, _i); }
END_TEST

START_TEST(forward_residual) { every_shape(compare_forward, true, _i); }
END_TEST

START_TEST(backward_replace) { every_shape(compare_backward, false, _i); }
END_TEST

START_TEST(backward_residual) { every_shape(compare_backward, true, _i); }
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("rotate");
  TCase *c = tcase_create("rotate");
  tcase_add_loop_test(c, forward_replace, 0, variant_count());
  tcase_add_loop_test(c, forward_residual, 0, variant_count());
  tcase_add_loop_test(c, backward_replace, 0, variant_count());
  tcase_add_loop_test(c, backward_residual, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
