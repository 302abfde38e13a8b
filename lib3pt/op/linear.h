/* Linear maps without bias: y = x W^T, W [out, in].
 *
 *   dx = dy W        dW += dy^T x
 *
 * The products need run->pack: the most that tpti_linear_pack says for the shapes in use. */
#ifndef TPTI_OP_LINEAR_H
#define TPTI_OP_LINEAR_H

#include "op/op.h"

/* y [M, out] = base + x W^T; base [M, out] may be NULL (0) or y itself (y adds). */
void tpti_linear_forward(tpti_run *run, float *y, const float *base, const float *x, const float *w,
                         size_t M, size_t out, size_t in);

/* dx [M, in] = base + dy W; base [M, in] may be NULL (0) or dx itself. */
void tpti_linear_backward_input(tpti_run *run, float *dx, const float *base, const float *dy,
                                const float *w, size_t M, size_t out, size_t in);

/* dw [out, in] adds dy^T x. */
void tpti_linear_backward_weight(tpti_run *run, float *dw, const float *dy, const float *x,
                                 size_t M, size_t out, size_t in);

/* As forward, for few rows: bound by reading W once. A row's bits are those it has alone, whatever
 * M. */
void tpti_linear_rows(tpti_run *run, float *y, const float *base, const float *x, const float *w,
                      size_t M, size_t out, size_t in);

/* Bytes of run->pack that forward (training false) or forward and both backwards need: partial sums
 * of products with a long sum and a small result; at most 3 MiB, 0 for small shapes (pack may then
 * be NULL), never less for a larger M. */
size_t tpti_linear_pack(size_t M, size_t out, size_t in, bool training);

#endif
