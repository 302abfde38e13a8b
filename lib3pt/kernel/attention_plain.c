/* Attention's inner loops, one element after the other: the reference of every other variant. */
#include "kernel/attention.h"

#include <math.h>

static size_t seen_by(const tpti_score_shape *shape, size_t row) {
  ptrdiff_t seen = shape->seen + (ptrdiff_t)row;
  if (seen <= 0) return 0;
  return (size_t)seen < shape->cols ? (size_t)seen : shape->cols;
}

static void softmax_row(float *s, const tpti_score_sums *to, size_t row, float scale, size_t seen) {
  float before = to->max[row], top = before, sum = 0;
  for (size_t u = 0; u < seen; u++) top = s[u] * scale > top ? s[u] * scale : top;
  for (size_t u = 0; u < seen; u++) sum += s[u] = expf(s[u] * scale - top);
  float factor = expf(before - top);
  to->max[row] = top;
  to->sum[row] = to->sum[row] * factor + sum;
  if (before == -INFINITY) return;
  for (size_t e = 0; e < to->E; e++) to->y[row * to->y_stride + e] *= factor;
}

void tpti_score_softmax_plain(float *s, const tpti_score_sums *to, float scale,
                              const tpti_score_shape *shape) {
  for (size_t i = 0; i < shape->rows; i++, s += shape->stride) {
    size_t seen = seen_by(shape, i);
    if (seen > 0) softmax_row(s, to, i, scale, seen);
    for (size_t u = seen; u < shape->cols; u++) s[u] = 0;
  }
}

void tpti_score_finish_plain(float *lse, size_t step, const tpti_score_sums *to, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t e = 0; e < to->E; e++) to->y[i * to->y_stride + e] /= to->sum[i];
    if (lse) lse[i * step] = to->max[i] + logf(to->sum[i]);
  }
}

void tpti_score_gradient_plain(float *s, float *dp, const float *lse, const float *delta,
                               size_t step, float scale, const tpti_score_shape *shape) {
  for (size_t i = 0; i < shape->rows; i++, s += shape->stride, dp += shape->stride) {
    size_t seen = seen_by(shape, i);
    for (size_t u = 0; u < seen; u++) {
      s[u] = expf(s[u] * scale - lse[i * step]);
      dp[u] = s[u] * (dp[u] - delta[i * step]) * scale;
    }
    for (size_t u = seen; u < shape->cols; u++) s[u] = dp[u] = 0;
  }
}

void tpti_row_dots_plain(const tpti_row_dots *d) {
  for (size_t i = 0; i < d->rows; i++) {
    const float *x = d->x + i * d->x_stride, *y = d->y + i * d->y_stride;
    float sum = 0;
    for (size_t e = 0; e < d->E; e++) sum += x[e] * y[e];
    d->dots[i * d->dots_stride] = sum;
  }
}
