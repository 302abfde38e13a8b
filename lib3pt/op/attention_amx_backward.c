/* Attention's backward on AMX tiles (op/attention_amx.h). */
#include "op/attention_amx.h"

#include <assert.h>
#include <string.h>

enum {
  STRIP = TPTI_SCORE_STRIP,
  TILE = TPTI_SCORE_TILE,
  LINES = TPTI_SCORE_LINES,
  BLOCK = TPTI_ATTENTION_AMX_BLOCK,
  STRIPS = BLOCK / STRIP,
  WIDEST = TPTI_ATTENTION_AMX_WIDEST,
  KEYS = TPTI_ATTENTION_AMX_KEYS,
  MOST = TPTI_ATTENTION_AMX_MOST
};

/* What sums over positions is packed as columns, what sums over channels as rows. */
typedef struct backward_scratch {
  uint16_t k_rows[KEYS], v_rows[KEYS], k_columns[KEYS];
  uint16_t q_rows[BLOCK * WIDEST], dy_rows[BLOCK * WIDEST];
  uint16_t q_columns[BLOCK * WIDEST], dy_columns[BLOCK * WIDEST];
  uint16_t p[STRIP * BLOCK], ds[STRIP * BLOCK]; /* of a strip of keys */
  uint16_t turned[MOST * BLOCK];                /* ds of all keys */
  float dk[KEYS], dv[KEYS], dq[STRIP * WIDEST];
  float scores[STRIP * STRIP], dp[STRIP * STRIP];
  float lse[BLOCK], delta[BLOCK];
} backward_scratch;

/* An item at work: one head's queries t .. t + rows - 1 against keys u .. u + keys - 1. */
typedef struct backward_work {
  const tpti_attention_backward_job *g;
  backward_scratch *w;
  tpti_attention_piece p;
  size_t depth, span, u, keys, head, t, rows;
} backward_work;

static void backward_pack_keys(const backward_work *i) {
  const tpti_attention *a = i->g->a;
  const tpti_scores *scores = i->g->scores;
  size_t kv = tpti_kv_at(a, i->p.b, i->u, i->p.kv);
  tpti_score_source k = {i->g->k + kv, a->kv_stride, i->keys, a->E};
  tpti_score_source v = {i->g->v + kv, a->kv_stride, i->keys, a->E};
  scores->pack_rows(i->w->k_rows, i->depth, &k, false);
  scores->pack_columns(i->w->k_columns, i->span, &k, false);
  scores->pack_rows(i->w->v_rows, i->depth, &v, false);
}

static void backward_pack_queries(const backward_work *i) {
  const tpti_attention *a = i->g->a;
  const tpti_scores *scores = i->g->scores;
  backward_scratch *w = i->w;
  const float *q_from = i->g->q + tpti_q_at(a, i->p.b, i->t, i->head);
  const float *dy_from = i->g->dy + tpti_y_at(a, i->p.b, i->t, i->head);
  tpti_score_source q = {q_from, a->q_stride, i->rows, a->E};
  tpti_score_source dy = {dy_from, a->y_stride, i->rows, a->E};
  scores->pack_rows(w->q_rows, i->depth, &q, true);
  scores->pack_rows(w->dy_rows, i->depth, &dy, true);
  scores->pack_columns(w->q_columns, STRIPS, &q, true);
  scores->pack_columns(w->dy_columns, STRIPS, &dy, true);
  const size_t from = (i->p.b * a->T + i->t) * a->H + i->head;
  for (size_t r = 0; r < tpti_attention_amx_strips(i->rows) * STRIP; r++) {
    bool there = r < i->rows;
    w->lse[r] = there ? (float)i->g->lse[from + r * a->H] : 0;
    w->delta[r] = there ? i->g->work[from + r * a->H] : 0;
  }
  if (i->t == 0) w->delta[0] = 0;
}

/* p and ds of keys u + c on and queries t + r on. */
static void backward_square(const backward_work *i, size_t c, size_t r) {
  const tpti_scores *scores = i->g->scores;
  backward_scratch *w = i->w;
  size_t key = c * i->depth * STRIP, query = r * i->depth * STRIP;
  tpti_score_product s = {
      w->scores, w->k_rows + key, w->q_rows + query, STRIP, i->depth, i->depth, 2, 2, i->depth,
      false};
  scores->product(&s);
  s.c = w->dp, s.a = w->v_rows + key, s.b = w->dy_rows + query;
  scores->product(&s);
  if (i->t + r + i->u + c == 0) w->dp[0] = 0; /* as its delta: position 0's ds is exactly 0 */
  scores->gradient(&(tpti_score_square){
      .s = w->scores,
      .dp = w->dp,
      .lse = w->lse + r,
      .delta = w->delta + r,
      .queries = tpti_least(STRIP, i->rows - r),
      .lead = (ptrdiff_t)(i->t + r) - (ptrdiff_t)(i->u + c),
      .factor = tpti_attention_amx_factor(i->g->scale),
      .scale = i->g->scale,
      .p = w->p + r / STRIP * TILE,
      .ds = w->ds + r / STRIP * TILE,
      .turned = w->turned + (r / LINES * i->span + c / STRIP) * TILE,
      .line_step = STRIPS,
      .turned_step = i->span,
  });
}

/* A strip of keys against the queries that see it. */
static void backward_strip(const backward_work *i, size_t c) {
  const tpti_scores *scores = i->g->scores;
  backward_scratch *w = i->w;
  size_t first = i->u + c > i->t ? i->u + c - i->t : 0, E = i->depth * STRIP;
  if (first >= i->rows) return;
  bool add = i->head > i->p.head || i->u + c < i->t; /* the diagonal is the first to come */
  for (size_t r = first; r < i->rows; r += STRIP) backward_square(i, c, r);
  size_t from = first / STRIP;
  tpti_score_product g = {w->dv + c * E,
                          w->p + from * TILE,
                          w->dy_columns + from * TILE,
                          E,
                          STRIPS,
                          STRIPS,
                          2,
                          2 * i->depth,
                          tpti_attention_amx_strips(i->rows) - from,
                          add};
  scores->product(&g);
  g.c = w->dk + c * E, g.a = w->ds + from * TILE, g.b = w->q_columns + from * TILE;
  scores->product(&g);
}

/* dq of queries t + r on, from the keys that they see. */
static void backward_query(const backward_work *i, size_t r) {
  const tpti_attention *a = i->g->a;
  backward_scratch *w = i->w;
  size_t seen = tpti_least(i->keys, i->t + r + STRIP - i->u), rows = tpti_least(STRIP, i->rows - r);
  float *dq = i->g->dq + tpti_q_at(a, i->p.b, i->t + r, i->head);
  tpti_attention_amx_fetch_written(dq, a->q_stride, rows, a->E);
  tpti_score_product g = {w->dq,
                          w->k_columns,
                          w->turned + r / LINES * i->span * TILE,
                          STRIP,
                          i->span,
                          i->span,
                          2 * i->depth,
                          2,
                          tpti_attention_amx_strips(seen),
                          false};
  i->g->scores->product(&g);
  i->g->scores->turn(dq, a->q_stride, w->dq, rows, a->E, i->u > 0);
}

static void backward_store_keys(const backward_work *i) {
  const tpti_attention *a = i->g->a;
  size_t E = i->depth * STRIP;
  tpti_attention_sink to = tpti_attention_sink_of(i->g, &i->p, i->u);
  for (size_t c = 0; c < i->keys; c++) {
    memcpy(to.dk + c * to.stride, i->w->dk + c * E, a->E * sizeof *to.dk);
    memcpy(to.dv + c * to.stride, i->w->dv + c * E, a->E * sizeof *to.dv);
  }
}

/* While strip c of the keys is at work: asks for a part of the queries that come next, or, when
 * there are none, for where the strip's dk and dv go. */
static void backward_fetch(const backward_work *i, size_t c) {
  const tpti_attention *a = i->g->a;
  bool more = i->t + BLOCK < a->T;
  size_t head = more ? i->head : i->head + 1, from = more ? i->t + BLOCK : i->u;
  if (head == i->p.head + i->p.heads) {
    tpti_attention_sink to = tpti_attention_sink_of(i->g, &i->p, i->u + c);
    tpti_attention_amx_fetch_written(to.dk, to.stride, tpti_least(STRIP, i->keys - c), a->E);
    tpti_attention_amx_fetch_written(to.dv, to.stride, tpti_least(STRIP, i->keys - c), a->E);
    return;
  }
  size_t share = (BLOCK * STRIP + i->keys - 1) / i->keys, t = from + c / STRIP * share;
  size_t end = tpti_least(a->T, from + BLOCK);
  if (t >= end) return;
  tpti_attention_amx_fetch(i->g->q + tpti_q_at(a, i->p.b, t, head), a->q_stride,
                           tpti_least(share, end - t), a->E);
  tpti_attention_amx_fetch(i->g->dy + tpti_y_at(a, i->p.b, t, head), a->y_stride,
                           tpti_least(share, end - t), a->E);
}

/* The packed keys against all queries of all heads that see one of them. */
static void backward_keys(backward_work *i) {
  const tpti_attention *a = i->g->a;
  backward_pack_keys(i);
  for (i->head = i->p.head; i->head < i->p.head + i->p.heads; i->head++)
    for (i->t = i->u; i->t < a->T; i->t += BLOCK) {
      i->rows = tpti_least(BLOCK, a->T - i->t);
      backward_pack_queries(i);
      for (size_t c = 0; c < i->keys; c += STRIP) {
        backward_fetch(i, c);
        backward_strip(i, c);
      }
      for (size_t r = 0; r < i->rows; r += STRIP) backward_query(i, r);
    }
  backward_store_keys(i);
}

/* delta of all queries of the item. */
static void backward_deltas(const tpti_attention_backward_job *g, const tpti_attention_piece *p) {
  const tpti_attention *a = g->a;
  for (size_t h = p->head; h < p->head + p->heads; h++)
    g->kernels->row_dots(&(tpti_row_dots){.dots = g->work + p->b * a->T * a->H + h,
                                          .x = g->dy + tpti_y_at(a, p->b, 0, h),
                                          .y = g->y + tpti_y_at(a, p->b, 0, h),
                                          .dots_stride = a->H,
                                          .x_stride = a->y_stride,
                                          .y_stride = a->y_stride,
                                          .rows = a->T,
                                          .E = a->E});
}

void tpti_attention_amx_backward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(backward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const tpti_attention_backward_job *g = argument;
  const tpti_attention *a = g->a;
  backward_work i = {.g = g,
                     .w = scratch,
                     .p = tpti_attention_piece_of(&g->cut, a, item),
                     .depth = tpti_attention_amx_depth(a),
                     .span = tpti_attention_amx_span(a)};
  size_t step = i.span * STRIP;
  backward_deltas(g, &i.p);
  g->scores->begin();
  for (i.u = 0; i.u < a->T; i.u += step) {
    i.keys = tpti_least(step, a->T - i.u);
    if (!tpti_run_tick_item(g->run, scratch)) break;
    backward_keys(&i);
  }
  g->scores->end();
}
