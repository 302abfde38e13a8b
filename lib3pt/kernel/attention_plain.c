/* Attention's inner loops, one element after the other: the reference of every other variant. */
#include "kernel/attention.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static size_t within(ptrdiff_t seen, size_t most) {
  if (seen <= 0) return 0;
  return (size_t)seen < most ? (size_t)seen : most;
}

/* The first `seen` of scores that lie `step` apart; y, where not NULL, is row `row` of to->y. */
static void softmax_line(float *s, size_t step, size_t seen, const tpti_score_sums *to, size_t row,
                         float *y, float scale) {
  float before = to->max[row], top = before, sum = 0;
  if (seen == 0) return;
  for (size_t u = 0; u < seen; u++) top = s[u * step] * scale > top ? s[u * step] * scale : top;
  for (size_t u = 0; u < seen; u++) sum += s[u * step] = expf(s[u * step] * scale - top);
  float factor = expf(before - top);
  to->max[row] = top;
  to->sum[row] = to->sum[row] * factor + sum;
  if (before == -INFINITY || !y) return;
  for (size_t e = 0; e < to->E; e++) y[e] *= factor;
}

void tpti_score_softmax_plain(float *s, const tpti_score_sums *to, float scale,
                              const tpti_score_shape *shape) {
  for (size_t i = 0; i < shape->rows; i++, s += shape->stride) {
    size_t seen = within(shape->seen + (ptrdiff_t)i, shape->cols);
    softmax_line(s, 1, seen, to, i, to->y + i * to->y_stride, scale);
    for (size_t u = seen; u < shape->cols; u++) s[u] = 0;
  }
}

void tpti_strip_softmax_plain(float *s, const tpti_score_sums *to, size_t rows,
                              const tpti_score_strip *strip) {
  for (size_t j = 0; j < TPTI_SCORE_COLUMNS; j++) {
    size_t seen = within(strip->lead + (ptrdiff_t)j + 1, strip->keys);
    float *y = to->y && j < rows ? to->y + j * to->y_stride : NULL;
    softmax_line(s + j, strip->stride, seen, to, j, y, strip->scale);
    for (size_t u = seen; u < strip->keys; u++) s[u * strip->stride + j] = 0;
  }
}

void tpti_score_finish_plain(double *lse, size_t step, const tpti_score_sums *to, size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t e = 0; e < to->E; e++) to->y[i * to->y_stride + e] /= to->sum[i];
    if (lse) lse[i * step] = (double)to->max[i] + log((double)to->sum[i]);
  }
}

void tpti_strip_gradient_plain(float *s, float *dp, const tpti_score_ends *from,
                               const tpti_score_strip *strip) {
  for (size_t u = 0; u < strip->keys; u++, s += strip->stride, dp += strip->stride)
    for (size_t j = 0; j < TPTI_SCORE_COLUMNS; j++) {
      bool seen = (ptrdiff_t)u <= strip->lead + (ptrdiff_t)j;
      s[j] = seen ? expf(s[j] * strip->scale - from->lse[j] - from->rest[j]) : 0;
      dp[j] = seen ? s[j] * (dp[j] - from->delta[j]) * strip->scale : 0;
    }
}

void tpti_copy_rows_plain(float *out, const float *in, size_t in_row, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++) memcpy(out + i * E, in + i * in_row, E * sizeof *out);
}

void tpti_row_dots_plain(const tpti_row_dots *d) {
  for (size_t i = 0; i < d->rows; i++) {
    const float *x = d->x + i * d->x_stride, *y = d->y + i * d->y_stride;
    float sum = 0;
    for (size_t e = 0; e < d->E; e++) sum += x[e] * y[e];
    d->dots[i * d->dots_stride] = sum;
  }
}
