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

/* When all keys are through: y /= sum, lse = max + ln sum; lse lies `step` numbers apart from row
 * to row, NULL: not wanted. */
typedef void tpti_score_finish_fn(double *lse, size_t step, const tpti_score_sums *to, size_t rows);

/* Scores turned over: rows are keys, columns TPTI_SCORE_COLUMNS queries. Column j sees the first
 * `lead` + j + 1 rows; what it does not see may be
 * anything, and becomes 0. */
enum { TPTI_SCORE_COLUMNS = 32 };

/* Rows of E floats that will be needed soon, but lie too far apart for the processor to guess:
 * while it computes, a kernel asks for them, line by line. They may be any; NULL: none. */
typedef struct tpti_score_soon {
  const float *at[4];
  size_t stride[4], rows, E;
} tpti_score_soon;

typedef struct tpti_score_strip {
  size_t keys, stride; /* rows; floats from row to row */
  ptrdiff_t lead;      /* at least 1 - TPTI_SCORE_COLUMNS */
  float scale;
  tpti_score_soon soon;
} tpti_score_strip;

/* As score_softmax for every column; max and sum are [TPTI_SCORE_COLUMNS], and y, which has `rows`
 * rows, may be NULL: nothing was seen before. */
typedef void tpti_strip_softmax_fn(float *s, const tpti_score_sums *to, size_t rows,
                                   const tpti_score_strip *strip);

/* What the gradient of TPTI_SCORE_COLUMNS queries begins from: lse + rest = ln sum exp(scale s), as
 * one float would be off by up to 6e-8 of large scores, and all weights of its query with it; and
 * delta = dy . y. */
typedef struct tpti_score_ends {
  const float *lse, *rest, *delta;
} tpti_score_ends;

/* s = p = exp(scale s - lse - rest), dp = scale p (dp - delta). */
typedef void tpti_strip_gradient_fn(float *s, float *dp, const tpti_score_ends *from,
                                    const tpti_score_strip *strip);

/* out [rows, E] = in, whose rows lie in_row floats apart. */
typedef void tpti_copy_rows_fn(float *out, const float *in, size_t in_row, size_t rows, size_t E);

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
tpti_strip_softmax_fn tpti_strip_softmax_plain;
tpti_strip_gradient_fn tpti_strip_gradient_plain;
tpti_copy_rows_fn tpti_copy_rows_plain;
tpti_row_dots_fn tpti_row_dots_plain;

#endif
