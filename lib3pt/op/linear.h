/* Linear maps without bias: y = x W^T, W [out, in].
 *
 *   dx = dy W        dW = dy^T x
 *
 * The products need run->pack: the most that tpti_linear_pack says for the shapes in use. */
#ifndef TPTI_OP_LINEAR_H
#define TPTI_OP_LINEAR_H

#include "op/op.h"

/* A weight W, and what products read instead where it was packed for many of them; NULL: it was
 * not. */
typedef struct tpti_weight {
  const float *w;
  const void *forward; /* by tpti_linear_pack_forward */
  const void *input;   /* by tpti_linear_pack_input */
} tpti_weight;

/* y [M, out] = base + x W^T; base [M, out] may be NULL (0) or y itself (y adds). */
void tpti_linear_forward(tpti_run *run, float *y, const float *base, const float *x, tpti_weight w,
                         size_t M, size_t out, size_t in);

/* dx [M, in] = base + dy W; base [M, in] may be NULL (0) or dx itself. */
void tpti_linear_backward_input(tpti_run *run, float *dx, const float *base, const float *dy,
                                tpti_weight w, size_t M, size_t out, size_t in);

/* W for forward, and for backward_input: each tpti_linear_packed_bytes. */
void tpti_linear_pack_forward(tpti_run *run, void *packed, const float *w, size_t out, size_t in);
void tpti_linear_pack_input(tpti_run *run, void *packed, const float *w, size_t out, size_t in);
size_t tpti_linear_packed_bytes(tpti_precision precision, size_t out, size_t in);

/* dw [out, in] = base + dy^T x; base [out, in] may be NULL (0) or dw itself. */
void tpti_linear_backward_weight(tpti_run *run, float *dw, const float *base, const float *dy,
                                 const float *x, size_t M, size_t out, size_t in);

/* Bytes of run->pack that forward (training false) or forward and both backwards need: partial sums
 * of products with a long sum and a small result, packed operands; 0 for small shapes in float32
 * (pack may then be NULL), never less for a larger M. */
size_t tpti_linear_pack(tpti_precision precision, size_t M, size_t out, size_t in, bool training);

#endif
