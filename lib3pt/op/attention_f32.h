/* Causal attention (op/attention.h) in float32: its items, and what forward and backward share.
 *
 * Scores are held turned over, keys by queries (kernel/attention.h): what belongs to a query is
 * then a lane, and q and dy are turned a strip of queries at a time. */
#ifndef TPTI_OP_ATTENTION_F32_H
#define TPTI_OP_ATTENTION_F32_H

#include "op/attention_cut.h"

/* How forward is cut; backward is cut by heads alone. */
tpti_attention_cut tpti_attention_f32_cut(const tpti_attention *a);

/* Items of a forward and of a backward. */
void tpti_attention_f32_forward(void *job, size_t item, void *scratch);
void tpti_attention_f32_backward(void *job, size_t item, void *scratch);

/* All of a forward of one query to a sequence. */
void tpti_attention_f32_single(tpti_run *run, tpti_attention_forward_job *job);

/* ---- rows of one head ---- */

/* With at most TPTI_HEAD_WIDE channels, a block of rows is copied together before it is used again
 * and again: at the distance of a position they would fall on a few sets of the first cache level.
 */
enum {
  TPTI_ATTENTION_BLOCK = 128,
  TPTI_HEAD_WIDE = 256,
  TPTI_HEAD_NEAR = TPTI_ATTENTION_BLOCK * TPTI_HEAD_WIDE
};

/* Rows of E floats: of q, k, v, y or their gradients. */
typedef struct tpti_head_rows {
  const float *at;
  size_t stride, count;
} tpti_head_rows;

static inline tpti_head_rows tpti_head_rows_from(tpti_head_rows x, size_t first, size_t count) {
  return (tpti_head_rows){x.at + first * x.stride, x.stride, count};
}

/* a [m, b.count] b [b.count, n]; a's elements lie a_row and a_col apart. */
static inline tpti_gemm tpti_head_product(const float *a, size_t a_row, size_t a_col,
                                          tpti_head_rows b, size_t m, size_t n) {
  return (tpti_gemm){.a = a,
                     .a_row = a_row,
                     .a_col = a_col,
                     .b = b.at,
                     .b_row = b.stride,
                     .b_col = 1,
                     .m = m,
                     .n = n,
                     .k = b.count};
}

/* c = or, where add, += the product. That is changed where it is, as a copy would be made by wider
 * loads than the stores just before, and wait for all of those. */
static inline void tpti_head_multiply(const tpti_kernels *kernels, float *c, size_t c_row, bool add,
                                      tpti_gemm *product) {
  product->c = c, product->c_row = c_row;
  product->base = add ? c : NULL, product->base_row = c_row;
  kernels->product(product);
}

/* The rows together at `to` [TPTI_HEAD_NEAR], or where they are. */
tpti_head_rows tpti_head_near(const tpti_kernels *kernels, float *to, tpti_head_rows x, size_t E);

/* Keys that are held together at once: whole blocks. */
size_t tpti_attention_f32_span(const tpti_attention *a);

/* ---- strips of TPTI_SCORE_COLUMNS queries ---- */

/* TPTI_STRIP_DEPTH channels are turned at once. What lies above the diagonal is left out of sums by
 * TPTI_STRIP_FEW queries or keys. */
enum { TPTI_STRIP_DEPTH = 256, TPTI_STRIP_FEW = 8 };

/* Of n keys those that queries up to number `last` of a strip see. */
static inline size_t tpti_strip_seen(size_t n, ptrdiff_t lead, size_t last) {
  ptrdiff_t seen = lead + (ptrdiff_t)last + 1;
  return seen <= 0 ? 0 : tpti_least(n, (size_t)seen);
}

/* t [TPTI_STRIP_DEPTH, strip] = channels e on of a strip of queries turned over; missing queries
 * are 0. */
void tpti_strip_turn(const tpti_kernels *kernels, float *t, tpti_head_rows queries, size_t e,
                     size_t E);

/* s [keys, strip] = keys . queries, of which t holds what tpti_strip_turn made, where it fits; rows
 * s_row apart, as far as the first queries see them. The later half of the strip sees half as many
 * keys more as it has queries. */
void tpti_strip_scores(const tpti_kernels *kernels, float *s, size_t s_row, float *t,
                       tpti_head_rows keys, tpti_head_rows queries, size_t E, ptrdiff_t lead);

/* out [queries, E] = or += s^T x, s [x.count, strip or more columns], for `queries` queries of
 * which the first sees lead + 1 of the rows of x. */
void tpti_strip_sums(const tpti_kernels *kernels, float *out, size_t out_row, bool add,
                     const float *s, size_t s_row, tpti_head_rows x, size_t queries, size_t E,
                     ptrdiff_t lead);

#endif
