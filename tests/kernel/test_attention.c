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

/* ---- scores turned over ---- */

enum { COLUMNS = TPTI_SCORE_COLUMNS, KEYS = 129 };

static const size_t keys_of[] = {1, 2, 3, 5, 16, 31, 32, 33, 64, 100, KEYS};
enum { KEY_COUNTS = sizeof keys_of / sizeof keys_of[0] };

/* From a strip of which most columns see nothing to one that sees all. */
static const ptrdiff_t leads[] = {-31, -16, -1, 0, 1, 15, 16, 40, 128, 500};
enum { LEADS = sizeof leads / sizeof leads[0] };

/* What a column does not see may be anything. */
static void hide(float *s, const tpti_score_strip *strip) {
  for (size_t u = 0; u < strip->keys; u++)
    for (size_t j = 0; j < COLUMNS; j++)
      if ((ptrdiff_t)u > strip->lead + (ptrdiff_t)j) s[u * strip->stride + j] = NAN;
}

/* Asks for rows ahead, which must change nothing; NULL is among them. */
static tpti_score_strip strip_of(size_t keys, ptrdiff_t lead, const float *ahead) {
  tpti_score_soon soon = {.at = {ahead, NULL, ahead}, .stride = {1, 0, 2}, .rows = 3, .E = 20};
  return (tpti_score_strip){keys, COLUMNS + GAP, lead, 0.25f, soon};
}

/* Of the strip's queries only `rows` have a y; column 0 has seen nothing, the last one sees no new
 * maximum. */
static softmax_case columns_new(guarded *g, const tpti_score_strip *strip, size_t rows, size_t E) {
  size_t count = strip->keys * strip->stride;
  softmax_case c = {guarded_take(g, count, 1), guarded_take(g, COLUMNS, 2),
                    guarded_take(g, COLUMNS, 3), guarded_take(g, rows * (E + GAP), 4)};
  for (size_t i = 0; i < count; i++) c.s[i] *= 20;
  for (size_t j = 0; j < COLUMNS; j++) c.sum[j] += 2;
  c.max[COLUMNS - 1] = 100, c.max[0] = -INFINITY, c.sum[0] = 0;
  hide(c.s, strip);
  return c;
}

static void same_columns(int _i, size_t keys, ptrdiff_t lead, size_t rows, size_t E) {
  guarded g = {0};
  tpti_score_strip strip = strip_of(keys, lead, guarded_take(&g, 1, 9));
  softmax_case got = columns_new(&g, &strip, rows, E), want = columns_new(&g, &strip, rows, E);
  tpti_score_sums to = {got.max, got.sum, got.y, E + GAP, E};
  tpti_score_sums plain = {want.max, want.sum, want.y, E + GAP, E};
  variant((size_t)_i)->strip_softmax(got.s, &to, rows, &strip);
  tpti_strip_softmax_plain(want.s, &plain, rows, &strip);
  same_values(got.s, want.s, keys * strip.stride, 1e-6);
  same_values(got.sum, want.sum, COLUMNS, 1e-6);
  same_values(got.y, want.y, rows * (E + GAP), 1e-6);
  ck_assert_mem_eq(got.max, want.max, COLUMNS * sizeof(float));
  for (size_t u = 0; u < keys; u++) { /* between the rows, and what is not seen */
    const float *a = got.s + u * strip.stride, *b = want.s + u * strip.stride;
    ck_assert_mem_eq(a + COLUMNS, b + COLUMNS, GAP * sizeof(float));
    for (size_t j = 0; j < COLUMNS; j++) ck_assert(b[j] != 0 || a[j] < 1e-30f);
  }
  guarded_end(&g);
}

START_TEST(columns_softmax) {
  for (size_t k = 0; k < KEY_COUNTS; k++)
    for (size_t l = 0; l < LEADS; l++) {
      same_columns(_i, keys_of[k], leads[l], COLUMNS, widths[k]);
      same_columns(_i, keys_of[k], leads[l], 1 + k, 33);
    }
}
END_TEST

/* The first keys: nothing was seen before, and there is no y to scale. */
START_TEST(the_first_columns_have_no_y) {
  float s[2 * COLUMNS], max[COLUMNS], sum[COLUMNS];
  for (size_t j = 0; j < COLUMNS; j++) {
    s[j] = (float)j, s[COLUMNS + j] = -(float)j, max[j] = -INFINITY, sum[j] = 0;
  }
  tpti_score_sums to = {max, sum, NULL, 0, 5};
  tpti_score_strip strip = {.keys = 2, .stride = COLUMNS, .lead = 1, .scale = 0.5f};
  variant((size_t)_i)->strip_softmax(s, &to, COLUMNS, &strip);
  for (size_t j = 0; j < COLUMNS; j++) {
    ck_assert_float_eq(max[j], 0.5f * (float)j);
    ck_assert_float_eq_tol(sum[j], 1 + expf(-(float)j), 1e-6f);
  }
}
END_TEST

START_TEST(the_largest_of_a_column_is_found_everywhere) {
  float s[KEYS * COLUMNS], max[COLUMNS], sum[COLUMNS];
  tpti_score_sums to = {max, sum, NULL, 0, 1};
  tpti_score_strip strip = {.keys = KEYS, .stride = COLUMNS, .lead = KEYS, .scale = 1};
  for (size_t i = 0; i < KEYS; i++) {
    for (size_t u = 0; u < KEYS * COLUMNS; u++) s[u] = u / COLUMNS == i ? -200 : -3e38f;
    for (size_t j = 0; j < COLUMNS; j++) max[j] = -INFINITY, sum[j] = 0;
    variant((size_t)_i)->strip_softmax(s, &to, COLUMNS, &strip);
    for (size_t j = 0; j < COLUMNS; j++) ck_assert(max[j] == -200 && sum[j] == 1);
  }
}
END_TEST

START_TEST(a_nan_shows_in_its_column) {
  float s[KEYS * COLUMNS], max[COLUMNS], sum[COLUMNS];
  tpti_score_sums to = {max, sum, NULL, 0, 1};
  tpti_score_strip strip = {.keys = KEYS, .stride = COLUMNS, .lead = KEYS, .scale = 1};
  for (size_t i = 0; i < KEYS; i++) {
    for (size_t u = 0; u < KEYS * COLUMNS; u++) s[u] = u == i * COLUMNS + i % COLUMNS ? NAN : 1;
    for (size_t j = 0; j < COLUMNS; j++) max[j] = -INFINITY, sum[j] = 0;
    variant((size_t)_i)->strip_softmax(s, &to, COLUMNS, &strip);
    for (size_t j = 0; j < COLUMNS; j++) ck_assert(isnan(sum[j]) == (j == i % COLUMNS));
  }
}
END_TEST

static void same_gradient(int _i, size_t keys, ptrdiff_t lead) {
  guarded g = {0};
  tpti_score_strip strip = strip_of(keys, lead, guarded_take(&g, 1, 9));
  size_t count = keys * strip.stride;
  float *s = guarded_take(&g, count, 1), *s_plain = guarded_take(&g, count, 1);
  float *dp = guarded_take(&g, count, 2), *dp_plain = guarded_take(&g, count, 2);
  tpti_score_ends from = {guarded_take(&g, COLUMNS, 3), guarded_take(&g, COLUMNS, 5),
                          guarded_take(&g, COLUMNS, 4)};
  hide(s, &strip), hide(dp, &strip), hide(s_plain, &strip), hide(dp_plain, &strip);
  variant((size_t)_i)->strip_gradient(s, dp, &from, &strip);
  tpti_strip_gradient_plain(s_plain, dp_plain, &from, &strip);
  same_values(s, s_plain, count, 1e-6);
  same_values(dp, dp_plain, count, 1e-6);
  for (size_t i = 0; i < count; i++) ck_assert(s_plain[i] != 0 || (s[i] == 0 && dp[i] == 0));
  guarded_end(&g);
}

START_TEST(gradient) {
  for (size_t k = 0; k < KEY_COUNTS; k++)
    for (size_t l = 0; l < LEADS; l++) same_gradient(_i, keys_of[k], leads[l]);
}
END_TEST

START_TEST(copy_rows) {
  for (size_t w = 0; w < WIDTHS; w++) {
    guarded g = {0};
    size_t E = widths[w];
    float *in = guarded_take(&g, ROWS * (E + GAP), 1);
    float *got = guarded_nan(&g, ROWS * E), *want = guarded_nan(&g, ROWS * E);
    variant((size_t)_i)->copy_rows(got, in, E + GAP, ROWS, E);
    tpti_copy_rows_plain(want, in, E + GAP, ROWS, E);
    ck_assert_mem_eq(got, want, ROWS * E * sizeof *got);
    ck_assert_mem_eq(got + (ROWS - 1) * E, in + (ROWS - 1) * (E + GAP), E * sizeof *got);
    guarded_end(&g);
  }
}
END_TEST

/* ---- rows ---- */

static void same_finish(int _i, size_t width) {
  guarded g = {0};
  size_t stride = width + GAP;
  float *y = guarded_take(&g, ROWS * stride, 1), *y_plain = guarded_take(&g, ROWS * stride, 1);
  double lse[ROWS * GAP] = {0}, lse_plain[ROWS * GAP] = {0};
  float *max = guarded_take(&g, ROWS, 3), *sum = guarded_take(&g, ROWS, 4);
  for (size_t i = 0; i < ROWS; i++) sum[i] += 2;
  tpti_score_sums to = {max, sum, y, stride, width}, to_plain = {max, sum, y_plain, stride, width};
  variant((size_t)_i)->score_finish(lse, GAP, &to, ROWS);
  tpti_score_finish_plain(lse_plain, GAP, &to_plain, ROWS);
  same_values(y, y_plain, ROWS * stride, 2e-7);
  for (size_t i = 0; i < ROWS * GAP; i++) ck_assert_double_eq_tol(lse[i], lse_plain[i], 1e-15);
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
  tcase_add_loop_test(c, columns_softmax, 0, variant_count());
  tcase_add_loop_test(c, the_first_columns_have_no_y, 0, variant_count());
  tcase_add_loop_test(c, the_largest_of_a_column_is_found_everywhere, 0, variant_count());
  tcase_add_loop_test(c, a_nan_shows_in_its_column, 0, variant_count());
  tcase_add_loop_test(c, gradient, 0, variant_count());
  tcase_add_loop_test(c, copy_rows, 0, variant_count());
  tcase_add_loop_test(c, finish, 0, variant_count());
  tcase_add_loop_test(c, row_dots, 0, variant_count());
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return variants_main(suite()); }
