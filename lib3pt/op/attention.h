/* Causal attention with grouped queries: head h reads key/value head h / (H / K).
 *
 *   s_tu = q_t . k_u / sqrt(E)   for u <= t
 *   p_t  = softmax(s_t)
 *   y_t  = sum_u p_tu v_u
 *
 * backward, with delta_t = dy_t . y_t:
 *
 *   dv_u  = sum_t p_tu dy_t
 *   ds_tu = p_tu (dy_t . v_u - delta_t) / sqrt(E)
 *   dq_t  = sum_u ds_tu k_u
 *   dk_u  = sum_t ds_tu q_t
 *
 * Blocks of positions with a running maximum and sum: nothing of size T x T is ever held, and
 * blocks above the diagonal are skipped. Position 0 sees only itself: its ds is exactly 0 and is
 * not computed. */
#ifndef TPTI_OP_ATTENTION_H
#define TPTI_OP_ATTENTION_H

#include "op/op.h"

/* Strides are floats between positions; what lies between heads E and the next position is neither
 * read nor written, so that q, k and v may be columns of one array. */
typedef struct tpti_attention {
  size_t B, T;            /* sequences, query positions of each */
  size_t first;           /* position of the first query: keys 0 .. first + T - 1 are there */
  size_t H, K, E;         /* K | H */
  size_t q_stride;        /* of q and dq: at least H E; a sequence is T q_stride */
  size_t kv_stride;       /* of k, v, dk and dv: at least K E */
  size_t y_stride;        /* of y and dy: at least H E; a sequence is T y_stride */
  size_t kv_batch_stride; /* floats between sequences of k, v, dk and dv */
} tpti_attention;

/* y [B, T, H E]; lse [B, T, H] = ln sum_u exp(s_tu), in double as backward's p = exp(s - lse) would
 * show what a float loses of large scores, NULL: not wanted; q [B, T, H E];
 * k and v [B, first + T, K E]. y overlaps no input. */
void tpti_attention_forward(tpti_run *run, float *y, double *lse, const float *q, const float *k,
                            const float *v, const tpti_attention *a);

/* dq, dk and dv, shaped as q, k and v, are overwritten and overlap no input; work holds
 * tpti_attention_work(a) floats; first is 0. */
void tpti_attention_backward(tpti_run *run, float *dq, float *dk, float *dv, float *work,
                             const float *dy, const float *y, const double *lse, const float *q,
                             const float *k, const float *v, const tpti_attention *a);

/* Floats of work: B T H, or where a group's heads are cut apart B T H (2 E + 1). */
size_t tpti_attention_work(const tpti_attention *a);

/* The most work of any B and T with B T <= room and T <= longest; of a, H, K and E count. */
size_t tpti_attention_work_most(const tpti_attention *a, size_t room, size_t longest);

#endif
