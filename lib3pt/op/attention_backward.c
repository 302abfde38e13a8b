/* Attention's backward in float32 (op/attention_f32.h). */
#include "op/attention_f32.h"

#include <assert.h>
#include <math.h>

enum { BLOCK = TPTI_ATTENTION_BLOCK, STRIP = TPTI_SCORE_COLUMNS };

enum { LINE = 16 }; /* floats of a cache line */

/* Floats from row to row of a block of scores: no power of two, so that a column of them does not
 * fall on a few sets of the first cache level. */
enum { APART = BLOCK + LINE };

/* Keys that queries are read for at once, at most. */
enum { KEYS = 2 * BLOCK };

typedef struct backward_scratch {
  float keys[TPTI_HEAD_NEAR], values[TPTI_HEAD_NEAR], q[TPTI_HEAD_NEAR], dy[TPTI_HEAD_NEAR];
  float turned[TPTI_STRIP_DEPTH * STRIP];
  float p[KEYS * APART], ds[KEYS * APART]; /* keys by queries */
  float lse[BLOCK], rest[BLOCK], delta[BLOCK];
} backward_scratch;

/* One head's queries t on against a block of keys u on: k, v, q and dy are theirs. */
typedef struct block {
  size_t b, head, end, t, u; /* the last head of the item is end - 1 */
  tpti_head_rows k, v, q, dy;
} block;

static ptrdiff_t lead_of(const block *x) { return (ptrdiff_t)x->t - (ptrdiff_t)x->u; }

/* While queries r on are at work: asks for where their dq goes, and for as many of the queries that
 * come next: of the same head, the next head, the next keys. */
static tpti_score_soon soon_of(const tpti_attention_backward_job *g, const block *x, size_t r) {
  const tpti_attention *a = g->a;
  size_t t = x->t + BLOCK, head = x->head;
  tpti_score_soon soon = {.rows = tpti_least(STRIP, x->q.count - r), .E = a->E};
  soon.at[0] = g->dq + tpti_q_at(a, x->b, x->t + r, head), soon.stride[0] = a->q_stride;
  if (t >= a->T) t = x->u, head++;
  if (head == x->end || t + r + soon.rows > a->T) return soon;
  soon.at[1] = g->q + tpti_q_at(a, x->b, t + r, head), soon.stride[1] = a->q_stride;
  soon.at[2] = g->dy + tpti_y_at(a, x->b, t + r, head), soon.stride[2] = a->y_stride;
  if (x->u > 0) return soon;
  soon.at[3] = g->y + tpti_y_at(a, x->b, t + r, head), soon.stride[3] = a->y_stride;
  return soon;
}

/* p and ds of the block's queries r on. */
static void backward_strip(const tpti_attention_backward_job *g, backward_scratch *w,
                           const block *x, size_t r) {
  const tpti_kernels *kernels = g->kernels;
  size_t m = tpti_least(STRIP, x->q.count - r), E = g->a->E;
  ptrdiff_t lead = lead_of(x) + (ptrdiff_t)r;
  size_t n = tpti_strip_seen(x->k.count, lead, m - 1);
  float *p = w->p + r, *ds = w->ds + r;
  tpti_head_rows q = tpti_head_rows_from(x->q, r, m), dy = tpti_head_rows_from(x->dy, r, m);
  if (E <= TPTI_STRIP_DEPTH) tpti_strip_turn(kernels, w->turned, q, 0, E);
  tpti_strip_scores(kernels, p, APART, w->turned, tpti_head_rows_from(x->k, 0, n), q, E, lead);
  if (E <= TPTI_STRIP_DEPTH) tpti_strip_turn(kernels, w->turned, dy, 0, E);
  tpti_strip_scores(kernels, ds, APART, w->turned, tpti_head_rows_from(x->v, 0, n), dy, E, lead);
  tpti_score_strip strip = {n, APART, lead, g->scale, soon_of(g, x, r)};
  tpti_score_ends from = {w->lse + r, w->rest + r, w->delta + r};
  kernels->strip_gradient(p, ds, &from, &strip);
}

/* dk and dv of m keys c on from the queries r on. */
static void keys_from(const tpti_attention_backward_job *g, const tpti_attention_piece *p,
                      const backward_scratch *w, const block *x, size_t c, size_t m, size_t r,
                      bool add) {
  size_t at = c * APART + r, left = x->q.count - r, E = g->a->E;
  tpti_attention_sink to = tpti_attention_sink_of(g, p, x->u + c);
  tpti_head_rows q = tpti_head_rows_from(x->q, r, left), dy = tpti_head_rows_from(x->dy, r, left);
  tpti_gemm of_q = tpti_head_product(w->ds + at, APART, 1, q, m, E);
  tpti_head_multiply(g->kernels, to.dk, to.stride, add, &of_q);
  tpti_gemm of_dy = tpti_head_product(w->p + at, APART, 1, dy, m, E);
  tpti_head_multiply(g->kernels, to.dv, to.stride, add, &of_dy);
}

/* dk and dv from a block of queries: of the keys before it, then of those on the diagonal, a few
 * with the queries that see them. The first head's diagonal is the first to come to a key. */
static void backward_keys(const tpti_attention_backward_job *g, const tpti_attention_piece *p,
                          const backward_scratch *w, const block *x) {
  size_t n = x->k.count, before = tpti_least(n, x->t - x->u),
         end = tpti_least(n, before + x->q.count);
  if (before > 0) keys_from(g, p, w, x, 0, before, 0, true);
  for (size_t c = before; c < end; c += TPTI_STRIP_FEW)
    keys_from(g, p, w, x, c, tpti_least(TPTI_STRIP_FEW, end - c), c - before, x->head != p->head);
}

/* The first keys see all queries. */
static void block_deltas(const tpti_attention_backward_job *g, const block *x) {
  const tpti_attention *a = g->a;
  g->kernels->row_dots(&(tpti_row_dots){.dots = g->work + (x->b * a->T + x->t) * a->H + x->head,
                                        .x = x->dy.at,
                                        .y = g->y + tpti_y_at(a, x->b, x->t, x->head),
                                        .dots_stride = a->H,
                                        .x_stride = x->dy.stride,
                                        .y_stride = a->y_stride,
                                        .rows = x->dy.count,
                                        .E = a->E});
}

static void backward_block(const tpti_attention_backward_job *g, const tpti_attention_piece *p,
                           backward_scratch *w, const block *x) {
  const tpti_attention *a = g->a;
  size_t m = x->q.count, row = (x->b * a->T + x->t) * a->H + x->head;
  if (x->u == 0) block_deltas(g, x);
  for (size_t i = 0; i < m; i++) {
    double lse = g->lse[row + i * a->H];
    w->lse[i] = (float)lse, w->rest[i] = (float)(lse - (double)w->lse[i]);
    w->delta[i] = g->work[row + i * a->H];
  }
  for (size_t i = m; i % STRIP != 0; i++) /* no query */
    w->lse[i] = INFINITY, w->rest[i] = w->delta[i] = 0;
  for (size_t r = 0; r < m; r += STRIP) backward_strip(g, w, x, r);
  if (x->t == 0) w->ds[0] = 0; /* position 0: exactly 0 */
  tpti_strip_sums(g->kernels, g->dq + tpti_q_at(a, x->b, x->t, x->head), a->q_stride, x->u > 0,
                  w->ds, APART, x->k, m, a->E, lead_of(x));
  backward_keys(g, p, w, x);
}

/* The keys of x against all queries of one head that see one of them. */
static void backward_head(const tpti_attention_backward_job *g, const tpti_attention_piece *p,
                          backward_scratch *w, block *x) {
  const tpti_attention *a = g->a;
  for (x->t = x->u; x->t < a->T; x->t += BLOCK) {
    size_t m = tpti_least(BLOCK, a->T - x->t);
    tpti_head_rows q = {g->q + tpti_q_at(a, x->b, x->t, x->head), a->q_stride, m};
    tpti_head_rows dy = {g->dy + tpti_y_at(a, x->b, x->t, x->head), a->y_stride, m};
    x->q = tpti_head_near(g->kernels, w->q, q, a->E);
    x->dy = tpti_head_near(g->kernels, w->dy, dy, a->E);
    backward_block(g, p, w, x);
  }
}

void tpti_attention_f32_backward(void *argument, size_t item, void *scratch) {
  static_assert(sizeof(backward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  const tpti_attention_backward_job *g = argument;
  const tpti_attention *a = g->a;
  backward_scratch *w = scratch;
  tpti_attention_piece p = tpti_attention_piece_of(&g->cut, a, item);
  size_t span = tpti_least(KEYS, tpti_attention_f32_span(a));
  for (size_t u = 0; u < a->T; u += span) {
    size_t kv = tpti_kv_at(a, p.b, u, p.kv), n = tpti_least(span, a->T - u);
    block x = {.b = p.b, .end = p.head + p.heads, .u = u};
    x.k = tpti_head_near(g->kernels, w->keys, (tpti_head_rows){g->k + kv, a->kv_stride, n}, a->E);
    x.v = tpti_head_near(g->kernels, w->values, (tpti_head_rows){g->v + kv, a->kv_stride, n}, a->E);
    for (x.head = p.head; x.head < x.end; x.head++) {
      if (!tpti_run_tick_item(g->run, scratch)) return;
      backward_head(g, &p, w, &x);
    }
  }
}
