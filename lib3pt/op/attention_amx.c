/* Causal attention with products of bf16 on AMX tiles (op/attention_amx.h). */
#include "op/attention_amx.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  STRIP = TPTI_SCORE_STRIP,
  CHUNK = TPTI_SCORE_CHUNK,
  TILE = TPTI_SCORE_TILE,
  LINES = 16,
  BLOCK = 128,            /* queries packed at once */
  STRIPS = BLOCK / STRIP, /* of them */
  WIDEST = 256,           /* channels; with more, operands would not fit the scratch */
  SHORTEST = 16,          /* queries; fewer leave most of a strip empty */
  HEADS = 8,              /* query heads that share packed keys */
  QUERIES = 512 * BLOCK,  /* numbers of the queries packed at once, of all heads */
  KEYS = 128 * WIDEST,    /* numbers of the keys packed at once */
  MOST = 512,             /* and their positions, at most */
};

static const float LOG2_E = 0x1.715476p+0f;

const tpti_scores *tpti_attention_amx_choose(const tpti_run *run, const tpti_attention *a) {
  bool fits = a->T >= SHORTEST && a->E <= WIDEST;
  return run->precision == TPTI_PRECISION_BF16 && fits ? tpti_scores_amx() : NULL;
}

static size_t strips_of(size_t n) { return tpti_ceil_div(n, STRIP); }

/* Channels, in tiles along which scores sum up. */
static size_t depth_of(const tpti_attention *a) { return strips_of(a->E); }

/* Strips of keys packed at once: as many as are whole chunks. */
static size_t span_of(const tpti_attention *a) {
  return tpti_least(MOST, KEYS / (depth_of(a) * STRIP) / CHUNK * CHUNK) / STRIP;
}

cut tpti_attention_amx_cut(const tpti_attention *a) {
  return cut_of(a, BLOCK, 1, tpti_least(HEADS, QUERIES / BLOCK / (depth_of(a) * STRIP)));
}

/* Asks for `rows` of E floats that are needed soon (written: to be overwritten): they lie too far
 * apart for the processor to guess. */
static void fetch(const float *x, size_t stride, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++)
    for (size_t e = 0; e < E; e += LINES) __builtin_prefetch(x + i * stride + e);
}
static void fetch_written(const float *x, size_t stride, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++)
    for (size_t e = 0; e < E; e += LINES) __builtin_prefetch(x + i * stride + e, 1);
}

/* ---- forward ---- */

typedef struct forward_scratch {
  uint16_t queries[QUERIES], keys[KEYS], values[KEYS], p[STRIP * CHUNK];
  float y[QUERIES], scores[CHUNK * STRIP];
  float max[HEADS * BLOCK], sum[HEADS * BLOCK];
  float lse[STRIP];
} forward_scratch;

/* An item at work. */
typedef struct forward_work {
  const forward *f;
  forward_scratch *w;
  piece p;
  size_t depth, span, u, keys; /* tiles; the keys that are packed */
} forward_work;

/* A strip of queries p.t + r on of head p.head + h. */
static tpti_score_state state_of(const forward_work *i, size_t h, size_t r) {
  size_t at = h * BLOCK + r, E = i->depth * STRIP;
  return (tpti_score_state){i->w->max + at, i->w->sum + at, i->w->y + at * E, E};
}

/* A chunk of the packed keys, u + c on, of which the strip's first query sees lead + 1. */
static void forward_chunk(const forward_work *i, size_t h, size_t r, size_t c, ptrdiff_t lead) {
  const tpti_scores *scores = i->f->scores;
  forward_scratch *w = i->w;
  tpti_score_state state = state_of(i, h, r);
  size_t seen = tpti_least(tpti_least(CHUNK, i->keys - c), (size_t)(lead + STRIP)),
         strips = strips_of(seen);
  bool first = i->u + c == 0;
  const uint16_t *q = w->queries + (h * BLOCK + r) * state.E;
  scores->product(&(tpti_score_product){w->scores, w->keys + c * state.E, q, STRIP, i->depth,
                                        i->depth, 2 * strips, 2, i->depth, false});
  float *y = state.y;
  if (first) state.y = NULL;
  const uint16_t *v = w->values + c * state.E;
  tpti_score_chunk chunk = {w->scores, {v, v}, strips * STRIP, lead, i->f->scale * LOG2_E};
  if (c + CHUNK < i->keys) chunk.soon[1] = w->keys + (c + CHUNK) * state.E;
  scores->softmax(w->p, &state, &chunk);
  scores->product(&(tpti_score_product){y, v, w->p, STRIP, CHUNK / STRIP, CHUNK / STRIP,
                                        2 * i->depth, 2, strips, !first});
}

/* Where the rows of a strip lie in q and in y, and how many they are; none past the last. */
static tpti_score_source strip_of(const forward_work *i, size_t h, size_t r) {
  const tpti_attention *a = i->f->a;
  if (r >= i->p.rows) h++, r = 0;
  if (h == i->p.heads) return (tpti_score_source){i->f->q, a->q_stride, 0, a->E};
  const float *q = i->f->q + q_at(a, i->p.b, i->p.t + r, i->p.head + h);
  return (tpti_score_source){q, a->q_stride, tpti_least(STRIP, i->p.rows - r), a->E};
}

/* Before the first keys: packs the strip's queries, and asks for the next ones. */
static void forward_start(const forward_work *i, size_t h, size_t r) {
  tpti_score_source q = strip_of(i, h, r), next = strip_of(i, h, r + STRIP);
  tpti_score_state state = state_of(i, h, r);
  i->f->scores->pack_rows(i->w->queries + (h * BLOCK + r) * state.E, i->depth, &q, true);
  fetch(next.x, next.stride, next.rows, next.cols);
  for (size_t j = 0; j < STRIP; j++) state.max[j] = -INFINITY, state.sum[j] = 0;
}

/* A strip against the packed keys. */
static void forward_strip(const forward_work *i, size_t h, size_t r) {
  const tpti_attention *a = i->f->a;
  size_t t = i->p.t + r;
  if (i->u == 0) forward_start(i, h, r);
  if (i->u + i->span * STRIP > a->first + t) /* the last ones */
    fetch_written(i->f->y + y_at(a, i->p.b, t, i->p.head + h), a->y_stride,
                  tpti_least(STRIP, i->p.rows - r), a->E);
  for (size_t c = 0; c < i->keys; c += CHUNK) {
    ptrdiff_t lead = (ptrdiff_t)(a->first + t) - (ptrdiff_t)(i->u + c);
    if (lead + STRIP > 0) forward_chunk(i, h, r, c, lead);
  }
}

static void forward_keys(const forward_work *i) {
  const tpti_attention *a = i->f->a;
  const tpti_scores *scores = i->f->scores;
  size_t kv = kv_at(a, i->p.b, i->u, i->p.kv);
  tpti_score_source k = {i->f->k + kv, a->kv_stride, i->keys, a->E};
  tpti_score_source v = {i->f->v + kv, a->kv_stride, i->keys, a->E};
  scores->pack_rows(i->w->keys, i->depth, &k, false);
  for (size_t c = 0; c < i->keys; c += CHUNK, v.x += CHUNK * v.stride) {
    v.rows = tpti_least(CHUNK, i->keys - c);
    scores->pack_columns(i->w->values + c * i->depth * STRIP, CHUNK / STRIP, &v, false);
  }
  for (size_t h = 0; h < i->p.heads; h++)
    for (size_t r = 0; r < i->p.rows; r += STRIP) forward_strip(i, h, r);
}

static void forward_finish(const forward_work *i, size_t h, size_t r) {
  const tpti_attention *a = i->f->a;
  size_t t = i->p.t + r, head = i->p.head + h, n = tpti_least(STRIP, i->p.rows - r);
  float *lse = i->f->lse ? i->w->lse : NULL;
  tpti_score_state state = state_of(i, h, r);
  i->f->scores->finish(i->f->y + y_at(a, i->p.b, t, head), a->y_stride, lse, &state, n, a->E,
                       i->f->scale * LOG2_E);
  for (size_t j = 0; lse && j < n; j++) i->f->lse[(i->p.b * a->T + t + j) * a->H + head] = lse[j];
}

void tpti_attention_amx_forward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(forward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const forward *f = argument;
  const tpti_attention *a = f->a;
  forward_work i = {.f = f,
                    .w = scratch,
                    .p = piece_of(&f->cut, a, item),
                    .depth = depth_of(a),
                    .span = span_of(a)};
  size_t end = a->first + i.p.t + i.p.rows, step = i.span * STRIP;
  f->scores->begin();
  for (i.u = 0; i.u < end; i.u += step) {
    i.keys = tpti_least(step, end - i.u);
    forward_keys(&i);
  }
  for (size_t h = 0; h < i.p.heads; h++)
    for (size_t r = 0; r < i.p.rows; r += STRIP) forward_finish(&i, h, r);
  f->scores->end();
}

/* ---- backward ---- */

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
  const backward *g;
  backward_scratch *w;
  piece p;
  size_t depth, span, u, keys, head, t, rows;
} backward_work;

static void backward_pack_keys(const backward_work *i) {
  const tpti_attention *a = i->g->a;
  const tpti_scores *scores = i->g->scores;
  size_t kv = kv_at(a, i->p.b, i->u, i->p.kv);
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
  const float *q_from = i->g->q + q_at(a, i->p.b, i->t, i->head);
  const float *dy_from = i->g->dy + y_at(a, i->p.b, i->t, i->head);
  tpti_score_source q = {q_from, a->q_stride, i->rows, a->E};
  tpti_score_source dy = {dy_from, a->y_stride, i->rows, a->E};
  scores->pack_rows(w->q_rows, i->depth, &q, true);
  scores->pack_rows(w->dy_rows, i->depth, &dy, true);
  scores->pack_columns(w->q_columns, STRIPS, &q, true);
  scores->pack_columns(w->dy_columns, STRIPS, &dy, true);
  const size_t from = (i->p.b * a->T + i->t) * a->H + i->head;
  for (size_t r = 0; r < strips_of(i->rows) * STRIP; r++) {
    bool there = r < i->rows;
    w->lse[r] = there ? i->g->lse[from + r * a->H] : 0;
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
      .factor = i->g->scale * LOG2_E,
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
                          strips_of(i->rows) - from,
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
  float *dq = i->g->dq + q_at(a, i->p.b, i->t + r, i->head);
  fetch_written(dq, a->q_stride, rows, a->E);
  tpti_score_product g = {w->dq,
                          w->k_columns,
                          w->turned + r / LINES * i->span * TILE,
                          STRIP,
                          i->span,
                          i->span,
                          2 * i->depth,
                          2,
                          strips_of(seen),
                          false};
  i->g->scores->product(&g);
  i->g->scores->turn(dq, a->q_stride, w->dq, rows, a->E, i->u > 0);
}

static void backward_store_keys(const backward_work *i) {
  const tpti_attention *a = i->g->a;
  size_t E = i->depth * STRIP;
  sink to = sink_of(i->g, &i->p, i->u);
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
    sink to = sink_of(i->g, &i->p, i->u + c);
    fetch_written(to.dk, to.stride, tpti_least(STRIP, i->keys - c), a->E);
    fetch_written(to.dv, to.stride, tpti_least(STRIP, i->keys - c), a->E);
    return;
  }
  size_t share = (BLOCK * STRIP + i->keys - 1) / i->keys, t = from + c / STRIP * share;
  size_t end = tpti_least(a->T, from + BLOCK);
  if (t >= end) return;
  fetch(i->g->q + q_at(a, i->p.b, t, head), a->q_stride, tpti_least(share, end - t), a->E);
  fetch(i->g->dy + y_at(a, i->p.b, t, head), a->y_stride, tpti_least(share, end - t), a->E);
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

void tpti_attention_amx_backward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(backward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const backward *g = argument;
  const tpti_attention *a = g->a;
  backward_work i = {.g = g,
                     .w = scratch,
                     .p = piece_of(&g->cut, a, item),
                     .depth = depth_of(a),
                     .span = span_of(a)};
  size_t step = i.span * STRIP;
  backward_deltas(g, &i.p);
  g->scores->begin();
  for (i.u = 0; i.u < a->T; i.u += step) {
    i.keys = tpti_least(step, a->T - i.u);
    backward_keys(&i);
  }
  g->scores->end();
}
