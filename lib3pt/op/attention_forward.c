/* Attention's forward in float32 (op/attention_f32.h). */
#include "op/attention_f32.h"

#include <assert.h>
#include <math.h>

/* At most HEADS query heads share the keys of an item. */
enum { BLOCK = TPTI_ATTENTION_BLOCK, STRIP = TPTI_SCORE_COLUMNS, HEADS = 8 };

tpti_attention_cut tpti_attention_f32_cut(const tpti_attention *a) {
  return tpti_attention_cut_of(a, BLOCK, 1, HEADS);
}

typedef struct forward_scratch {
  float keys[TPTI_HEAD_NEAR], values[TPTI_HEAD_NEAR];
  float turned[TPTI_STRIP_DEPTH * STRIP], scores[BLOCK * STRIP];
  float max[HEADS * BLOCK], sum[HEADS * BLOCK];
} forward_scratch;

/* Keys u on, and their values. */
typedef struct keys {
  size_t u;
  tpti_head_rows k, v;
} keys;

/* While the first keys are at work: asks for where y goes, and for the next queries of the head. */
static tpti_score_soon forward_soon(const tpti_attention_forward_job *f,
                                    const tpti_attention_piece *p, tpti_head_rows q, float *y,
                                    size_t r) {
  const tpti_attention *a = f->a;
  tpti_score_soon soon = {.at = {y}, .stride = {a->y_stride}, .rows = q.count, .E = a->E};
  if (r + STRIP + q.count > p->rows) return soon;
  soon.at[1] = q.at + STRIP * q.stride, soon.stride[1] = q.stride;
  return soon;
}

/* A strip of queries against a block of keys, of which it sees strip->keys. */
static void forward_block(const tpti_attention_forward_job *f, forward_scratch *w, tpti_head_rows q,
                          const keys *x, tpti_score_sums to, const tpti_score_strip *strip) {
  size_t E = f->a->E;
  tpti_head_rows k = tpti_head_rows_from(x->k, 0, strip->keys),
                 v = tpti_head_rows_from(x->v, 0, strip->keys);
  bool first = x->u == 0;
  float *y = to.y;
  if (first) to.y = NULL;
  tpti_strip_scores(f->kernels, w->scores, STRIP, w->turned, k, q, E, strip->lead);
  f->kernels->strip_softmax(w->scores, &to, q.count, strip);
  tpti_strip_sums(f->kernels, y, to.y_stride, !first, w->scores, STRIP, v, q.count, E, strip->lead);
}

/* Queries p->t + r on of head p->head + h against the keys x, a block at a time. */
static void forward_strip(const tpti_attention_forward_job *f, const tpti_attention_piece *p,
                          forward_scratch *w, const keys *x, size_t h, size_t r) {
  const tpti_attention *a = f->a;
  size_t t = p->t + r;
  tpti_head_rows q = {f->q + tpti_q_at(a, p->b, t, p->head + h), a->q_stride,
                      tpti_least(STRIP, p->rows - r)};
  float *y = f->y + tpti_y_at(a, p->b, t, p->head + h);
  tpti_score_sums to = {w->max + h * BLOCK + r, w->sum + h * BLOCK + r, y, a->y_stride, a->E};
  if (a->E <= TPTI_STRIP_DEPTH) tpti_strip_turn(f->kernels, w->turned, q, 0, a->E);
  for (size_t c = 0; c < x->k.count; c += BLOCK) {
    size_t n = tpti_least(BLOCK, x->k.count - c);
    keys part = {x->u + c, tpti_head_rows_from(x->k, c, n), tpti_head_rows_from(x->v, c, n)};
    ptrdiff_t lead = (ptrdiff_t)(a->first + t) - (ptrdiff_t)part.u;
    tpti_score_strip strip = {
        tpti_strip_seen(n, lead, q.count - 1), STRIP, lead, f->scale, {.rows = 0}};
    if (strip.keys == 0) return;
    if (part.u == 0) strip.soon = forward_soon(f, p, q, y, r);
    forward_block(f, w, q, &part, to, &strip);
  }
}

static void forward_finish(const tpti_attention_forward_job *f, const tpti_attention_piece *p,
                           forward_scratch *w, size_t h) {
  const tpti_attention *a = f->a;
  size_t head = p->head + h;
  tpti_score_sums to = {w->max + h * BLOCK, w->sum + h * BLOCK,
                        f->y + tpti_y_at(a, p->b, p->t, head), a->y_stride, a->E};
  double *lse = f->lse ? f->lse + (p->b * a->T + p->t) * a->H + head : NULL;
  f->kernels->score_finish(lse, a->H, &to, p->rows);
}

static void forward_start(forward_scratch *w, size_t queries) {
  for (size_t i = 0; i < queries; i++) w->max[i] = -INFINITY, w->sum[i] = 0;
}

void tpti_attention_f32_forward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(forward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const tpti_attention_forward_job *f = argument;
  const tpti_attention *a = f->a;
  forward_scratch *w = scratch;
  tpti_attention_piece p = tpti_attention_piece_of(&f->cut, a, item);
  size_t end = a->first + p.t + p.rows, span = tpti_attention_f32_span(a);
  forward_start(w, p.heads * BLOCK);
  for (size_t u = 0; u < end; u += span) {
    size_t n = tpti_least(span, end - u), kv = tpti_kv_at(a, p.b, u, p.kv);
    keys x = {
        u, tpti_head_near(f->kernels, w->keys, (tpti_head_rows){f->k + kv, a->kv_stride, n}, a->E),
        tpti_head_near(f->kernels, w->values, (tpti_head_rows){f->v + kv, a->kv_stride, n}, a->E)};
    for (size_t h = 0; h < p.heads; h++)
      for (size_t r = 0; r < p.rows; r += STRIP) forward_strip(f, &p, w, &x, h, r);
  }
  for (size_t h = 0; h < p.heads; h++) forward_finish(f, &p, w, h);
}

/* ---- one query to a sequence ---- */

/* A single query: the heads are the rows of the tile, and keys are read where they lie. */
static void single_item(void *argument, size_t item, void *scratch) {
  static_assert(HEADS <= STRIP, "a single query's heads fit a strip");
  const tpti_attention_forward_job *f = argument;
  const tpti_attention *a = f->a;
  forward_scratch *w = scratch;
  tpti_attention_piece p = tpti_attention_piece_of(&f->cut, a, item);
  const float *q = f->q + tpti_q_at(a, p.b, 0, p.head);
  tpti_score_sums to = {w->max, w->sum, f->y + tpti_y_at(a, p.b, 0, p.head), a->E, a->E};
  size_t end = a->first + 1;
  forward_start(w, p.heads);
  for (size_t u = 0; u < end; u += BLOCK) {
    size_t n = tpti_least(BLOCK, end - u), kv = tpti_kv_at(a, p.b, u, p.kv);
    for (size_t h = 0; h < p.heads; h++)
      f->kernels->row_dots(&(tpti_row_dots){.dots = w->scores + h * BLOCK,
                                            .x = f->k + kv,
                                            .y = q + h * a->E,
                                            .dots_stride = 1,
                                            .x_stride = a->kv_stride,
                                            .y_stride = 0,
                                            .rows = n,
                                            .E = a->E});
    tpti_score_shape shape = {p.heads, n, BLOCK, (ptrdiff_t)n};
    f->kernels->score_softmax(w->scores, &to, f->scale, &shape);
    tpti_head_rows v = {f->v + kv, a->kv_stride, n};
    tpti_gemm product = tpti_head_product(w->scores, BLOCK, 1, v, p.heads, a->E);
    tpti_head_multiply(f->kernels, to.y, a->E, u > 0, &product);
  }
  f->kernels->score_finish(f->lse ? f->lse + p.b * a->H + p.head : NULL, 1, &to, p.heads);
}

/* Multiplications (of scores) below which waking other threads costs more than it saves: some 20
 * microseconds of one. */
enum { SHORT = 1 << 17 };

void tpti_attention_f32_single(tpti_run *run, tpti_attention_forward_job *f) {
  const tpti_attention *a = f->a;
  f->cut = tpti_attention_cut_of(a, 1, 2, HEADS);
  size_t items = tpti_attention_items(&f->cut, a);
  if (a->B * a->H * a->E * (a->first + 1) > SHORT) {
    tpti_parallel(run, items, single_item, f);
    return;
  }
  for (size_t i = 0; i < items && !run->stopped; i++) single_item(f, i, run->scratch);
}
