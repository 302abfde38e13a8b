/* Attention's inner loops on vectors (kernel/attention.h). */
#include <math.h>

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

static void score_finish(float *lse, size_t step, const tpti_score_sums *to, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    score_rescale(to->y + i * to->y_stride, to->E, 1.0f / to->sum[i]);
    if (lse) lse[i * step] = to->max[i] + logf(to->sum[i]);
  }
}

static void score_gradient(float *s, float *dp, const float *lse, const float *delta, size_t step,
                           float scale, const tpti_score_shape *shape) {
  v_f32 factor = v_set1(scale);
  for (size_t i = 0; i < shape->rows; i++, s += shape->stride, dp += shape->stride) {
    size_t seen = score_seen(shape, i), u = 0;
    v_f32 top = v_set1(lse[i * step]), mean = v_set1(delta[i * step]);
    score_blank(s, seen, shape->cols), score_blank(dp, seen, shape->cols);
    for (; u + V_LANES <= seen; u += V_LANES) {
      v_f32 p = v_exp(v_sub(v_mul(v_load(s + u), factor), top));
      v_store(s + u, p);
      v_store(dp + u, v_mul(v_mul(p, v_sub(v_load(dp + u), mean)), factor));
    }
    if (u == seen) continue;
    v_mask m = v_mask_n(seen - u);
    v_f32 p = v_exp(v_sub(v_mul(v_load_mask(s + u, m), factor), top));
    v_store_mask(s + u, p, m);
    v_store_mask(dp + u, v_mul(v_mul(p, v_sub(v_load_mask(dp + u, m), mean)), factor), m);
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
