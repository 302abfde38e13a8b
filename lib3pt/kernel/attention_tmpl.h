/* Attention's inner loops on vectors (kernel/attention.h). */
#include <math.h>
#include <stdbool.h>

#include "kernel/attention.h"

/* What row `row` sees of the scores. */
static size_t score_seen(const tpti_score_shape *shape, size_t row) {
  ptrdiff_t seen = shape->seen + (ptrdiff_t)row;
  if (seen <= 0) return 0;
  return (size_t)seen < shape->cols ? (size_t)seen : shape->cols;
}

/* Zeros from column `seen` to `cols`. */
static void score_blank(float *s, size_t seen, size_t cols) {
  for (; seen < cols; seen += V_LANES)
    v_store_n(s + seen, v_zero(), cols - seen < V_LANES ? cols - seen : V_LANES);
}

/* The largest of s [n], n >= 1; a NaN may be passed over, exp shows it. */
static float score_max(const float *s, size_t n) {
  v_f32 a = v_set1(s[0]), b = a;
  size_t u = 0;
  for (; u + 2 * V_LANES <= n; u += 2 * V_LANES) {
    a = v_max(v_load(s + u), a);
    b = v_max(v_load(s + u + V_LANES), b);
  }
  for (; u < n; u += V_LANES) {
    v_mask m = v_mask_n(n - u < V_LANES ? n - u : V_LANES);
    a = v_max(v_select(m, v_load_mask(s + u, m), a), a);
  }
  return v_hmax(v_max(a, b));
}

/* s = exp(scale s - max); the result is their sum. */
static float score_exp(float *s, size_t n, float scale, float max) {
  v_f32 factor = v_set1(scale), top = v_set1(max), a = v_zero(), b = a;
  size_t u = 0;
  for (; u + 2 * V_LANES <= n; u += 2 * V_LANES) {
    v_f32 x = v_exp(v_sub(v_mul(v_load(s + u), factor), top));
    v_f32 y = v_exp(v_sub(v_mul(v_load(s + u + V_LANES), factor), top));
    v_store(s + u, x), v_store(s + u + V_LANES, y);
    a = v_add(a, x), b = v_add(b, y);
  }
  for (; u < n; u += V_LANES) {
    v_mask m = v_mask_n(n - u < V_LANES ? n - u : V_LANES);
    v_f32 x = v_exp(v_sub(v_mul(v_load_mask(s + u, m), factor), top));
    v_store_mask(s + u, x, m);
    a = v_add(a, v_select(m, x, v_zero()));
  }
  return v_sum(v_add(a, b));
}

static void score_rescale(float *y, size_t E, float by) {
  v_f32 factor = v_set1(by);
  size_t e = 0;
  for (; e + V_LANES <= E; e += V_LANES) v_store(y + e, v_mul(v_load(y + e), factor));
  if (e < E) v_store_n(y + e, v_mul(v_load_n(y + e, E - e), factor), E - e);
}

static void score_softmax(float *s, const tpti_score_sums *to, float scale,
                          const tpti_score_shape *shape) {
  for (size_t i = 0; i < shape->rows; i++, s += shape->stride) {
    size_t seen = score_seen(shape, i);
    score_blank(s, seen, shape->cols);
    if (seen == 0) continue;
    float before = to->max[i], top = score_max(s, seen) * scale;
    if (!(top > before)) top = before;
    float sum = score_exp(s, seen, scale, top);
    to->max[i] = top;
    if (before == top || before == -INFINITY) { /* the first keys, or no new maximum */
      to->sum[i] += sum;
      continue;
    }
    float factor = expf(before - top);
    to->sum[i] = to->sum[i] * factor + sum;
    score_rescale(to->y + i * to->y_stride, to->E, factor);
  }
}

static void score_finish(double *lse, size_t step, const tpti_score_sums *to, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    score_rescale(to->y + i * to->y_stride, to->E, 1.0f / to->sum[i]);
    if (lse) lse[i * step] = (double)to->max[i] + log((double)to->sum[i]);
  }
}

/* ---- scores turned over: TPTI_SCORE_COLUMNS columns, PAIR of them at a time ---- */

enum { PAIR = 2 * V_LANES, SOON_LINE = 64 / sizeof(float) };
_Static_assert(TPTI_SCORE_COLUMNS % PAIR == 0, "a strip is whole pairs of vectors");

/* The numbers of the columns from `first` on. */
static v_f32 score_columns(size_t first) {
  static const float at[TPTI_SCORE_COLUMNS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                               22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  return v_load(at + first);
}

/* Rows that all columns from `first` on see; past them each row is seen by one column less. */
static size_t strip_whole(const tpti_score_strip *strip, size_t first) {
  ptrdiff_t seen = strip->lead + (ptrdiff_t)first + 1;
  if (seen <= 0) return 0;
  return (size_t)seen < strip->keys ? (size_t)seen : strip->keys;
}

/* The first column that sees row i, as a number to compare with score_columns. */
ALWAYS_INLINE v_f32 strip_border(const tpti_score_strip *strip, size_t i) {
  return v_set1((float)((ptrdiff_t)i - strip->lead));
}

/* exp(x) for x up to 0 or little more; a NaN stays one. As v_exp with less work: x / ln 2 is n + r
 * with |r| <= 1/2, where the rounded 1 / ln 2 costs 1e-8 |x|, which is little beside the 6e-8 of
 * the scores that x comes from; 2^r = 1 + r q(r), q of degree 5 with an error of 0.03 of half a
 * unit in the last place. */
ALWAYS_INLINE v_f32 strip_weight(v_f32 x) {
  const v_f32 whole = v_set1(0x1.8p23f), log2_e = v_set1(0x1.715476p+0f);
  x = v_max(v_set1(-104.0f), x); /* beyond, it is 0 */
  v_f32 n = v_sub(v_fma(x, log2_e, whole), whole), r = v_fms(x, log2_e, n);
  v_f32 q = v_set1(0x1.41fbbcp-13f);
  q = v_fma(q, r, v_set1(0x1.5f3e54p-10f));
  q = v_fma(q, r, v_set1(0x1.3b2d4cp-7f));
  q = v_fma(q, r, v_set1(0x1.c6aee8p-5f));
  q = v_fma(q, r, v_set1(0x1.ebfbdcp-3f));
  q = v_fma(q, r, v_set1(0x1.62e43p-1f));
  return v_scale2(v_fma(q, r, v_set1(1.0f)), n);
}

/* What is left to be asked for, `lines` of each kind while a row of scores is at work. */
typedef struct soon_lines {
  size_t row, e, lines;
} soon_lines;

ALWAYS_INLINE soon_lines soon_start(const tpti_score_strip *strip) {
  const tpti_score_soon *soon = &strip->soon;
  size_t lines = soon->rows * ((soon->E + SOON_LINE - 1) / SOON_LINE);
  return (soon_lines){.lines = (lines + strip->keys - 1) / strip->keys};
}

ALWAYS_INLINE void soon_ask(soon_lines *left, const tpti_score_soon *soon) {
  for (size_t i = 0; i < left->lines && left->row < soon->rows; i++) {
    UNROLL
    for (size_t k = 0; k < 4; k++) {
      if (soon->at[k]) __builtin_prefetch(soon->at[k] + left->row * soon->stride[k] + left->e);
    }
    left->e += SOON_LINE;
    if (left->e >= soon->E) left->e = 0, left->row++;
  }
}

/* A pair's largest scores, at least what top was. Four sums each, as one would wait for itself. */
ALWAYS_INLINE void strip_max(v_f32 top[2], const float *s, size_t first,
                             const tpti_score_strip *strip) {
  size_t whole = strip_whole(strip, first), i = 0;
  v_f32 a[4][2];
  UNROLL
  for (size_t r = 0; r < 4; r++) a[r][0] = top[0], a[r][1] = top[1];
  for (; i + 4 <= whole; i += 4) {
    UNROLL
    for (size_t r = 0; r < 4; r++) {
      const float *row = s + (i + r) * strip->stride;
      a[r][0] = v_max(v_load(row), a[r][0]), a[r][1] = v_max(v_load(row + V_LANES), a[r][1]);
    }
  }
  const v_f32 low = score_columns(first), high = score_columns(first + V_LANES);
  const v_f32 none = v_set1(-INFINITY);
  for (; i < strip->keys; i++) {
    const float *row = s + i * strip->stride;
    v_f32 border = strip_border(strip, i);
    a[0][0] = v_max(v_select(v_le(border, low), v_load(row), none), a[0][0]);
    a[0][1] = v_max(v_select(v_le(border, high), v_load(row + V_LANES), none), a[0][1]);
  }
  UNROLL
  for (size_t j = 0; j < 2; j++) top[j] = v_max(v_max(a[0][j], a[1][j]), v_max(a[2][j], a[3][j]));
}

/* A pair's scores become weights; the result is added to sum. */
ALWAYS_INLINE void strip_exp(v_f32 sum[2], float *s, const v_f32 top[2], size_t first,
                             const tpti_score_strip *strip, soon_lines *soon) {
  const v_f32 factor = v_set1(strip->scale);
  const v_f32 columns[2] = {score_columns(first), score_columns(first + V_LANES)};
  size_t whole = strip_whole(strip, first), i = 0;
  for (; i < whole; i++, s += strip->stride) {
    if (soon->lines) soon_ask(soon, &strip->soon);
    UNROLL
    for (size_t j = 0; j < 2; j++) {
      v_f32 p = strip_weight(v_fms(v_load(s + j * V_LANES), factor, top[j]));
      v_store(s + j * V_LANES, p);
      sum[j] = v_add(sum[j], p);
    }
  }
  for (; i < strip->keys; i++, s += strip->stride) {
    if (soon->lines) soon_ask(soon, &strip->soon);
    v_f32 border = strip_border(strip, i);
    UNROLL
    for (size_t j = 0; j < 2; j++) {
      v_f32 p = strip_weight(v_fms(v_load(s + j * V_LANES), factor, top[j]));
      p = v_select(v_le(border, columns[j]), p, v_zero());
      v_store(s + j * V_LANES, p);
      sum[j] = v_add(sum[j], p);
    }
  }
}

static void strip_softmax(float *s, const tpti_score_sums *to, size_t rows,
                          const tpti_score_strip *strip) {
  float by[TPTI_SCORE_COLUMNS];
  soon_lines soon = soon_start(strip);
  const v_f32 scale = v_set1(strip->scale), none = v_set1(-INFINITY);
  for (size_t c = 0; c < TPTI_SCORE_COLUMNS; c += PAIR) {
    v_f32 top[2] = {none, none}, sum[2] = {v_zero(), v_zero()}, factor[2];
    strip_max(top, s + c, c, strip);
    for (size_t j = 0; j < 2; j++) {
      v_f32 before = v_load(to->max + c + j * V_LANES), new = v_mul(top[j], scale);
      top[j] = v_max(new, before);
      factor[j] = v_select(v_lt(before, new), v_exp(v_sub(before, new)), v_set1(1.0f));
      factor[j] = v_select(v_lt(none, before), factor[j], v_set1(1.0f)); /* nothing to scale */
      v_store(by + c + j * V_LANES, factor[j]);
      v_store(to->max + c + j * V_LANES, top[j]);
    }
    strip_exp(sum, s + c, top, c, strip, &soon);
    for (size_t j = 0; j < 2; j++) {
      float *at = to->sum + c + j * V_LANES;
      v_store(at, v_fma(v_load(at), factor[j], sum[j]));
    }
  }
  for (size_t j = 0; to->y && j < rows; j++)
    if (by[j] != 1) score_rescale(to->y + j * to->y_stride, to->E, by[j]);
}

/* What a vector of queries brings along; mean is scale delta. */
typedef struct gradient_ends {
  v_f32 lse, rest, mean;
} gradient_ends;

ALWAYS_INLINE gradient_ends gradient_ends_of(const tpti_score_ends *from, size_t first,
                                             float scale) {
  return (gradient_ends){v_load(from->lse + first), v_load(from->rest + first),
                         v_mul(v_load(from->delta + first), v_set1(scale))};
}

/* One vector of a row: p where the scores are, ds where dp is. */
ALWAYS_INLINE void gradient_vector(float *s, float *dp, const gradient_ends *of, float scale,
                                   bool masked, v_mask m) {
  v_f32 x = v_sub(v_fms(v_load(s), v_set1(scale), of->lse), of->rest);
  v_f32 p = strip_weight(x);
  v_f32 ds = v_mul(p, v_fms(v_load(dp), v_set1(scale), of->mean));
  v_store(s, masked ? v_select(m, p, v_zero()) : p);
  v_store(dp, masked ? v_select(m, ds, v_zero()) : ds);
}

static void strip_gradient(float *s, float *dp, const tpti_score_ends *from,
                           const tpti_score_strip *strip) {
  soon_lines soon = soon_start(strip);
  for (size_t c = 0; c < TPTI_SCORE_COLUMNS; c += PAIR) {
    size_t whole = strip_whole(strip, c), other = c + V_LANES;
    const v_f32 low = score_columns(c), high = score_columns(other);
    const gradient_ends of[2] = {gradient_ends_of(from, c, strip->scale),
                                 gradient_ends_of(from, other, strip->scale)};
    for (size_t i = 0; i < strip->keys; i++) {
      float *a = s + i * strip->stride + c, *b = dp + i * strip->stride + c;
      v_f32 border = strip_border(strip, i);
      bool masked = i >= whole;
      if (soon.lines) soon_ask(&soon, &strip->soon);
      if (masked) {
        gradient_vector(a, b, &of[0], strip->scale, true, v_le(border, low));
        gradient_vector(a + V_LANES, b + V_LANES, &of[1], strip->scale, true, v_le(border, high));
      } else {
        gradient_vector(a, b, &of[0], strip->scale, false, v_mask_n(0));
        gradient_vector(a + V_LANES, b + V_LANES, &of[1], strip->scale, false, v_mask_n(0));
      }
    }
  }
}

static void copy_rows(float *out, const float *in, size_t in_row, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++, in += in_row, out += E) {
    size_t e = 0;
    for (; e + V_LANES <= E; e += V_LANES) v_store(out + e, v_load(in + e));
    if (e < E) v_store_n(out + e, v_load_n(in + e, E - e), E - e);
  }
}

/* n channels, n <= V_LANES, of V_LANES rows added to their sums. */
ALWAYS_INLINE void dots_step(v_f32 sum[V_LANES], const tpti_row_dots *d, const float *x,
                             const float *y, const size_t n) {
  UNROLL
  for (size_t r = 0; r < V_LANES; r++) {
    const float *at = x + r * d->x_stride, *by = y + r * d->y_stride;
    sum[r] = n == V_LANES ? v_fma(v_load(at), v_load(by), sum[r])
                          : v_fma(v_load_n(at, n), v_load_n(by, n), sum[r]);
  }
}

/* V_LANES rows: turned over, their lanes add up together, in the order of v_sum. */
ALWAYS_INLINE v_f32 dots_square(const tpti_row_dots *d, const float *x, const float *y) {
  v_f32 sum[V_LANES];
  UNROLL
  for (size_t r = 0; r < V_LANES; r++) sum[r] = v_zero();
  size_t e = 0;
  for (; e + V_LANES <= d->E; e += V_LANES) dots_step(sum, d, x + e, y + e, V_LANES);
  if (e < d->E) dots_step(sum, d, x + e, y + e, d->E - e);
  v_transpose(sum);
  for (size_t half = V_LANES / 2; half > 0; half /= 2)
    for (size_t r = 0; r < half; r++) sum[r] = v_add(sum[r], sum[r + half]);
  return sum[0];
}

static float dots_single(const float *x, const float *y, size_t E) {
  v_f32 sum = v_zero();
  size_t e = 0;
  for (; e + V_LANES <= E; e += V_LANES) sum = v_fma(v_load(x + e), v_load(y + e), sum);
  if (e < E) sum = v_fma(v_load_n(x + e, E - e), v_load_n(y + e, E - e), sum);
  return v_sum(sum);
}

static void row_dots(const tpti_row_dots *d) {
  const float *x = d->x, *y = d->y;
  float *dots = d->dots;
  size_t left = d->rows;
  for (; left >= V_LANES; left -= V_LANES) {
    float square[V_LANES];
    v_store(square, dots_square(d, x, y));
    for (size_t r = 0; r < V_LANES; r++) dots[r * d->dots_stride] = square[r];
    x += V_LANES * d->x_stride, y += V_LANES * d->y_stride, dots += V_LANES * d->dots_stride;
  }
  for (; left > 0; left--) {
    *dots = dots_single(x, y, d->E);
    x += d->x_stride, y += d->y_stride, dots += d->dots_stride;
  }
}
