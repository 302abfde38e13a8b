/* Every variant of the sums against the plain one. */
#include "kernel/sum.h"

#include "variants.h"

enum { LONGEST = 140 };

START_TEST(sums) {
  for (size_t n = 0; n <= LONGEST; n++) {
    guarded g = {0};
    float *x = guarded_take(&g, n, n);
    ck_assert_double_eq_tol(variant((size_t)_i)->sum_values(x, n), tpti_sum_values_plain(x, n),
                            1e-14 * (double)(n + 1));
    guarded_end(&g);
  }
}
END_TEST

START_TEST(squares) {
  for (size_t n = 0; n <= LONGEST; n++) {
    guarded g = {0};
    float *x = guarded_take(&g, n, n);
    double want = tpti_sum_squares_plain(x, n);
    ck_assert_double_eq_tol(variant((size_t)_i)->sum_squares(x, n), want, 1e-14 * (want + 1e-30));
    guarded_end(&g);
  }
}
END_TEST

/* In float32 the first would be infinite and the second 0. */
START_TEST(squares_beyond_float) {
  const tpti_kernels *k = variant((size_t)_i);
  float x[33];
  for (size_t i = 0; i < 33; i++) x[i] = 0x1p100f;
  ck_assert_double_eq(k->sum_squares(x, 33), 33 * 0x1p200);
  for (size_t i = 0; i < 33; i++) x[i] = 0x1p-100f;
  ck_assert_double_eq(k->sum_squares(x, 33), 33 * 0x1p-200);
}
END_TEST

START_TEST(what_is_not_finite_shows_everywhere) {
  const tpti_kernels *k = variant((size_t)_i);
  float x[75];
  tpti_test_fill(x, 75, 1);
  for (size_t i = 0; i < 75; i++) {
    float was = x[i];
    x[i] = NAN;
    ck_assert(isnan(k->sum_squares(x, 75)) && isnan(k->sum_values(x, 75)));
    x[i] = -INFINITY;
    ck_assert(isinf(k->sum_squares(x, 75)) && isinf(k->sum_values(x, 75)));
    x[i] = was;
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("sum");
  TCase *c = tcase_create("sum");
  tcase_add_loop_test(c, sums, 0, variant_count());
  tcase_add_loop_test(c, squares, 0, variant_count());
  tcase_add_loop_test(c, squares_beyond_float, 0, variant_count());
  tcase_add_loop_test(c, what_is_not_finite_shows_everywhere, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
