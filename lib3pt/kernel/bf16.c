/* Products of bf16 parts cut for the threads (bf16.h).
 *
 * One operand is shared: packed before, or packed first, by all threads, as the smaller of the two.
 * The other is cut into groups of strips; an item packs its group for itself into its scratch and
 * multiplies it with all that is shared. */
#include "kernel/bf16.h"

#include <assert.h>

#include "base/size.h"
#include "kernel/bf16_parts.h"

static size_t strips(size_t lines) { return tpti_ceil_div(lines, TPTI_BF16_LINES); }
static size_t steps_of(size_t k) { return tpti_ceil_div(k, TPTI_BF16_DEPTH); }

static size_t parts_of(tpti_precision precision) {
  assert(precision != TPTI_PRECISION_F32);
  if (precision == TPTI_PRECISION_BF16X3) return 2;
  return precision == TPTI_PRECISION_BF16X6 ? 3 : 1;
}

/* Pairs, and bytes, of one step of a strip. */
static size_t step_pairs(size_t parts) { return parts * TPTI_BF16_PART; }
static size_t step_bytes(size_t parts) { return step_pairs(parts) * sizeof(uint32_t); }

/* ---- sizes ---- */

/* What is shared is packed in rounds of k where it would take more, but of at least LONG steps. */
enum { SHARED_BYTES = 16 << 20, LONG = TPTI_BF16_ROUNDS };

/* Steps of a round of k, of which there may be `room`: all, or a multiple of LONG. */
static size_t even_round(size_t steps, size_t room) {
  room = tpti_most(room / LONG, 1) * LONG;
  if (steps <= room) return steps;
  return tpti_ceil_div(tpti_ceil_div(steps, tpti_ceil_div(steps, room)), LONG) * LONG;
}

static size_t shared_round(size_t parts, size_t lines, size_t k) {
  return even_round(steps_of(k), SHARED_BYTES / (strips(lines) * step_bytes(parts)));
}

/* The bound where a round is cut, not the round's own bytes, which may be less for more lines. */
size_t tpti_bf16_pack(tpti_precision precision, size_t m, size_t n, size_t k) {
  size_t step = tpti_most(strips(tpti_least(m, n)), 1) * step_bytes(parts_of(precision));
  size_t bound = tpti_most(SHARED_BYTES, LONG * step);
  return steps_of(k) <= bound / step ? steps_of(k) * step : bound;
}

size_t tpti_bf16_packed_bytes(tpti_precision precision, size_t n, size_t k) {
  return strips(n) * steps_of(k) * step_bytes(parts_of(precision));
}

/* ---- an operand packed by all threads ---- */

/* Pairs of an item: some 20 us. */
enum { PACK_ITEM = 1 << 16 };

typedef struct pack_job {
  tpti_bf16_operand whole;
  uint32_t *out;
  size_t strip, parts, unit; /* strips, or steps, of an item */
} pack_job;

/* Cut as memory lies: into strips where k runs along it, else into steps. */
static void pack_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const pack_job *j = argument;
  tpti_bf16_operand o = j->whole;
  uint32_t *out = j->out;
  if (o.deep == 1) {
    size_t first = item * j->unit * TPTI_BF16_LINES;
    out += item * j->unit * j->strip;
    o.x = tpti_bf16_from(&o, first, 0);
    o.lines = tpti_least(j->unit * TPTI_BF16_LINES, o.lines - first);
  } else {
    size_t first = item * j->unit * TPTI_BF16_DEPTH;
    out += item * j->unit * step_pairs(j->parts);
    o.x = tpti_bf16_from(&o, 0, first);
    o.k = tpti_least(j->unit * TPTI_BF16_DEPTH, o.k - first);
  }
  tpti_bf16_pack_operand(out, j->strip, &o, j->parts);
}

static void pack_together(tpti_run *run, uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                          size_t parts) {
  pack_job j = {.whole = *o, .out = out, .strip = strip, .parts = parts};
  size_t down = strips(o->lines), deep = steps_of(o->k);
  size_t units = o->deep == 1 ? down : deep, across = o->deep == 1 ? deep : down;
  j.unit = tpti_most(1, PACK_ITEM / (across * TPTI_BF16_PART));
  tpti_parallel(run, tpti_ceil_div(units, j.unit), pack_item, &j);
}

static tpti_bf16_operand operand_a(const tpti_gemm *g) {
  return (tpti_bf16_operand){
      .x.values = g->a, .line = g->a_row, .deep = g->a_col, .lines = g->m, .k = g->k};
}
static tpti_bf16_operand operand_b(const tpti_gemm *g) {
  return (tpti_bf16_operand){.x = g->held ? *g->held : (tpti_matrix){.values = g->b},
                             .line = g->b_col,
                             .deep = g->b_row,
                             .lines = g->n,
                             .k = g->k,
                             .columns = true};
}

void tpti_bf16_pack_b(tpti_run *run, void *packed, const tpti_gemm *g) {
  if (g->n == 0 || g->k == 0) return;
  const tpti_bf16_operand b = operand_b(g);
  size_t parts = parts_of(run->precision);
  pack_together(run, packed, steps_of(g->k) * step_pairs(parts), &b, parts);
}

/* ---- the product ---- */

/* What an item packs for itself lies in half of its scratch: the second level has room for a round
 * of what is shared and for C besides. */
enum { OWN_BYTES = TPTI_SCRATCH / 2 };

/* An item has as many strips as fit, up to MANY with rounds of k: the more, the seldomer what is
 * shared is read, which may lie in the third level or in memory. For threads there are ITEMS items,
 * more where they still have GROUP strips, fewer only where there are fewer strips. Where what is
 * shared is much larger it is cut too, into parts of at least COLUMNS strips, and each item of a
 * group packs the group again. */
enum { MANY = 16, ITEMS = 8, GROUP = 8, COLUMNS = 8 };

typedef struct job {
  tpti_gemm g;             /* the product of this round of what is shared */
  tpti_bf16_operand owned; /* the operand that items pack for themselves */
  const uint32_t *shared;
  tpti_bf16_multiply_fn *multiply;
  size_t shared_strip, parts;
  size_t group, round; /* strips of an item; steps it packs at once */
  size_t down, across; /* items: groups, and parts of what is shared */
  size_t share;        /* strips of such a part */
} job;

/* The product of an item: lines of what it owns, lines of what is shared. */
static tpti_bf16_product product_of(const job *j, size_t own, size_t lines, size_t other,
                                    size_t others) {
  const tpti_gemm *g = &j->g;
  bool rows = !j->owned.columns;
  size_t i = rows ? own : other, o = rows ? other : own;
  return (tpti_bf16_product){.c = g->c + i * g->c_row + o,
                             .base = g->base ? g->base + i * g->base_row + o : NULL,
                             .c_row = g->c_row,
                             .base_row = g->base_row,
                             .m = rows ? lines : others,
                             .n = rows ? others : lines,
                             .parts = j->parts};
}

/* Steps `first` on of an item. */
static void multiply_round(const job *j, tpti_bf16_product *p, tpti_bf16_operand *o, size_t first,
                           const uint32_t *shared, uint32_t *scratch) {
  size_t p0 = first * TPTI_BF16_DEPTH, own_strip = j->round * step_pairs(j->parts);
  o->k = tpti_least(j->round * TPTI_BF16_DEPTH, j->owned.k - p0);
  tpti_bf16_pack_operand(scratch, own_strip, o, j->parts);
  shared += first * step_pairs(j->parts);
  p->steps = steps_of(o->k);
  p->a = o->columns ? shared : scratch;
  p->b = o->columns ? scratch : shared;
  p->a_strip = o->columns ? j->shared_strip : own_strip;
  p->b_strip = o->columns ? own_strip : j->shared_strip;
  j->multiply(p);
  p->base = p->c;
  p->base_row = p->c_row;
  o->x = tpti_bf16_from(o, 0, o->k);
}

static void do_item(void *argument, size_t item, void *scratch) {
  const job *j = argument;
  size_t own = item / j->across * j->group * TPTI_BF16_LINES;
  size_t other = item % j->across * j->share * TPTI_BF16_LINES;
  size_t others = (j->owned.columns ? j->g.m : j->g.n) - other;
  tpti_bf16_operand o = j->owned;
  o.x = tpti_bf16_from(&o, own, 0);
  o.lines = tpti_least(j->group * TPTI_BF16_LINES, o.lines - own);
  tpti_bf16_product p =
      product_of(j, own, o.lines, other, tpti_least(j->share * TPTI_BF16_LINES, others));
  const uint32_t *shared = j->shared + item % j->across * j->share * j->shared_strip;
  for (size_t first = 0; first < steps_of(j->owned.k); first += j->round)
    multiply_round(j, &p, &o, first, shared, scratch);
}

/* By the shape, and whether there is a pool: no bit depends on it, for rounds are whole ones of
 * the multiplying function. */
static void cut(job *j, bool alone) {
  size_t own = strips(j->owned.lines), other = strips(j->owned.columns ? j->g.m : j->g.n);
  size_t held = OWN_BYTES / step_bytes(j->parts);
  j->round = even_round(steps_of(j->owned.k), held / tpti_least(own, MANY));
  j->group = held / j->round;
  j->across = 1;
  if (!alone) {
    size_t even = tpti_least(tpti_most(own / (2 * ITEMS), GROUP), tpti_ceil_div(own, ITEMS));
    j->group = tpti_least(j->group, even);
    j->across = tpti_least(tpti_ceil_div(ITEMS, tpti_ceil_div(own, j->group)),
                           tpti_ceil_div(other, COLUMNS));
  }
  j->down = tpti_ceil_div(own, j->group);
  j->share = tpti_ceil_div(other, j->across);
  j->across = tpti_ceil_div(other, j->share);
}

static void multiply(tpti_run *run, job *j) {
  bool vectors = run->precision == TPTI_PRECISION_BF16_VECTORS;
  j->multiply = vectors ? tpti_bf16_multiply_vectors : tpti_bf16_multiply_tiles;
  cut(j, run->pool == NULL);
  tpti_parallel(run, j->down * j->across, do_item, j);
}

static void run_packed(tpti_run *run, const tpti_gemm *g) {
  size_t parts = parts_of(run->precision);
  job j = {.g = *g, .owned = operand_a(g), .shared = g->packed, .parts = parts};
  j.shared_strip = steps_of(g->k) * step_pairs(parts);
  multiply(run, &j);
}

/* The shared operand in rounds of k, each added to C. */
static void run_unpacked(tpti_run *run, const tpti_gemm *g) {
  const bool own_rows = g->n <= g->m;
  tpti_bf16_operand shared = own_rows ? operand_b(g) : operand_a(g);
  const size_t parts = parts_of(run->precision), k = shared.k;
  const size_t round = shared_round(parts, shared.lines, k), strip = round * step_pairs(parts);
  job j = {.g = *g, .shared = run->pack, .shared_strip = strip, .parts = parts};
  j.owned = own_rows ? operand_a(g) : operand_b(g);
  for (size_t p = 0; p < k; p += shared.k) {
    shared.k = j.owned.k = tpti_least(round * TPTI_BF16_DEPTH, k - p);
    pack_together(run, run->pack, strip, &shared, parts);
    multiply(run, &j);
    j.g.base = j.g.c;
    j.g.base_row = j.g.c_row;
    shared.x = tpti_bf16_from(&shared, 0, shared.k);
    j.owned.x = tpti_bf16_from(&j.owned, 0, j.owned.k);
  }
}

/* C = base */
static void copy_base(const tpti_gemm *g) {
  if (g->base == g->c) return;
  for (size_t i = 0; i < g->m; i++) {
    for (size_t o = 0; o < g->n; o++)
      g->c[i * g->c_row + o] = g->base ? g->base[i * g->base_row + o] : 0;
  }
}

void tpti_bf16_run(tpti_run *run, const tpti_gemm *g) {
  assert(g->m > 0 && g->n > 0);
  assert(!g->held || (g->b_row == 1 && g->b_col == g->k));
  assert((uintptr_t)(g->packed ? g->packed : run->pack) % TPTI_ALIGNMENT == 0);
  if (g->k == 0)
    copy_base(g);
  else if (g->packed)
    run_packed(run, g);
  else
    run_unpacked(run, g);
}
