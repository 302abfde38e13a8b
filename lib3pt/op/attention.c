/* Causal attention, block by block (op/attention.h). */
#include "op/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/attention_amx.h"

/* A block of scores is BLOCK queries against BLOCK keys, done in strips of STRIP queries, so that
 * what lies above the diagonal is cut off finely; STRIP is the widest vector, for the columns that
 * are cut. Keys (in the backward also values) are transposed DEPTH channels at a time, which keeps
 * them within the scratch's 1 MiB at any E. At most HEADS query heads share what was transposed. */
enum { BLOCK = 128, STRIP = 16, DEPTH = 512, HEADS = 8 };

enum { LINE = 16 }; /* floats of a cache line */

/* Rows of E floats: of q, k, v, y or their gradients. */
typedef struct rows {
  const float *at;
  size_t stride, count;
} rows;

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

/* c = or, where add, += the product. */
static void multiply(const tpti_kernels *kernels, float *c, size_t c_row, bool add,
                     tpti_gemm product) {
  product.c = c, product.c_row = c_row;
  product.base = add ? c : NULL, product.base_row = c_row;
  kernels->product(&product);
}

/* t [E, BLOCK] = x turned over, where it fits at once. */
static void turn(const tpti_kernels *kernels, float *t, rows x, size_t E) {
  if (E <= DEPTH) kernels->transpose(t, BLOCK, x.at, x.stride, x.count, E);
}

/* s [x.count, y.count] = x y^T, rows BLOCK apart; t is what turn made of y. */
static void multiply_turned(const tpti_kernels *kernels, float *s, float *t, rows x, rows y,
                            size_t E) {
  for (size_t e = 0; e < E; e += DEPTH) {
    rows turned = {t, BLOCK, least(DEPTH, E - e)};
    if (E > DEPTH) kernels->transpose(t, BLOCK, y.at + e, y.stride, y.count, turned.count);
    multiply(kernels, s, BLOCK, e > 0, product_of(x.at + e, x.stride, 1, turned, x.count, y.count));
  }
}

/* ---- forward ---- */

typedef struct forward_scratch {
  float keys[DEPTH * BLOCK];
  float scores[STRIP * BLOCK];
  float max[HEADS * BLOCK], sum[HEADS * BLOCK];
} forward_scratch;

/* Asks for the next strip's rows of one head: they lie too far apart for the processor to guess. */
static void fetch_ahead(const float *x, size_t stride, size_t E, size_t left) {
  for (size_t i = STRIP; i < least(left, 2 * STRIP); i++)
    for (size_t e = 0; e < E; e += LINE) __builtin_prefetch(x + i * stride + e);
}

/* Queries p->t + r on of head p->head + h against n keys from u on. */
static void forward_strip(const forward *f, const piece *p, forward_scratch *w, size_t h, size_t r,
                          size_t u, size_t n) {
  const tpti_attention *a = f->a;
  size_t m = least(STRIP, p->rows - r), t = p->t + r, end = a->first + t + m;
  if (end <= u) return;
  size_t y = y_at(a, p->b, t, p->head + h), kv = kv_at(a, p->b, u, p->kv);
  tpti_score_shape shape = {m, least(n, end - u), BLOCK, (ptrdiff_t)(a->first + t + 1 - u)};
  rows q = {f->q + q_at(a, p->b, t, p->head + h), a->q_stride, m};
  if (u == 0) {
    fetch_ahead(q.at, q.stride, a->E, p->rows - r);
    fetch_ahead(f->y + y, a->y_stride, a->E, p->rows - r);
  }
  multiply_turned(f->kernels, w->scores, w->keys, q, (rows){f->k + kv, a->kv_stride, shape.cols},
                  a->E);
  float *max = w->max + h * BLOCK + r, *sum = w->sum + h * BLOCK + r;
  tpti_score_sums to = {max, sum, f->y + y, a->y_stride, a->E};
  f->kernels->score_softmax(w->scores, &to, f->scale, &shape);
  rows v = {f->v + kv, a->kv_stride, shape.cols};
  multiply(f->kernels, to.y, to.y_stride, u > 0, product_of(w->scores, BLOCK, 1, v, m, a->E));
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

static void forward_item(void *argument, size_t item, void *scratch) {
  const forward *f = argument;
  const tpti_attention *a = f->a;
  forward_scratch *w = scratch;
  piece p = piece_of(&f->cut, a, item);
  size_t end = a->first + p.t + p.rows;
  forward_start(w, p.heads * BLOCK);
  for (size_t u = 0; u < end; u += BLOCK) {
    rows k = {f->k + kv_at(a, p.b, u, p.kv), a->kv_stride, least(BLOCK, end - u)};
    turn(f->kernels, w->keys, k, a->E);
    for (size_t h = 0; h < p.heads; h++)
      for (size_t r = 0; r < p.rows; r += STRIP) forward_strip(f, &p, w, h, r, u, k.count);
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
    size_t n = least(BLOCK, end - u), kv = kv_at(a, p.b, u, p.kv);
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
    multiply(f->kernels, to.y, a->E, u > 0, product_of(w->scores, BLOCK, 1, v, p.heads, a->E));
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

typedef struct backward_scratch {
  float keys[DEPTH * BLOCK], values[DEPTH * BLOCK];
  float p[BLOCK * BLOCK], ds[BLOCK * BLOCK];
} backward_scratch;

static cut backward_cut(const tpti_attention *a) { return cut_of(a, a->T, 1, SIZE_MAX); }

size_t tpti_attention_work(const tpti_attention *a) {
  cut c = backward_cut(a);
  return a->B * a->T * a->H * (c.chunks > 1 ? 2 * a->E + 1 : 1);
}

size_t tpti_attention_work_most(const tpti_attention *a, size_t room, size_t longest) {
  if (a->H == a->K) return room * a->H;
  size_t sequences = (ENOUGH - 1) / a->K; /* with more of them, heads stay together */
  size_t apart = least(room, sequences * longest);
  size_t together = room * a->H, cut_apart = apart * a->H * (2 * a->E + 1);
  return together > cut_apart ? together : cut_apart;
}

/* One head's queries against a block of keys u .. u + n - 1; its scores are at p and ds. */
typedef struct strip {
  size_t b, kv, head, t, m, u, n;
  float *p, *ds;
} strip;

/* p, ds, and dq. */
static void backward_strip(const backward *g, backward_scratch *w, const strip *s) {
  const tpti_attention *a = g->a;
  size_t q = q_at(a, s->b, s->t, s->head), kv = kv_at(a, s->b, s->u, s->kv);
  size_t row = (s->b * a->T + s->t) * a->H + s->head;
  tpti_score_shape shape = {s->m, least(s->n, s->t + s->m - s->u), BLOCK,
                            (ptrdiff_t)(s->t + 1 - s->u)};
  rows k = {g->k + kv, a->kv_stride, shape.cols}, v = {g->v + kv, a->kv_stride, shape.cols};
  rows dy = {g->dy + y_at(a, s->b, s->t, s->head), a->y_stride, s->m};
  multiply_turned(g->kernels, s->p, w->keys, (rows){g->q + q, a->q_stride, s->m}, k, a->E);
  multiply_turned(g->kernels, s->ds, w->values, dy, v, a->E);
  g->kernels->score_gradient(s->p, s->ds, g->lse + row, g->work + row, a->H, g->scale, &shape);
  if (s->t == 0) memset(s->ds, 0, shape.cols * sizeof *s->ds); /* position 0: exactly 0 */
  multiply(g->kernels, g->dq + q, a->q_stride, s->u > 0,
           product_of(s->ds, BLOCK, 1, k, s->m, a->E));
}

/* dk and dv from a block of queries: strips of keys, each with the queries that may see it. The
 * block on the diagonal of the first head is the first to come to every key. */
static void backward_keys(const backward *g, const piece *p, const strip *s) {
  const tpti_attention *a = g->a;
  bool diagonal = s->t == s->u, first = diagonal && s->head == p->head;
  for (size_t c = 0; c < s->n; c += STRIP) {
    size_t r = diagonal ? c : 0, m = least(STRIP, s->n - c), at = r * BLOCK + c;
    sink to = sink_of(g, p, s->u + c);
    rows q = {g->q + q_at(a, s->b, s->t + r, s->head), a->q_stride, s->m - r};
    rows dy = {g->dy + y_at(a, s->b, s->t + r, s->head), a->y_stride, s->m - r};
    multiply(g->kernels, to.dk, to.stride, !first, product_of(s->ds + at, 1, BLOCK, q, m, a->E));
    multiply(g->kernels, to.dv, to.stride, !first, product_of(s->p + at, 1, BLOCK, dy, m, a->E));
  }
}

/* One head's queries t .. t + m - 1 against the block of keys at u. */
static void backward_block(const backward *g, const piece *p, backward_scratch *w, strip block) {
  for (size_t r = 0; r < block.m; r += STRIP) {
    strip s = block;
    s.t += r, s.m = least(STRIP, block.m - r);
    s.p += r * BLOCK, s.ds += r * BLOCK;
    backward_strip(g, w, &s);
  }
  backward_keys(g, p, &block);
}

static void backward_item(void *argument, size_t item, void *scratch) {
  const backward *g = argument;
  const tpti_attention *a = g->a;
  backward_scratch *w = scratch;
  piece p = piece_of(&g->cut, a, item);
  backward_deltas(g, &p);
  for (size_t u = 0; u < a->T; u += BLOCK) {
    size_t kv = kv_at(a, p.b, u, p.kv), n = least(BLOCK, a->T - u);
    turn(g->kernels, w->keys, (rows){g->k + kv, a->kv_stride, n}, a->E);
    turn(g->kernels, w->values, (rows){g->v + kv, a->kv_stride, n}, a->E);
    for (size_t h = p.head; h < p.head + p.heads; h++)
      for (size_t t = u; t < a->T; t += BLOCK)
        backward_block(g, &p, w,
                       (strip){p.b, p.kv, h, t, least(BLOCK, a->T - t), u, n, w->p, w->ds});
  }
}

/* dk and dv of a block of positions of one key/value head: sums over its query heads, in order. */
static void gather_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward *g = argument;
  const tpti_attention *a = g->a;
  size_t group = a->H / a->K, blocks = tpti_row_blocks(a->T), lane = item / blocks;
  size_t u = item % blocks * TPTI_ROW_BLOCK, end = least(a->T, u + TPTI_ROW_BLOCK);
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
