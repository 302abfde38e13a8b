/* Every variant of attention's kernels against the plain one. */
#include "kernel/attention.h"

#include "variants.h"

static const size_t widths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129};
enum { WIDTHS = sizeof widths / sizeof widths[0], ROWS = 5, GAP = 3, WIDEST = 129 };

/* What row 0 sees: from none of four rows to more than there is. */
static const ptrdiff_t seen_first[] = {-4, -1, 0, 1, 6, 30, 500};
enum { SEEN = sizeof seen_first / sizeof seen_first[0] };

/* Scores and sums of ROWS queries that have seen keys before. */
typedef struct softmax_case {
  float *s, *max, *sum, *y;
} softmax_case;

static softmax_case softmax_new(guarded *g, size_t stride, size_t width) {
  softmax_case c = {guarded_take(g, ROWS * stride, 1), guarded_take(g, ROWS, 2),
                    guarded_take(g, ROWS, 3), guarded_take(g, ROWS * width, 4)};
  for (size_t i = 0; i < ROWS * stride; i++) c.s[i] *= 20;
  for (size_t i = 0; i < ROWS; i++) c.sum[i] += 2;
  c.max[ROWS - 1] = 100; /* no new maximum */
  c.max[0] = -INFINITY;  /* nothing seen */
  c.sum[0] = 0;
  return c;
}

static void softmax_run(tpti_score_softmax_fn *softmax, const softmax_case *c, size_t width,
                        const tpti_score_shape *shape) {
  tpti_score_sums to = {c->max, c->sum, c->y, width, width};
  softmax(c->s, &to, 0.25f, shape);
}

static void same_softmax(int _i, size_t width, ptrdiff_t seen) {
  guarded g = {0};
  size_t stride = width + GAP;
  tpti_score_shape shape = {ROWS, width, stride, seen};
  softmax_case got = softmax_new(&g, stride, width), want = softmax_new(&g, stride, width);
  softmax_run(variant((size_t)_i)->score_softmax, &got, width, &shape);
  softmax_run(tpti_score_softmax_plain, &want, width, &shape);
  same_values(got.s, want.s, ROWS * stride, 1e-6);
  same_values(got.sum, want.sum, ROWS, 1e-6);
  same_values(got.y, want.y, ROWS * width, 1e-6);
  ck_assert_mem_eq(got.max, want.max, ROWS * sizeof(float));
  for (size_t i = 0; i < ROWS; i++) /* between the rows */
    ck_assert_mem_eq(got.s + i * stride + width, want.s + i * stride + width, GAP * sizeof(float));
  guarded_end(&g);
}

START_TEST(softmax) {
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t s = 0; s < SEEN; s++) same_softmax(_i, widths[w], seen_first[s]);
}
END_TEST

START_TEST(the_largest_score_is_found_everywhere) {
  float s[WIDEST], max, sum, y;
  tpti_score_sums to = {&max, &sum, &y, 1, 1};
  tpti_score_shape shape = {1, WIDEST, WIDEST, WIDEST};
  for (size_t i = 0; i < WIDEST; i++) {
    for (size_t u = 0; u < WIDEST; u++) s[u] = u == i ? -200 : -3e38f;
    max = -INFINITY, sum = 0;
    variant((size_t)_i)->score_softmax(s, &to, 1, &shape);
    ck_assert_float_eq(max, -200);
    ck_assert_float_eq(sum, 1);
  }
}
END_TEST

START_TEST(a_nan_shows_everywhere) {
  float s[WIDEST], max, sum, y;
  tpti_score_sums to = {&max, &sum, &y, 1, 1};
  tpti_score_shape shape = {1, WIDEST, WIDEST, WIDEST};
  for (size_t i = 0; i < WIDEST; i++) {
    for (size_t u = 0; u < WIDEST; u++) s[u] = u == i ? NAN : 1;
    max = -INFINITY, sum = 0;
    variant((size_t)_i)->score_softmax(s, &to, 1, &shape);
    ck_assert_float_nan(sum);
  }
}
END_TEST

static void same_gradient(int _i, size_t width, ptrdiff_t seen) {
  guarded g = {0};
  size_t stride = width + GAP, count = ROWS * stride;
  tpti_score_shape shape = {ROWS, width, stride, seen};
  float *s = guarded_take(&g, count, 1), *s_plain = guarded_take(&g, count, 1);
  float *dp = guarded_take(&g, count, 2), *dp_plain = guarded_take(&g, count, 2);
  float *lse = guarded_take(&g, ROWS * GAP, 3), *delta = guarded_take(&g, ROWS * GAP, 4);
  variant((size_t)_i)->score_gradient(s, dp, lse, delta, GAP, 0.25f, &shape);
  tpti_score_gradient_plain(s_plain, dp_plain, lse, delta, GAP, 0.25f, &shape);
  same_values(s, s_plain, count, 1e-6);
  same_values(dp, dp_plain, count, 1e-6);
  guarded_end(&g);
}

START_TEST(gradient) {
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t s = 0; s < SEEN; s++) same_gradient(_i, widths[w], seen_first[s]);
}
END_TEST

static void same_finish(int _i, size_t width) {
  guarded g = {0};
  size_t stride = width + GAP;
  float *y = guarded_take(&g, ROWS * stride, 1), *y_plain = guarded_take(&g, ROWS * stride, 1);
  float *lse = guarded_take(&g, ROWS * GAP, 2), *lse_plain = guarded_take(&g, ROWS * GAP, 2);
  float *max = guarded_take(&g, ROWS, 3), *sum = guarded_take(&g, ROWS, 4);
  for (size_t i = 0; i < ROWS; i++) sum[i] += 2;
  tpti_score_sums to = {max, sum, y, stride, width}, to_plain = {max, sum, y_plain, stride, width};
  variant((size_t)_i)->score_finish(lse, GAP, &to, ROWS);
  tpti_score_finish_plain(lse_plain, GAP, &to_plain, ROWS);
  same_values(y, y_plain, ROWS * stride, 2e-7);
  same_values(lse, lse_plain, ROWS * GAP, 2e-7);
  variant((size_t)_i)->score_finish(NULL, GAP, &to, ROWS); /* not wanted */
  guarded_end(&g);
}

START_TEST(finish) {
  for (size_t w = 0; w < WIDTHS; w++) same_finish(_i, widths[w]);
}
END_TEST

static void same_dots(int _i, size_t rows, size_t E, size_t y_stride) {
  guarded g = {0};
  float *dots = guarded_take(&g, rows * GAP, 3), *want = guarded_take(&g, rows * GAP, 3);
  tpti_row_dots d = {.dots = dots, .rows = rows, .E = E, .dots_stride = GAP};
  d.x_stride = E + GAP, d.y_stride = y_stride;
  d.x = guarded_take(&g, rows * (E + GAP), 1), d.y = guarded_take(&g, rows * (E + GAP), 2);
  tpti_row_dots plain = d;
  plain.dots = want;
  variant((size_t)_i)->row_dots(&d);
  tpti_row_dots_plain(&plain);
  same_values(dots, want, rows * GAP, 2e-6);
  for (size_t i = 0; i < rows; i++) { /* alone, the same bits */
    float alone;
    tpti_row_dots one = d;
    one.dots = &alone, one.rows = 1;
    one.x += i * d.x_stride, one.y += i * d.y_stride;
    variant((size_t)_i)->row_dots(&one);
    ck_assert_mem_eq(&alone, dots + i * GAP, sizeof alone);
  }
  guarded_end(&g);
}

START_TEST(row_dots) {
  for (size_t w = 0; w < WIDTHS; w++)
    for (size_t rows = 1; rows < 40; rows += 5) {
      same_dots(_i, rows, widths[w], 0);
      same_dots(_i, rows, widths[w], widths[w] + 1);
    }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("attention");
  TCase *c = tcase_create("attention");
  tcase_add_loop_test(c, softmax, 0, variant_count());
  tcase_add_loop_test(c, the_largest_score_is_found_everywhere, 0, variant_count());
  tcase_add_loop_test(c, a_nan_shows_everywhere, 0, variant_count());
  tcase_add_loop_test(c, gradient, 0, variant_count());
  tcase_add_loop_test(c, finish, 0, variant_count());
  tcase_add_loop_test(c, row_dots, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
