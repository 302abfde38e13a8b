/* Attention's inner loops on tiles, each against plain C in float64. */
#include "kernel/attention_amx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bf16.h"
#include "support/compare.h"
#include "support/runner.h"

enum { STRIP = TPTI_SCORE_STRIP, TILE = TPTI_SCORE_TILE, CHUNK = TPTI_SCORE_CHUNK, LINES = 16 };
enum { UNTOUCHED = 0x7f7f, SPARE = 2 * TILE };

static const double NEAR = 1e-6; /* relative to the norm; float32 rounds at 6e-8 */

static const tpti_scores *scores(void) { return tpti_scores_amx(); }

static float *floats(size_t count, uint64_t seed) {
  float *x = aligned_alloc(64, (count * sizeof *x + 63) / 64 * 64 + 64);
  ck_assert_ptr_nonnull(x);
  tpti_test_fill(x, count, seed);
  return x;
}

/* Tiles that are not written keep UNTOUCHED, also SPARE numbers behind them. */
static uint16_t *tiles(size_t count) {
  uint16_t *x = aligned_alloc(64, (count * TILE + SPARE) * sizeof *x);
  ck_assert_ptr_nonnull(x);
  for (size_t i = 0; i < count * TILE + SPARE; i++) x[i] = UNTOUCHED;
  return x;
}

/* To the nearest bf16, ties to even. */
static uint16_t narrow(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static float wide(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Number p of line l of lines of tiles, `step` tiles apart. */
static size_t place(size_t l, size_t p, size_t step, bool pairs) {
  size_t line = l % LINES, at = p % STRIP, tile = (l / LINES * step + p / STRIP) * TILE;
  return tile + (pairs ? at / 2 * STRIP + line * 2 + at % 2 : line * STRIP + at);
}

static size_t whole(size_t n) { return (n + STRIP - 1) / STRIP * STRIP; }

/* ---- packing ---- */

static const size_t SIZES[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 64, 70};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* lines x depth numbers of x, whose element (l, p) is at l line + p deep. */
static void check_packed(const uint16_t *got, size_t tile_count, size_t step, const float *x,
                         size_t line, size_t deep, size_t lines, size_t depth, bool pairs) {
  uint16_t *want = tiles(tile_count);
  for (size_t l = 0; l < whole(lines); l++)
    for (size_t p = 0; p < whole(depth); p++)
      want[place(l, p, step, pairs)] =
          l < lines && p < depth ? narrow(x[l * line + p * deep]) : narrow(0);
  size_t same = 0, count = tile_count * TILE + SPARE;
  while (same < count && got[same] == want[same]) same++;
  ck_assert_msg(same == count, "%zu lines of %zu, pairs %d: %zu", lines, depth, pairs, same);
  free(want);
}

static void check_pack(size_t rows, size_t cols, bool pairs) {
  size_t stride = cols + 3, step = 4, count = 6 * step;
  float *x = floats(rows * stride, 1);
  x[0] = 1.00390625f; /* in the middle of two bf16: to even */
  for (size_t i = 0; i < rows; i++)
    for (size_t j = cols; j < stride; j++) x[i * stride + j] = NAN;
  tpti_score_source source = {x, stride, rows, cols};
  uint16_t *by_rows = tiles(count), *by_columns = tiles(count);
  scores()->pack_rows(by_rows, step, &source, pairs);
  scores()->pack_columns(by_columns, step, &source, pairs);
  check_packed(by_rows, count, step, x, stride, 1, rows, cols, pairs);
  check_packed(by_columns, count, step, x, 1, stride, cols, rows, pairs);
  free(x), free(by_rows), free(by_columns);
}

START_TEST(packing) {
  for (size_t r = 0; r < SIZE_COUNT; r++)
    for (size_t c = 0; c < SIZE_COUNT; c++) check_pack(SIZES[r], SIZES[c], _i == 1);
}
END_TEST

/* ---- products ---- */

/* Whole numbers, so that sums are exact. */
static uint16_t *numbers(size_t count, uint64_t seed) {
  uint16_t *t = tiles(count);
  float *x = floats(count * TILE, seed);
  for (size_t i = 0; i < count * TILE; i++) t[i] = narrow(roundf(x[i] * 16));
  free(x);
  return t;
}

static void check_product(size_t m, size_t n, size_t k, bool add) {
  size_t a_row = k + 1, b_row = k + 2, c_row = n * LINES + 3;
  uint16_t *a = numbers(m * a_row, 1), *b = numbers(n * b_row, 2);
  float *c = floats(m * LINES * c_row, 3);
  for (size_t i = 0; i < m * LINES * c_row; i++) c[i] = roundf(c[i] * 100);
  float *before = malloc(m * LINES * c_row * sizeof *c);
  ck_assert_ptr_nonnull(before);
  memcpy(before, c, m * LINES * c_row * sizeof *c);
  scores()->begin();
  scores()->product(&(tpti_score_product){c, a, b, c_row, a_row, b_row, m, n, k, add});
  scores()->end();
  for (size_t i = 0; i < m * LINES; i++)
    for (size_t j = 0; j < c_row; j++) {
      float want = add || j >= n * LINES ? before[i * c_row + j] : 0;
      for (size_t p = 0; p < k * STRIP && j < n * LINES; p++)
        want += wide(a[place(i, p, a_row, false)]) * wide(b[place(j, p, b_row, true)]);
      if (c[i * c_row + j] != want) ck_abort_msg("%zu, %zu: not %g", i, j, (double)want);
    }
  free(a), free(b), free(c), free(before);
}

START_TEST(products) {
  for (size_t m = 2; m <= 6; m += 2)
    for (size_t n = 2; n <= 6; n += 2)
      for (size_t k = 1; k <= 4; k++) check_product(m, n, k, false), check_product(m, n, k, true);
}
END_TEST

/* ---- softmax ---- */

static const ptrdiff_t LEADS[] = {-31, -17, -5, 0, 1, 15, 16, 31, 32, 40, 63, 64, 100};
enum { LEAD_COUNT = sizeof LEADS / sizeof *LEADS };
static const float FACTOR = 0.7f;

static bool sees(size_t column, size_t row, ptrdiff_t lead) {
  return (ptrdiff_t)column >= (ptrdiff_t)row - lead;
}

/* The same for one column; p [keys]. */
static double softmax_column(double *p, const tpti_score_chunk *c, size_t column, double *max,
                             double *sum) {
  double before = *max;
  for (size_t i = 0; i < c->keys; i++)
    if (sees(column, i, c->lead)) *max = fmax(*max, (double)c->s[i * STRIP + column]);
  double by = exp2((before - *max) * (double)c->factor);
  *sum *= by;
  for (size_t i = 0; i < c->keys; i++) {
    double x = ((double)c->s[i * STRIP + column] - *max) * (double)c->factor;
    p[i] = sees(column, i, c->lead) ? exp2(x) : 0;
    *sum += p[i];
  }
  return by;
}

/* bf16 of p, of which float32 may be off by 1e-6. */
static void near_bf16(uint16_t got, double want) {
  ck_assert_msg(got == narrow((float)want) || got == narrow((float)(want * (1 + 2e-6))) ||
                    got == narrow((float)(want * (1 - 2e-6))),
                "%.9g, not %.9g", (double)wide(got), want);
}

static void check_softmax(size_t keys, ptrdiff_t lead, bool first) {
  enum { E = 32 };
  float *s = floats(CHUNK * STRIP, 1), *y = floats(E * STRIP, 2), *max = floats(STRIP, 3);
  float *sum = floats(STRIP, 4), *y_before = floats(E * STRIP, 2);
  uint16_t *p = tiles(2 * CHUNK / STRIP), *near = tiles(2 * E * CHUNK / TILE);
  double want[CHUNK], top[STRIP], total[STRIP], by[STRIP];
  for (size_t i = 0; i < CHUNK * STRIP; i++) s[i] *= 9;
  for (size_t j = 0; j < STRIP; j++) max[j] = first ? -INFINITY : 4 * max[j], sum[j] += 2;
  if (first) memset(sum, 0, STRIP * sizeof *sum);
  max[7] = first ? max[7] : 50; /* no new maximum */
  for (size_t j = 0; j < STRIP; j++) top[j] = (double)max[j], total[j] = (double)sum[j];
  tpti_score_chunk chunk = {s, {near, near}, keys, lead, FACTOR};
  scores()->softmax(p, &(tpti_score_state){max, sum, first ? NULL : y, E}, &chunk);
  for (size_t j = 0; j < STRIP; j++) {
    by[j] = softmax_column(want, &chunk, j, &top[j], &total[j]);
    for (size_t i = 0; i < keys; i++) near_bf16(p[place(j, i, CHUNK / STRIP, true)], want[i]);
    ck_assert_float_eq(max[j], (float)top[j]);
    ck_assert_double_eq_tol((double)sum[j], total[j], 2e-6 * total[j]);
    for (size_t e = 0; e < E; e++) {
      double was = (double)y_before[e * STRIP + j];
      ck_assert_double_eq_tol((double)y[e * STRIP + j], first ? was : was * by[j], 2e-6);
    }
  }
  free(s), free(y), free(max), free(sum), free(y_before), free(p), free(near);
}

START_TEST(softmax) {
  for (size_t keys = STRIP; keys <= CHUNK; keys += STRIP)
    for (size_t i = 0; i < LEAD_COUNT; i++) {
      check_softmax(keys, LEADS[i], false);
      if (LEADS[i] >= 0) check_softmax(keys, LEADS[i], true); /* the first key is seen by all */
    }
}
END_TEST

START_TEST(a_nan_shows_everywhere) {
  float max[STRIP], sum[STRIP];
  float *s = floats(CHUNK * STRIP, 1);
  uint16_t *p = tiles(2 * CHUNK / STRIP);
  tpti_score_chunk chunk = {s, {p, p}, CHUNK, CHUNK, FACTOR};
  for (size_t i = 0; i < CHUNK; i++) {
    for (size_t j = 0; j < STRIP; j++) max[j] = -INFINITY, sum[j] = 0;
    float was = s[i * STRIP + i % STRIP];
    s[i * STRIP + i % STRIP] = NAN;
    scores()->softmax(p, &(tpti_score_state){max, sum, NULL, STRIP}, &chunk);
    for (size_t j = 0; j < STRIP; j++) ck_assert(isnan(sum[j]) == (j == i % STRIP));
    s[i * STRIP + i % STRIP] = was;
  }
  free(s), free(p);
}
END_TEST

/* ---- out of the tiles ---- */

static void check_finish(size_t queries, size_t E) {
  size_t deep = whole(E), stride = E + 3;
  float *in = floats(deep * STRIP, 1), *max = floats(STRIP, 2), *sum = floats(STRIP, 3);
  float *y = floats(STRIP * stride, 4), *y_before = floats(STRIP * stride, 4), lse[STRIP];
  double want[STRIP];
  for (size_t j = 0; j < STRIP; j++) sum[j] = j == 0 ? 1 : exp2f((float)j / 3) + sum[j] / 8;
  float *in_before = floats(deep * STRIP, 1);
  scores()->finish(y, stride, lse, &(tpti_score_state){max, sum, in, deep}, queries, E, FACTOR);
  for (size_t j = 0; j < STRIP; j++) {
    want[j] = (double)max[j] * (double)FACTOR * log(2) + log((double)sum[j]);
    for (size_t e = 0; e < stride; e++) {
      double x = (double)y_before[j * stride + e];
      if (j < queries && e < E) x = (double)in_before[e * STRIP + j] / (double)sum[j];
      ck_assert_double_eq_tol((double)y[j * stride + e], x, 2e-7);
    }
  }
  tpti_test_near(lse, want, STRIP, NEAR);
  free(in), free(max), free(sum), free(y), free(y_before), free(in_before);
}

static void check_turn(size_t queries, size_t E, bool add) {
  size_t stride = E + 3;
  float *in = floats(whole(E) * STRIP, 1), *out = floats(STRIP * stride, 2);
  float *want = floats(STRIP * stride, 2);
  for (size_t c = 0; c < STRIP; c++)
    for (size_t e = 0, q = tpti_score_query(c); e < E && q < queries; e++)
      want[q * stride + e] = (add ? want[q * stride + e] : 0) + in[e * STRIP + c];
  scores()->turn(out, stride, in, queries, E, add);
  ck_assert_mem_eq(out, want, STRIP * stride * sizeof *out);
  free(in), free(out), free(want);
}

START_TEST(out_of_the_tiles) {
  for (size_t queries = 1; queries <= STRIP; queries += queries < 3 ? 1 : 5)
    for (size_t i = 0; i < SIZE_COUNT; i++) {
      check_finish(queries, SIZES[i]);
      check_turn(queries, SIZES[i], false), check_turn(queries, SIZES[i], true);
    }
}
END_TEST

/* ---- the gradient ---- */

static void check_gradient(size_t queries, ptrdiff_t lead) {
  enum { SIZE = STRIP * STRIP, STEP = 3 };
  float *s = floats(SIZE, 1), *dp = floats(SIZE, 2), *lse = floats(STRIP, 3);
  float *delta = floats(STRIP, 4);
  uint16_t *p = tiles(2 * STEP), *ds = tiles(2 * STEP), *turned = tiles(2 * STEP);
  scores()->gradient(&(tpti_score_square){s, dp, lse, delta, queries, lead, FACTOR, 0.25f, p, ds,
                                          turned, STEP, STEP});
  for (size_t i = 0; i < STRIP; i++)
    for (size_t c = 0; c < STRIP; c++) {
      size_t q = tpti_score_query(c), at = i * STRIP + q;
      bool seen = sees(q, i, lead) && q < queries;
      double x = exp((double)s[at] * (double)FACTOR * log(2) - (double)lse[q]);
      double want_p = seen ? x : 0, off = (double)dp[at] - (double)delta[q];
      double want = want_p * off * 0.25, got = (double)wide(ds[place(i, q, STEP, false)]);
      near_bf16(p[place(i, q, STEP, false)], want_p);
      /* half a unit of bf16, and float32's error of a difference */
      ck_assert(fabs(got - want) <= fabs(want) / 256 + want_p * 1e-6);
      ck_assert_uint_eq(turned[place(c, i, STEP, true)], ds[place(i, q, STEP, false)]);
    }
  for (size_t line = 0; line < 2; line++) /* between the lines */
    for (size_t i = TILE; i < STEP * TILE; i++)
      ck_assert(p[line * STEP * TILE + i] == UNTOUCHED && ds[line * STEP * TILE + i] == UNTOUCHED &&
                turned[line * STEP * TILE + i] == UNTOUCHED);
  free(s), free(dp), free(lse), free(delta), free(p), free(ds), free(turned);
}

START_TEST(gradient) {
  for (size_t i = 0; i < LEAD_COUNT; i++)
    for (size_t queries = 1; queries <= STRIP; queries += queries < 3 ? 1 : 5)
      check_gradient(queries, LEADS[i]), check_gradient(STRIP, LEADS[i]);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("attention amx");
  TCase *c = tcase_create("attention amx");
  tcase_add_loop_test(c, packing, 0, 2);
  tcase_add_test(c, products);
  tcase_add_test(c, softmax);
  tcase_add_test(c, a_nan_shows_everywhere);
  tcase_add_test(c, out_of_the_tiles);
  tcase_add_test(c, gradient);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  if (tpti_amx_permit() && tpti_scores_amx()) return tpti_test_main(suite());
  srunner_free(srunner_create(suite()));
  return tpti_test_skip("this processor has no tiles for bf16");
}
