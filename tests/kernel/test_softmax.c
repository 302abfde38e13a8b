/* Every variant of the log-sum-exp and softmax kernels against the plain one. */
#include "kernel/softmax.h"

#include "variants.h"

static const size_t lengths[] = {1,  2,  3,  7,  8,  9,   15,  16,  17,   31,   32,
                                 33, 63, 64, 65, 97, 127, 128, 129, 1001, 10000};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void widen(float *z, size_t n) {
  for (size_t i = 0; i < n; i++) z[i] = z[i] * 12 - 30;
}

START_TEST(sums) {
  for (size_t l = 0; l < LENGTHS; l++) {
    guarded g = {0};
    float *z = guarded_take(&g, lengths[l], l);
    widen(z, lengths[l]);
    double want = tpti_logsumexp_plain(z, lengths[l]);
    ck_assert_double_eq_tol(variant((size_t)_i)->logsumexp(z, lengths[l]), want, 2e-7);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(rows) {
  for (size_t l = 0; l < LENGTHS; l++) {
    guarded g = {0};
    float *z = guarded_take(&g, lengths[l], l), *want = guarded_take(&g, lengths[l], l);
    widen(z, lengths[l]);
    widen(want, lengths[l]);
    double sum = variant((size_t)_i)->logsumexp(z, lengths[l]);
    double want_sum = tpti_softmax_row_plain(want, 0.125f, lengths[l]);
    double got_sum = variant((size_t)_i)->softmax_row(z, 0.125f, lengths[l]);
    ck_assert_double_eq(got_sum, sum);
    ck_assert_double_eq_tol(got_sum, want_sum, 2e-7);
    same_values(z, want, lengths[l], 4e-7);
    guarded_end(&g);
  }
}
END_TEST

START_TEST(a_row_that_is_not_finite_is_nan) {
  enum { N = 75 };
  const float spoilers[] = {NAN, INFINITY};
  for (size_t i = 0; i < 2 * N; i++) {
    float z[N], plain[N];
    for (size_t j = 0; j < N; j++) z[j] = plain[j] = j == i / 2 ? spoilers[i % 2] : (float)j;
    ck_assert_double_nan(tpti_softmax_row_plain(plain, 1, N));
    ck_assert_double_nan(variant((size_t)_i)->softmax_row(z, 1, N));
    for (size_t j = 0; j < N; j++) ck_assert(isnan(z[j]) && isnan(plain[j]));
  }
}
END_TEST

/* One entry after the other becomes the only large one: no place is missed. */
START_TEST(the_largest_entry_is_found_everywhere) {
  enum { N = 150 };
  float z[N];
  for (size_t i = 0; i < N; i++) z[i] = -3e38f;
  for (size_t i = 0; i < N; i++) {
    z[i] = -200;
    ck_assert_double_eq(variant((size_t)_i)->logsumexp(z, N), -200);
    z[i] = -3e38f;
  }
}
END_TEST

START_TEST(what_is_not_finite_shows_everywhere) {
  enum { N = 150 };
  float z[N];
  for (size_t i = 0; i < N; i++) z[i] = (float)i;
  for (size_t i = 0; i < N; i++) {
    float was = z[i];
    z[i] = NAN;
    ck_assert_double_nan(variant((size_t)_i)->logsumexp(z, N));
    z[i] = INFINITY;
    ck_assert_double_nan(variant((size_t)_i)->logsumexp(z, N));
    z[i] = -INFINITY;
    ck_assert_double_eq_tol(variant((size_t)_i)->logsumexp(z, N), tpti_logsumexp_plain(z, N), 1e-6);
    z[i] = was;
  }
  for (size_t i = 0; i < N; i++) z[i] = -INFINITY;
  ck_assert_double_nan(variant((size_t)_i)->logsumexp(z, N));
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("softmax");
  TCase *c = tcase_create("softmax");
  tcase_add_loop_test(c, sums, 0, variant_count());
  tcase_add_loop_test(c, rows, 0, variant_count());
  tcase_add_loop_test(c, a_row_that_is_not_finite_is_nan, 0, variant_count());
  tcase_add_loop_test(c, the_largest_entry_is_found_everywhere, 0, variant_count());
  tcase_add_loop_test(c, what_is_not_finite_shows_everywhere, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
