/* How attention cuts its work, and what its items are told: for its two ways, in float32
 * (attention_f32.h) and on bf16 tiles (attention_amx.h). */
#ifndef TPTI_OP_ATTENTION_CUT_H
#define TPTI_OP_ATTENTION_CUT_H

#include "base/size.h"
#include "kernel/attention_amx.h"
#include "kernel/kernel.h"
#include "op/attention.h"

/* Items that keep eight threads busy; where there would be fewer, a group's heads are cut apart. */
enum { TPTI_ATTENTION_ENOUGH = 16 };

/* How work is cut: by sequence, key/value head, chunk of its query heads, block of queries. */
typedef struct tpti_attention_cut {
  size_t block, blocks, heads, chunks;
} tpti_attention_cut;

/* One item: query heads head .. head + heads - 1 of sequence b, rows positions from t on. */
typedef struct tpti_attention_piece {
  size_t b, kv, head, heads, t, rows;
} tpti_attention_piece;

static inline tpti_attention_cut tpti_attention_cut_of(const tpti_attention *a, size_t block,
                                                       size_t few, size_t most) {
  size_t group = a->H / a->K, blocks = tpti_ceil_div(a->T, block);
  size_t heads = tpti_least(group, a->B * a->K * blocks < TPTI_ATTENTION_ENOUGH ? few : most);
  return (tpti_attention_cut){block, blocks, heads, tpti_ceil_div(group, heads)};
}

static inline size_t tpti_attention_items(const tpti_attention_cut *c, const tpti_attention *a) {
  return a->B * a->K * c->chunks * c->blocks;
}

/* The last block, which sees most keys, comes first: short items even out the threads at the end.
 */
static inline tpti_attention_piece tpti_attention_piece_of(const tpti_attention_cut *c,
                                                           const tpti_attention *a, size_t item) {
  size_t group = a->H / a->K, block = c->blocks - 1 - item % c->blocks;
  size_t chunk = item / c->blocks % c->chunks, lane = item / c->blocks / c->chunks;
  tpti_attention_piece p = {.b = lane / a->K, .kv = lane % a->K, .t = block * c->block};
  p.head = p.kv * group + chunk * c->heads;
  p.heads = tpti_least(c->heads, group - chunk * c->heads);
  p.rows = tpti_least(c->block, a->T - p.t);
  return p;
}

/* Where the head `head` of position t of sequence b lies. */
static inline size_t tpti_q_at(const tpti_attention *a, size_t b, size_t t, size_t head) {
  return (b * a->T + t) * a->q_stride + head * a->E;
}
static inline size_t tpti_y_at(const tpti_attention *a, size_t b, size_t t, size_t head) {
  return (b * a->T + t) * a->y_stride + head * a->E;
}
static inline size_t tpti_kv_at(const tpti_attention *a, size_t b, size_t u, size_t kv) {
  return b * a->kv_batch_stride + u * a->kv_stride + kv * a->E;
}

/* What all items of a forward are told. */
typedef struct tpti_attention_forward_job {
  const tpti_kernels *kernels;
  const tpti_scores *scores; /* NULL: in float32 */
  float *y;
  double *lse;
  const float *q, *k, *v;
  const tpti_attention *a;
  tpti_attention_cut cut;
  float scale;
} tpti_attention_forward_job;

/* And of a backward. */
typedef struct tpti_attention_backward_job {
  tpti_run *run; /* to be told within an item, which is long where the sequence is */
  const tpti_kernels *kernels;
  const tpti_scores *scores;  /* NULL: in float32 */
  float *dq, *dk, *dv, *work; /* work: delta [B, T, H]; where heads are apart, dk and dv of each */
  const float *dy, *y, *q, *k, *v;
  const double *lse;
  const tpti_attention *a;
  tpti_attention_cut cut;
  float scale;
} tpti_attention_backward_job;

/* Where dk and dv of a piece's keys go: where a group's heads are cut apart, to [B, H, T, E]. */
typedef struct tpti_attention_sink {
  float *dk, *dv;
  size_t stride;
} tpti_attention_sink;

static inline tpti_attention_sink tpti_attention_sink_of(const tpti_attention_backward_job *g,
                                                         const tpti_attention_piece *p, size_t u) {
  const tpti_attention *a = g->a;
  size_t kv = tpti_kv_at(a, p->b, u, p->kv), all = a->B * a->H * a->T;
  if (g->cut.chunks == 1) return (tpti_attention_sink){g->dk + kv, g->dv + kv, a->kv_stride};
  float *dk = g->work + all + ((p->b * a->H + p->head) * a->T + u) * a->E;
  return (tpti_attention_sink){dk, dk + all * a->E, a->E};
}

#endif
