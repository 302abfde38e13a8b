/* Inner loops of attention (op/attention.h) on a tile of scores: rows are queries, columns keys. */
#ifndef TPTI_KERNEL_ATTENTION_H
#define TPTI_KERNEL_ATTENTION_H

#include <stddef.h>

/* Row i sees the first `seen` + i columns, at most cols and at least none. */
typedef struct tpti_score_shape {
  size_t rows, cols, stride; /* floats from row to row */
  ptrdiff_t seen;
} tpti_score_shape;

/* The sums of a query so far, y [rows, E] among them. */
typedef struct tpti_score_sums {
  float *max, *sum; /* [rows]; -inf and 0 before the first key, and y is then not read */
  float *y;
  size_t y_stride, E;
} tpti_score_sums;

/* s = exp(scale s - max), 0 where a row does not see; max, sum and y run on: y is multiplied by
 * what the new maximum asks for, and the caller adds s v. */
typedef void tpti_score_softmax_fn(float *s, const tpti_score_sums *to, float scale,
                                   const tpti_score_shape *shape);

/* When all keys are through: y /= sum, lse = max + ln sum; lse lies `step` floats apart from row to
 * row, NULL: not wanted. */
typedef void tpti_score_finish_fn(float *lse, size_t step, const tpti_score_sums *to, size_t rows);

/* s = p = exp(scale s - lse), dp = scale p (dp - delta); both 0 where a row does not see. lse and
 * delta lie `step` floats apart from row to row. */
typedef void tpti_score_gradient_fn(float *s, float *dp, const float *lse, const float *delta,
                                    size_t step, float scale, const tpti_score_shape *shape);

/* dots [rows] = x_i . y_i for rows of E, floats between rows as given; y_stride 0: one y for all. A
 * row's bits do not depend on the other rows. */
typedef struct tpti_row_dots {
  float *dots;
  const float *x, *y;
  size_t dots_stride, x_stride, y_stride, rows, E;
} tpti_row_dots;

typedef void tpti_row_dots_fn(const tpti_row_dots *d);

tpti_score_softmax_fn tpti_score_softmax_plain;
tpti_score_finish_fn tpti_score_finish_plain;
tpti_score_gradient_fn tpti_score_gradient_plain;
tpti_row_dots_fn tpti_row_dots_plain;

#endif
