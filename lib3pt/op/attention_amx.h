/* Causal attention (op/attention.h) with its products of bf16 on AMX tiles: its items, and what
 * forward and backward share.
 *
 * q, k, v and dy, p = exp(s - max) and ds are rounded to bf16 where they are an operand; products
 * are summed in float32, and everything else is float32 as in the other way. */
#ifndef TPTI_OP_ATTENTION_AMX_H
#define TPTI_OP_ATTENTION_AMX_H

#include "op/attention_cut.h"

/* The table of inner loops, or NULL where the run's precision or the shape asks for float32. */
const tpti_scores *tpti_attention_amx_choose(const tpti_run *run, const tpti_attention *a);

/* How forward is cut; backward is cut as in float32. */
tpti_attention_cut tpti_attention_amx_cut(const tpti_attention *a);

/* Items of a forward and of a backward, whose `scores` are set. */
void tpti_attention_amx_forward(void *job, size_t item, void *scratch);
void tpti_attention_amx_backward(void *job, size_t item, void *scratch);

/* ---- what is packed at once ---- */

enum {
  TPTI_ATTENTION_AMX_BLOCK = 128,  /* queries of a head */
  TPTI_ATTENTION_AMX_WIDEST = 256, /* channels; with more, operands would not fit the scratch */
  TPTI_ATTENTION_AMX_HEADS = 8,    /* query heads that share packed keys */
  TPTI_ATTENTION_AMX_QUERIES = 512 * TPTI_ATTENTION_AMX_BLOCK, /* numbers of all heads' queries */
  TPTI_ATTENTION_AMX_KEYS = 128 * TPTI_ATTENTION_AMX_WIDEST,   /* numbers of the keys */
  TPTI_ATTENTION_AMX_MOST = 512                                /* and their positions, at most */
};

static inline size_t tpti_attention_amx_strips(size_t n) {
  return tpti_ceil_div(n, TPTI_SCORE_STRIP);
}

/* Channels, in tiles along which scores sum up. */
static inline size_t tpti_attention_amx_depth(const tpti_attention *a) {
  return tpti_attention_amx_strips(a->E);
}

/* Strips of keys packed at once: as many as are whole chunks. */
size_t tpti_attention_amx_span(const tpti_attention *a);

/* Of the exponent, whose base is 2: log2(e) scale. */
static inline float tpti_attention_amx_factor(float scale) { return scale * 0x1.715476p+0f; }

/* Asks for `rows` of E floats that are needed soon (written: to be overwritten): they lie too far
 * apart for the processor to guess. */
void tpti_attention_amx_fetch(const float *x, size_t stride, size_t rows, size_t E);
void tpti_attention_amx_fetch_written(const float *x, size_t stride, size_t rows, size_t E);

#endif
