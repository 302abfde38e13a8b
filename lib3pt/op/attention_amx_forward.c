/* Attention's forward on AMX tiles (op/attention_amx.h). */
#include "op/attention_amx.h"

#include <assert.h>
#include <math.h>

enum {
  STRIP = TPTI_SCORE_STRIP,
  CHUNK = TPTI_SCORE_CHUNK,
  BLOCK = TPTI_ATTENTION_AMX_BLOCK,
  HEADS = TPTI_ATTENTION_AMX_HEADS,
  QUERIES = TPTI_ATTENTION_AMX_QUERIES,
  KEYS = TPTI_ATTENTION_AMX_KEYS
};

typedef struct forward_scratch {
  uint16_t queries[QUERIES], keys[KEYS], values[KEYS], p[STRIP * CHUNK];
  float y[QUERIES], scores[CHUNK * STRIP];
  float max[HEADS * BLOCK], sum[HEADS * BLOCK];
  float lse[STRIP];
} forward_scratch;

/* An item at work. */
typedef struct forward_work {
  const tpti_attention_forward_job *f;
  forward_scratch *w;
  tpti_attention_piece p;
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
         strips = tpti_attention_amx_strips(seen);
  bool first = i->u + c == 0;
  const uint16_t *q = w->queries + (h * BLOCK + r) * state.E;
  scores->product(&(tpti_score_product){w->scores, w->keys + c * state.E, q, STRIP, i->depth,
                                        i->depth, 2 * strips, 2, i->depth, false});
  float *y = state.y;
  if (first) state.y = NULL;
  const uint16_t *v = w->values + c * state.E;
  tpti_score_chunk chunk = {
      w->scores, {v, v}, strips * STRIP, lead, tpti_attention_amx_factor(i->f->scale)};
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
  const float *q = i->f->q + tpti_q_at(a, i->p.b, i->p.t + r, i->p.head + h);
  return (tpti_score_source){q, a->q_stride, tpti_least(STRIP, i->p.rows - r), a->E};
}

/* Before the first keys: packs the strip's queries, and asks for the next ones. */
static void forward_start(const forward_work *i, size_t h, size_t r) {
  tpti_score_source q = strip_of(i, h, r), next = strip_of(i, h, r + STRIP);
  tpti_score_state state = state_of(i, h, r);
  i->f->scores->pack_rows(i->w->queries + (h * BLOCK + r) * state.E, i->depth, &q, true);
  tpti_attention_amx_fetch(next.x, next.stride, next.rows, next.cols);
  for (size_t j = 0; j < STRIP; j++) state.max[j] = -INFINITY, state.sum[j] = 0;
}

/* A strip against the packed keys. */
static void forward_strip(const forward_work *i, size_t h, size_t r) {
  const tpti_attention *a = i->f->a;
  size_t t = i->p.t + r;
  if (i->u == 0) forward_start(i, h, r);
  if (i->u + i->span * STRIP > a->first + t) /* the last ones */
    tpti_attention_amx_fetch_written(i->f->y + tpti_y_at(a, i->p.b, t, i->p.head + h), a->y_stride,
                                     tpti_least(STRIP, i->p.rows - r), a->E);
  for (size_t c = 0; c < i->keys; c += CHUNK) {
    ptrdiff_t lead = (ptrdiff_t)(a->first + t) - (ptrdiff_t)(i->u + c);
    if (lead + STRIP > 0) forward_chunk(i, h, r, c, lead);
  }
}

static void forward_keys(const forward_work *i) {
  const tpti_attention *a = i->f->a;
  const tpti_scores *scores = i->f->scores;
  size_t kv = tpti_kv_at(a, i->p.b, i->u, i->p.kv);
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
  i->f->scores->finish(i->f->y + tpti_y_at(a, i->p.b, t, head), a->y_stride, lse, &state, n, a->E,
                       tpti_attention_amx_factor(i->f->scale));
  for (size_t j = 0; lse && j < n; j++)
    i->f->lse[(i->p.b * a->T + t + j) * a->H + head] = (double)lse[j];
}

void tpti_attention_amx_forward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(forward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const tpti_attention_forward_job *f = argument;
  const tpti_attention *a = f->a;
  forward_work i = {.f = f,
                    .w = scratch,
                    .p = tpti_attention_piece_of(&f->cut, a, item),
                    .depth = tpti_attention_amx_depth(a),
                    .span = tpti_attention_amx_span(a)};
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
