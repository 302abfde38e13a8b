/* How attention cuts its work, and what its items are told: for its two ways, in float32
 * (attention.c) and on bf16 tiles (attention_amx.c). */
#ifndef TPTI_OP_ATTENTION_CUT_H
#define TPTI_OP_ATTENTION_CUT_H

#include "base/size.h"
#include "op/attention.h"

#include "kernel/attention_amx.h"
#include "kernel/kernel.h"

/* Items that keep eight threads busy; where there would be fewer, a group's heads are cut apart. */
enum { ENOUGH = 16 };

/* How work is cut: by sequence, key/value head, chunk of its query heads, block of queries. */
typedef struct cut {
  size_t block, blocks, heads, chunks;
} cut;

/* One item: query heads head .. head + heads - 1 of sequence b, rows positions from t on. */
typedef struct piece {
  size_t b, kv, head, heads, t, rows;
} piece;

static inline cut cut_of(const tpti_attention *a, size_t block, size_t few, size_t most) {
  size_t group = a->H / a->K, blocks = tpti_ceil_div(a->T, block);
  size_t heads = tpti_least(group, a->B * a->K * blocks < ENOUGH ? few : most);
  return (cut){block, blocks, heads, tpti_ceil_div(group, heads)};
}

static inline size_t cut_items(const cut *c, const tpti_attention *a) {
  return a->B * a->K * c->chunks * c->blocks;
}

/* The last block, which sees most keys, comes first: short items even out the threads at the end.
 */
static inline piece piece_of(const cut *c, const tpti_attention *a, size_t item) {
  size_t group = a->H / a->K, block = c->blocks - 1 - item % c->blocks;
  size_t chunk = item / c->blocks % c->chunks, lane = item / c->blocks / c->chunks;
  piece p = {.b = lane / a->K, .kv = lane % a->K, .t = block * c->block};
  p.head = p.kv * group + chunk * c->heads;
  p.heads = tpti_least(c->heads, group - chunk * c->heads);
  p.rows = tpti_least(c->block, a->T - p.t);
  return p;
}

/* Where the head `head` of position t of sequence b lies. */
static inline size_t q_at(const tpti_attention *a, size_t b, size_t t, size_t head) {
  return (b * a->T + t) * a->q_stride + head * a->E;
}
static inline size_t y_at(const tpti_attention *a, size_t b, size_t t, size_t head) {
  return (b * a->T + t) * a->y_stride + head * a->E;
}
static inline size_t kv_at(const tpti_attention *a, size_t b, size_t u, size_t kv) {
  return b * a->kv_batch_stride + u * a->kv_stride + kv * a->E;
}

typedef struct forward {
  const tpti_kernels *kernels;
  const tpti_scores *scores; /* NULL: in float32 */
  float *y, *lse;
  const float *q, *k, *v;
  const tpti_attention *a;
  cut cut;
  float scale;
} forward;

typedef struct backward {
  const tpti_kernels *kernels;
  const tpti_scores *scores;  /* NULL: in float32 */
  float *dq, *dk, *dv, *work; /* work: delta [B, T, H]; where heads are apart, dk and dv of each */
  const float *dy, *y, *lse, *q, *k, *v;
  const tpti_attention *a;
  cut cut;
  float scale;
} backward;

/* Where dk and dv of a piece's keys go: where a group's heads are cut apart, to [B, H, T, E]. */
typedef struct sink {
  float *dk, *dv;
  size_t stride;
} sink;

static inline sink sink_of(const backward *g, const piece *p, size_t u) {
  const tpti_attention *a = g->a;
  size_t kv = kv_at(a, p->b, u, p->kv), all = a->B * a->H * a->T;
  if (g->cut.chunks == 1) return (sink){g->dk + kv, g->dv + kv, a->kv_stride};
  float *dk = g->work + all + ((p->b * a->H + p->head) * a->T + u) * a->E;
  return (sink){dk, dk + all * a->E, a->E};
}

static inline void backward_deltas(const backward *g, const piece *p) {
  const tpti_attention *a = g->a;
  for (size_t h = p->head; h < p->head + p->heads; h++)
    g->kernels->row_dots(&(tpti_row_dots){.dots = g->work + p->b * a->T * a->H + h,
                                          .x = g->dy + y_at(a, p->b, 0, h),
                                          .y = g->y + y_at(a, p->b, 0, h),
                                          .dots_stride = a->H,
                                          .x_stride = a->y_stride,
                                          .y_stride = a->y_stride,
                                          .rows = a->T,
                                          .E = a->E});
}

#endif
