/* The matrix products of one training step. */
#include "products.h"

#include <blis.h>

#include "base/size.h"
#include "bench.h"
#include "kernel/gemm.h"

enum { MOST_TURNS = 64, MOST_WAYS = 2 };

/* Each time is of calls that last so long: far above the clock's own error. */
static const double least_seconds = 5e-3;

/* ---- the list ---- */

static void add_map(bench_products *p, bench_product map) {
  for (int kind = BENCH_FORWARD; kind <= BENCH_WEIGHT; kind++) {
    map.kind = (bench_kind)kind;
    p->list[p->count++] = map;
  }
}

static void add_block(bench_products *p, const tpti_dims *d, const tpti_acts *acts, size_t M) {
  size_t cut = acts->group < M ? acts->group : M, qkv = d->D + 2 * d->K * tpti_dims_E(d);
  const bench_product any = {.rows = M, .times = d->L, .cut = cut, .whole = cut < M};
  bench_product map = any;
  map.map = "qkv", map.out = qkv, map.in = d->D;
  add_map(p, map);
  map.map = "o", map.out = d->D;
  add_map(p, map);
  map.map = "gate_up", map.out = 2 * d->F;
  add_map(p, map);
  map.map = "down", map.out = d->D, map.in = d->F;
  add_map(p, map);
}

/* All its rows at once would be logits that no step has. */
static void add_head(bench_products *p, const tpti_dims *d, const tpti_acts *acts, size_t M) {
  add_map(p,
          (bench_product){
              .map = "head", .rows = M, .out = d->V, .in = d->D, .times = 1, .cut = acts->chunk});
}

double bench_product_flop(const bench_product *p) {
  return 2.0 * (double)p->rows * (double)p->out * (double)p->in * (double)p->times;
}

/* ---- one of them, `rows` of it ---- */

static tpti_gemm forward_of(const bench_products *p, const bench_product *a, size_t rows) {
  return (tpti_gemm){.c = p->y,
                     .c_row = a->out,
                     .a = p->x,
                     .a_row = a->in,
                     .a_col = 1,
                     .b = p->w,
                     .b_row = 1,
                     .b_col = a->in,
                     .m = rows,
                     .n = a->out,
                     .k = a->in};
}

static tpti_gemm input_of(const bench_products *p, const bench_product *a, size_t rows) {
  return (tpti_gemm){.c = p->x,
                     .c_row = a->in,
                     .a = p->y,
                     .a_row = a->out,
                     .a_col = 1,
                     .b = p->w,
                     .b_row = a->in,
                     .b_col = 1,
                     .m = rows,
                     .n = a->in,
                     .k = a->out};
}

static tpti_gemm weight_of(const bench_products *p, const bench_product *a, size_t rows) {
  return (tpti_gemm){.c = p->w,
                     .c_row = a->in,
                     .a = p->y,
                     .a_row = 1,
                     .a_col = a->out,
                     .b = p->x,
                     .b_row = a->in,
                     .b_col = 1,
                     .m = a->out,
                     .n = a->in,
                     .k = rows};
}

static tpti_gemm gemm_of(const bench_products *p, const bench_product *a, size_t rows) {
  if (a->kind == BENCH_FORWARD) return forward_of(p, a, rows);
  return a->kind == BENCH_INPUT ? input_of(p, a, rows) : weight_of(p, a, rows);
}

/* ---- ways to make it ---- */

typedef void way(const bench_products *p, const tpti_gemm *g);

static void own(const bench_products *p, const tpti_gemm *g) { tpti_gemm_run(p->run, g); }

/* B was packed before the clock began. */
static void own_packed(const bench_products *p, const tpti_gemm *g) {
  tpti_gemm packed = *g;
  packed.packed = p->packed;
  tpti_gemm_run(p->run, &packed);
}

/* By BLIS: each thread an even part of the longer side of C, which is faster than BLIS's own
 * threads. */
typedef struct parts {
  tpti_gemm whole;
  size_t count;
} parts;

static void do_part(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const parts *p = argument;
  tpti_gemm g = p->whole;
  bool tall = g.m >= g.n;
  size_t side = tall ? g.m : g.n;
  size_t from = side * item / p->count, size = side * (item + 1) / p->count - from;
  g.a += tall ? from * g.a_row : 0;
  g.b += tall ? 0 : from * g.b_col;
  g.c += tall ? from * g.c_row : from;
  *(tall ? &g.m : &g.n) = size;
  float one = 1, zero = 0;
  rntm_t alone = BLIS_RNTM_INITIALIZER;
  bli_rntm_set_num_threads(1, &alone);
  bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)g.m, (dim_t)g.n, (dim_t)g.k, &one,
               (float *)(uintptr_t)g.a, (inc_t)g.a_row, (inc_t)g.a_col, (float *)(uintptr_t)g.b,
               (inc_t)g.b_row, (inc_t)g.b_col, &zero, g.c, (inc_t)g.c_row, 1, NULL, &alone);
}

static void blis(const bench_products *p, const tpti_gemm *g) {
  parts all = {*g, (size_t)tpti_pool_threads(p->run->pool)};
  tpti_parallel(p->run, all.count, do_part, &all);
}

/* ---- time ---- */

/* Seconds in a whole step, `rows` of the product at a time. */
static double time_of(const bench_products *p, const bench_product *a, way *how, size_t rows) {
  const tpti_gemm g = gemm_of(p, a, rows);
  double from = bench_now();
  size_t calls = 0;
  do {
    how(p, &g);
    calls++;
  } while (bench_now() - from < least_seconds);
  double once = (bench_now() - from) / (double)calls;
  return once * (double)a->rows / (double)rows * (double)a->times;
}

/* Uniform in -1 to 1. */
static void noise(float *values, size_t count) {
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(int32_t)state * 0x1p-31f;
  }
}

/* Numbers of an ordinary size: each product writes one of the arrays. */
static void fill_arrays(const bench_products *p) {
  noise(p->y, p->y_count);
  noise(p->x, p->x_count);
  noise(p->w, p->w_count);
}

/* The least of the ways' medians over turns in which every way has one: what disturbs the machine
 * hurts all alike. */
static double best_of(const bench_products *p, const bench_product *a, way *const *ways,
                      size_t count) {
  double times[2 * MOST_WAYS][MOST_TURNS], best = 0;
  size_t rows[2] = {a->cut, a->rows}, cuts = a->whole ? 2 : 1;
  size_t turns = p->turns < MOST_TURNS ? p->turns : MOST_TURNS;
  for (size_t turn = 0; turn < turns; turn++)
    for (size_t i = 0; i < count * cuts; i++)
      times[i][turn] = time_of(p, a, ways[i / cuts], rows[i % cuts]);
  for (size_t i = 0; i < count * cuts; i++) {
    double middle = bench_quantile(times[i], turns, 0.5);
    if (i == 0 || middle < best) best = middle;
  }
  return best;
}

double bench_product_own(const bench_products *p, size_t i) {
  way *const ways[] = {own, own_packed};
  const bench_product *a = &p->list[i];
  const tpti_gemm g = gemm_of(p, a, a->cut);
  bool packs = p->packed && a->kind != BENCH_WEIGHT;
  fill_arrays(p);
  if (packs) tpti_gemm_pack_b(p->run, p->packed, &g);
  return best_of(p, a, ways, packs ? 2 : 1);
}

double bench_product_blis(const bench_products *p, size_t i) {
  way *const ways[] = {blis};
  fill_arrays(p);
  return best_of(p, &p->list[i], ways, 1);
}

/* ---- arrays ---- */

static void take_arrays(bench_products *p) {
  tpti_precision precision = p->run->precision;
  size_t pack = 0, packed = 0;
  for (const bench_product *a = p->list; a < p->list + p->count; a++) {
    size_t rows = a->whole ? a->rows : a->cut;
    const tpti_gemm g = gemm_of(p, a, rows);
    p->y_count = tpti_most(p->y_count, rows * a->out);
    p->x_count = tpti_most(p->x_count, rows * a->in);
    p->w_count = tpti_most(p->w_count, a->out * a->in);
    pack = tpti_most(pack, tpti_gemm_pack(precision, g.m, g.n, g.k));
    if (a->kind != BENCH_WEIGHT)
      packed = tpti_most(packed, tpti_gemm_packed_bytes(precision, g.n, g.k));
  }
  p->y = bench_take(p->y_count * sizeof(float));
  p->x = bench_take(p->x_count * sizeof(float));
  p->w = bench_take(p->w_count * sizeof(float));
  p->run->pack = bench_take(pack);
  p->packed = packed ? bench_take(packed) : NULL;
}

void bench_products_list(bench_products *p, const tpti_dims *d, const tpti_acts *acts, size_t M) {
  p->count = 0;
  add_block(p, d, acts, M);
  add_head(p, d, acts, M);
  take_arrays(p);
}
