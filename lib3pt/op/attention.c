/* Causal attention, block by block (op/attention.h). */
#include "op/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/attention_amx.h"

/* Scores are held turned over, keys by queries (kernel/attention.h): what belongs to a query is
 * then a lane, and q and dy are turned a STRIP of queries at a time. What lies above the diagonal
 * is cut off by vectors, HALF a strip, where scores are made, and by FEW queries or keys where they
 * are summed over. At most HEADS query heads share the keys of a forward. */
enum { BLOCK = 128, STRIP = TPTI_SCORE_COLUMNS, HALF = STRIP / 2, FEW = 8, HEADS = 8 };

/* With at most WIDE channels, rows are copied together before they are used again and again: at the
 * distance of a position they would fall on a few sets of the first cache level. DEPTH channels are
 * turned at once. */
enum { WIDE = 256, DEPTH = 256, NEAR = BLOCK * WIDE };

enum { LINE = 16 }; /* floats of a cache line */

/* Rows of E floats: of q, k, v, y or their gradients. */
typedef struct rows {
  const float *at;
  size_t stride, count;
} rows;

static rows rows_from(rows x, size_t first, size_t count) {
  return (rows){x.at + first * x.stride, x.stride, count};
}

/* a [m, b.count] b [b.count, n]; a's elements lie a_row and a_col apart. */
static tpti_gemm product_of(const float *a, size_t a_row, size_t a_col, rows b, size_t m,
                            size_t n) {
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
static void multiply(const tpti_kernels *kernels, float *c, size_t c_row, bool add,
                     tpti_gemm *product) {
  product->c = c, product->c_row = c_row;
  product->base = add ? c : NULL, product->base_row = c_row;
  kernels->product(product);
}

/* The rows together at `to` [NEAR], or where they are. */
static rows near(const tpti_kernels *kernels, float *to, rows x, size_t E) {
  if (E > WIDE) return x;
  kernels->copy_rows(to, x.at, x.stride, x.count, E);
  return (rows){to, E, x.count};
}

/* t [DEPTH, STRIP] = channels e on of a strip of queries turned over; missing queries are 0. */
static void turn(const tpti_kernels *kernels, float *t, rows queries, size_t e, size_t E) {
  size_t depth = tpti_least(DEPTH, E - e);
  if (queries.count < STRIP) memset(t, 0, depth * STRIP * sizeof *t);
  kernels->transpose(t, STRIP, queries.at + e, queries.stride, queries.count, depth);
}

/* s [keys, STRIP] = keys . queries, of which t holds what turn made, where it fits; rows s_row
 * apart, as far as the first queries see them. The later half of the strip sees HALF keys more. */
static void strip_scores(const tpti_kernels *kernels, float *s, size_t s_row, float *t, rows keys,
                         rows queries, size_t E, ptrdiff_t lead) {
  ptrdiff_t seen = lead + HALF;
  size_t early = seen <= 0 ? 0 : tpti_least(keys.count, (size_t)seen);
  for (size_t e = 0; e < E; e += DEPTH) {
    rows turned = {t, STRIP, tpti_least(DEPTH, E - e)};
    const float *k = keys.at + e;
    if (E > DEPTH) turn(kernels, t, queries, e, E);
    tpti_gemm both = product_of(k, keys.stride, 1, turned, early, STRIP);
    multiply(kernels, s, s_row, e > 0, &both);
    turned.at += HALF;
    tpti_gemm late =
        product_of(k + early * keys.stride, keys.stride, 1, turned, keys.count - early, HALF);
    multiply(kernels, s + early * s_row + HALF, s_row, e > 0, &late);
  }
}

/* Of n keys those that queries up to number `last` of a strip see. */
static size_t seen_by(size_t n, ptrdiff_t lead, size_t last) {
  ptrdiff_t seen = lead + (ptrdiff_t)last + 1;
  return seen <= 0 ? 0 : tpti_least(n, (size_t)seen);
}

/* out [queries, E] = or += s^T x, s [x.count, STRIP or more columns], for `queries` queries of
 * which the first sees lead + 1 of the rows of x. */
static void strip_sums(const tpti_kernels *kernels, float *out, size_t out_row, bool add,
                       const float *s, size_t s_row, rows x, size_t queries, size_t E,
                       ptrdiff_t lead) {
  size_t step = lead + 1 < (ptrdiff_t)x.count ? FEW : queries;
  for (size_t r = 0; r < queries; r += step) {
    size_t m = tpti_least(step, queries - r), n = seen_by(x.count, lead, r + m - 1);
    tpti_gemm product = product_of(s + r, 1, s_row, (rows){x.at, x.stride, n}, m, E);
    multiply(kernels, out + r * out_row, out_row, add, &product);
  }
}

/* ---- forward ---- */

typedef struct forward_scratch {
  float keys[NEAR], values[NEAR];
  float turned[DEPTH * STRIP], scores[BLOCK * STRIP];
  float max[HEADS * BLOCK], sum[HEADS * BLOCK];
} forward_scratch;

/* Keys u on, and their values. */
typedef struct keys {
  size_t u;
  rows k, v;
} keys;

/* While the first keys are at work: asks for where y goes, and for the next queries of the head. */
static tpti_score_soon forward_soon(const forward *f, const piece *p, rows q, float *y, size_t r) {
  const tpti_attention *a = f->a;
  tpti_score_soon soon = {.at = {y}, .stride = {a->y_stride}, .rows = q.count, .E = a->E};
  if (r + STRIP + q.count > p->rows) return soon;
  soon.at[1] = q.at + STRIP * q.stride, soon.stride[1] = q.stride;
  return soon;
}

/* A strip of queries against a block of keys, of which it sees strip->keys. */
static void forward_block(const forward *f, forward_scratch *w, rows q, const keys *x,
                          tpti_score_sums to, const tpti_score_strip *strip) {
  size_t E = f->a->E;
  rows k = rows_from(x->k, 0, strip->keys), v = rows_from(x->v, 0, strip->keys);
  bool first = x->u == 0;
  float *y = to.y;
  if (first) to.y = NULL;
  strip_scores(f->kernels, w->scores, STRIP, w->turned, k, q, E, strip->lead);
  f->kernels->strip_softmax(w->scores, &to, q.count, strip);
  strip_sums(f->kernels, y, to.y_stride, !first, w->scores, STRIP, v, q.count, E, strip->lead);
}

/* Queries p->t + r on of head p->head + h against the keys x, a block at a time. */
static void forward_strip(const forward *f, const piece *p, forward_scratch *w, const keys *x,
                          size_t h, size_t r) {
  const tpti_attention *a = f->a;
  size_t t = p->t + r;
  rows q = {f->q + q_at(a, p->b, t, p->head + h), a->q_stride, tpti_least(STRIP, p->rows - r)};
  float *y = f->y + y_at(a, p->b, t, p->head + h);
  tpti_score_sums to = {w->max + h * BLOCK + r, w->sum + h * BLOCK + r, y, a->y_stride, a->E};
  if (a->E <= DEPTH) turn(f->kernels, w->turned, q, 0, a->E);
  for (size_t c = 0; c < x->k.count; c += BLOCK) {
    size_t n = tpti_least(BLOCK, x->k.count - c);
    keys part = {x->u + c, rows_from(x->k, c, n), rows_from(x->v, c, n)};
    ptrdiff_t lead = (ptrdiff_t)(a->first + t) - (ptrdiff_t)part.u;
    tpti_score_strip strip = {seen_by(n, lead, q.count - 1), STRIP, lead, f->scale, {.rows = 0}};
    if (strip.keys == 0) return;
    if (part.u == 0) strip.soon = forward_soon(f, p, q, y, r);
    forward_block(f, w, q, &part, to, &strip);
  }
}

static void forward_finish(const forward *f, const piece *p, forward_scratch *w, size_t h) {
  const tpti_attention *a = f->a;
  size_t head = p->head + h;
  tpti_score_sums to = {w->max + h * BLOCK, w->sum + h * BLOCK, f->y + y_at(a, p->b, p->t, head),
                        a->y_stride, a->E};
  float *lse = f->lse ? f->lse + (p->b * a->T + p->t) * a->H + head : NULL;
  f->kernels->score_finish(lse, a->H, &to, p->rows);
}

static void forward_start(forward_scratch *w, size_t queries) {
  for (size_t i = 0; i < queries; i++) w->max[i] = -INFINITY, w->sum[i] = 0;
}

/* Keys that are held together at once: whole blocks. */
static size_t span_of(const tpti_attention *a) {
  return a->E > WIDE ? BLOCK : NEAR / a->E / BLOCK * BLOCK;
}

static void forward_item(void *argument, size_t item, void *scratch) {
  const forward *f = argument;
  const tpti_attention *a = f->a;
  forward_scratch *w = scratch;
  piece p = piece_of(&f->cut, a, item);
  size_t end = a->first + p.t + p.rows, span = span_of(a);
  forward_start(w, p.heads * BLOCK);
  for (size_t u = 0; u < end; u += span) {
    size_t n = tpti_least(span, end - u), kv = kv_at(a, p.b, u, p.kv);
    keys x = {u, near(f->kernels, w->keys, (rows){f->k + kv, a->kv_stride, n}, a->E),
              near(f->kernels, w->values, (rows){f->v + kv, a->kv_stride, n}, a->E)};
    for (size_t h = 0; h < p.heads; h++)
      for (size_t r = 0; r < p.rows; r += STRIP) forward_strip(f, &p, w, &x, h, r);
  }
  for (size_t h = 0; h < p.heads; h++) forward_finish(f, &p, w, h);
}

/* A single query: the heads are the rows of the tile, and keys are read where they lie. */
static void single_item(void *argument, size_t item, void *scratch) {
  const forward *f = argument;
  const tpti_attention *a = f->a;
  forward_scratch *w = scratch;
  piece p = piece_of(&f->cut, a, item);
  const float *q = f->q + q_at(a, p.b, 0, p.head);
  tpti_score_sums to = {w->max, w->sum, f->y + y_at(a, p.b, 0, p.head), a->E, a->E};
  size_t end = a->first + 1;
  forward_start(w, p.heads);
  for (size_t u = 0; u < end; u += BLOCK) {
    size_t n = tpti_least(BLOCK, end - u), kv = kv_at(a, p.b, u, p.kv);
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
    rows v = {f->v + kv, a->kv_stride, n};
    tpti_gemm product = product_of(w->scores, BLOCK, 1, v, p.heads, a->E);
    multiply(f->kernels, to.y, a->E, u > 0, &product);
  }
  f->kernels->score_finish(f->lse ? f->lse + p.b * a->H + p.head : NULL, 1, &to, p.heads);
}

/* Multiplications (of scores) below which waking other threads costs more than it saves: some 20
 * microseconds of one. */
enum { SHORT = 1 << 17 };

static void forward_single(tpti_run *run, forward *f) {
  const tpti_attention *a = f->a;
  f->cut = cut_of(a, 1, 2, HEADS);
  size_t items = cut_items(&f->cut, a);
  if (a->B * a->H * a->E * (a->first + 1) > SHORT) {
    tpti_parallel(run, items, single_item, f);
    return;
  }
  for (size_t i = 0; i < items && !run->stopped; i++) single_item(f, i, run->scratch);
}

void tpti_attention_forward(tpti_run *run, float *y, float *lse, const float *q, const float *k,
                            const float *v, const tpti_attention *a) {
  static_assert(sizeof(forward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  static_assert(HEADS <= STRIP, "a single query's heads fit a strip");
  const tpti_scores *scores = tpti_attention_amx_choose(run, a);
  forward f = {run->kernels, scores, y, lse, q, k, v, a, {0}, 1.0f / sqrtf((float)a->E)};
  if (a->T == 1) {
    forward_single(run, &f);
    return;
  }
  f.cut = scores ? tpti_attention_amx_cut(a) : cut_of(a, BLOCK, 1, HEADS);
  tpti_parallel(run, cut_items(&f.cut, a), scores ? tpti_attention_amx_forward : forward_item, &f);
}

/* ---- backward ---- */

/* Floats from row to row of a block of scores: no power of two, so that a column of them does not
 * fall on a few sets of the first cache level. */
enum { APART = BLOCK + LINE };

/* Keys that queries are read for at once, at most. */
enum { KEYS = 2 * BLOCK };

typedef struct backward_scratch {
  float keys[NEAR], values[NEAR], q[NEAR], dy[NEAR];
  float turned[DEPTH * STRIP];
  float p[KEYS * APART], ds[KEYS * APART]; /* keys by queries */
  float lse[BLOCK], delta[BLOCK];
} backward_scratch;

static cut backward_cut(const tpti_attention *a) { return cut_of(a, a->T, 1, SIZE_MAX); }

size_t tpti_attention_work(const tpti_attention *a) {
  cut c = backward_cut(a);
  return a->B * a->T * a->H * (c.chunks > 1 ? 2 * a->E + 1 : 1);
}

size_t tpti_attention_work_most(const tpti_attention *a, size_t room, size_t longest) {
  if (a->H == a->K) return room * a->H;
  size_t sequences = (ENOUGH - 1) / a->K; /* with more of them, heads stay together */
  size_t apart = tpti_least(room, sequences * longest);
  size_t together = room * a->H, cut_apart = apart * a->H * (2 * a->E + 1);
  return together > cut_apart ? together : cut_apart;
}

/* One head's queries t on against a block of keys u on: k, v, q and dy are theirs. */
typedef struct block {
  size_t b, head, end, t, u; /* the last head of the item is end - 1 */
  rows k, v, q, dy;
} block;

static ptrdiff_t lead_of(const block *x) { return (ptrdiff_t)x->t - (ptrdiff_t)x->u; }

/* While queries r on are at work: asks for where their dq goes, and for as many of the queries that
 * come next: of the same head, the next head, the next keys. */
static tpti_score_soon soon_of(const backward *g, const block *x, size_t r) {
  const tpti_attention *a = g->a;
  size_t t = x->t + BLOCK, head = x->head;
  tpti_score_soon soon = {.rows = tpti_least(STRIP, x->q.count - r), .E = a->E};
  soon.at[0] = g->dq + q_at(a, x->b, x->t + r, head), soon.stride[0] = a->q_stride;
  if (t >= a->T) t = x->u, head++;
  if (head == x->end || t + r + soon.rows > a->T) return soon;
  soon.at[1] = g->q + q_at(a, x->b, t + r, head), soon.stride[1] = a->q_stride;
  soon.at[2] = g->dy + y_at(a, x->b, t + r, head), soon.stride[2] = a->y_stride;
  if (x->u > 0) return soon;
  soon.at[3] = g->y + y_at(a, x->b, t + r, head), soon.stride[3] = a->y_stride;
  return soon;
}

/* p and ds of the block's queries r on. */
static void backward_strip(const backward *g, backward_scratch *w, const block *x, size_t r) {
  const tpti_kernels *kernels = g->kernels;
  size_t m = tpti_least(STRIP, x->q.count - r), E = g->a->E;
  ptrdiff_t lead = lead_of(x) + (ptrdiff_t)r;
  size_t n = seen_by(x->k.count, lead, m - 1);
  float *p = w->p + r, *ds = w->ds + r;
  rows q = rows_from(x->q, r, m), dy = rows_from(x->dy, r, m);
  if (E <= DEPTH) turn(kernels, w->turned, q, 0, E);
  strip_scores(kernels, p, APART, w->turned, rows_from(x->k, 0, n), q, E, lead);
  if (E <= DEPTH) turn(kernels, w->turned, dy, 0, E);
  strip_scores(kernels, ds, APART, w->turned, rows_from(x->v, 0, n), dy, E, lead);
  tpti_score_strip strip = {n, APART, lead, g->scale, soon_of(g, x, r)};
  kernels->strip_gradient(p, ds, w->lse + r, w->delta + r, &strip);
}

/* dk and dv of m keys c on from the queries r on. */
static void keys_from(const backward *g, const piece *p, const backward_scratch *w, const block *x,
                      size_t c, size_t m, size_t r, bool add) {
  size_t at = c * APART + r, left = x->q.count - r, E = g->a->E;
  sink to = sink_of(g, p, x->u + c);
  rows q = rows_from(x->q, r, left), dy = rows_from(x->dy, r, left);
  tpti_gemm of_q = product_of(w->ds + at, APART, 1, q, m, E);
  multiply(g->kernels, to.dk, to.stride, add, &of_q);
  tpti_gemm of_dy = product_of(w->p + at, APART, 1, dy, m, E);
  multiply(g->kernels, to.dv, to.stride, add, &of_dy);
}

/* dk and dv from a block of queries: of the keys before it, then of those on the diagonal, a few
 * with the queries that see them. The first head's diagonal is the first to come to a key. */
static void backward_keys(const backward *g, const piece *p, const backward_scratch *w,
                          const block *x) {
  size_t n = x->k.count, before = tpti_least(n, x->t - x->u),
         end = tpti_least(n, before + x->q.count);
  if (before > 0) keys_from(g, p, w, x, 0, before, 0, true);
  for (size_t c = before; c < end; c += FEW)
    keys_from(g, p, w, x, c, tpti_least(FEW, end - c), c - before, x->head != p->head);
}

/* The first keys see all queries. */
static void block_deltas(const backward *g, const block *x) {
  const tpti_attention *a = g->a;
  g->kernels->row_dots(&(tpti_row_dots){.dots = g->work + (x->b * a->T + x->t) * a->H + x->head,
                                        .x = x->dy.at,
                                        .y = g->y + y_at(a, x->b, x->t, x->head),
                                        .dots_stride = a->H,
                                        .x_stride = x->dy.stride,
                                        .y_stride = a->y_stride,
                                        .rows = x->dy.count,
                                        .E = a->E});
}

static void backward_block(const backward *g, const piece *p, backward_scratch *w, const block *x) {
  const tpti_attention *a = g->a;
  size_t m = x->q.count, row = (x->b * a->T + x->t) * a->H + x->head;
  if (x->u == 0) block_deltas(g, x);
  for (size_t i = 0; i < m; i++) {
    w->lse[i] = g->lse[row + i * a->H];
    w->delta[i] = g->work[row + i * a->H];
  }
  for (size_t i = m; i % STRIP != 0; i++) w->lse[i] = INFINITY, w->delta[i] = 0; /* no query */
  for (size_t r = 0; r < m; r += STRIP) backward_strip(g, w, x, r);
  if (x->t == 0) w->ds[0] = 0; /* position 0: exactly 0 */
  strip_sums(g->kernels, g->dq + q_at(a, x->b, x->t, x->head), a->q_stride, x->u > 0, w->ds, APART,
             x->k, m, a->E, lead_of(x));
  backward_keys(g, p, w, x);
}

/* The keys of x against all queries of one head that see one of them. */
static void backward_head(const backward *g, const piece *p, backward_scratch *w, block *x) {
  const tpti_attention *a = g->a;
  for (x->t = x->u; x->t < a->T; x->t += BLOCK) {
    size_t m = tpti_least(BLOCK, a->T - x->t);
    rows q = {g->q + q_at(a, x->b, x->t, x->head), a->q_stride, m};
    rows dy = {g->dy + y_at(a, x->b, x->t, x->head), a->y_stride, m};
    x->q = near(g->kernels, w->q, q, a->E), x->dy = near(g->kernels, w->dy, dy, a->E);
    backward_block(g, p, w, x);
  }
}

static void backward_item(void *argument, size_t item, void *scratch) {
  const backward *g = argument;
  const tpti_attention *a = g->a;
  backward_scratch *w = scratch;
  piece p = piece_of(&g->cut, a, item);
  size_t span = tpti_least(KEYS, span_of(a));
  for (size_t u = 0; u < a->T; u += span) {
    size_t kv = kv_at(a, p.b, u, p.kv), n = tpti_least(span, a->T - u);
    block x = {.b = p.b, .end = p.head + p.heads, .u = u};
    x.k = near(g->kernels, w->keys, (rows){g->k + kv, a->kv_stride, n}, a->E);
    x.v = near(g->kernels, w->values, (rows){g->v + kv, a->kv_stride, n}, a->E);
    for (x.head = p.head; x.head < x.end; x.head++) backward_head(g, &p, w, &x);
  }
}

/* dk and dv of a block of positions of one key/value head: sums over its query heads, in order. */
static void gather_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward *g = argument;
  const tpti_attention *a = g->a;
  size_t group = a->H / a->K, blocks = tpti_row_blocks(a->T), lane = item / blocks;
  size_t u = item % blocks * TPTI_ROW_BLOCK, end = tpti_least(a->T, u + TPTI_ROW_BLOCK);
  piece p = {.b = lane / a->K, .kv = lane % a->K, .head = lane % a->K * group};
  for (; u < end; u++) {
    sink from = sink_of(g, &p, u);
    size_t kv = kv_at(a, p.b, u, p.kv), apart = a->T * a->E;
    float *dk = g->dk + kv, *dv = g->dv + kv;
    memcpy(dk, from.dk, a->E * sizeof *dk), memcpy(dv, from.dv, a->E * sizeof *dv);
    for (size_t h = 1; h < group; h++)
      for (size_t e = 0; e < a->E; e++) {
        dk[e] += from.dk[h * apart + e];
        dv[e] += from.dv[h * apart + e];
      }
  }
}

void tpti_attention_backward(tpti_run *run, float *dq, float *dk, float *dv, float *work,
                             const float *dy, const float *y, const float *lse, const float *q,
                             const float *k, const float *v, const tpti_attention *a) {
  static_assert(sizeof(backward_scratch) <= TPTI_SCRATCH, "the tiles fit the scratch");
  assert(a->first == 0);
  const tpti_scores *scores = tpti_attention_amx_choose(run, a);
  backward g = {run->kernels, scores, .dq = dq, .dk = dk, .dv = dv, .work = work};
  g.dy = dy, g.y = y, g.lse = lse, g.q = q, g.k = k, g.v = v, g.a = a;
  g.cut = backward_cut(a), g.scale = 1.0f / sqrtf((float)a->E);
  tpti_parallel(run, cut_items(&g.cut, a), scores ? tpti_attention_amx_backward : backward_item,
                &g);
  if (g.cut.chunks == 1) return;
  tpti_parallel(run, a->B * a->K * tpti_row_blocks(a->T), gather_item, &g);
}
