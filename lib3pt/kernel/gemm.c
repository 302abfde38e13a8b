/* Products on threads: cut into tiles by their shape, each tile done by the kernel of this
 * processor or, where there is none of our own, by BLIS on one thread. The only file that includes
 * blis.h. */
#include "kernel/gemm.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include <blis.h>

#include "base/size.h"
#include "kernel/bf16.h"
#include "kernel/kernel.h"

/* Tiles: enough rows to repay the packing of B, few enough that 8192 rows make 16 tiles; as many
 * columns as a kernel packs of B at once. */
enum { TILE_ROWS = 512, TILE_COLUMNS = 384 };

/* Tiles are halved until there are this many, or FOR_EACH a thread, so that threads end at about
 * the same time, but not below this many multiplications (some 50 us): waking a thread costs 5
 * to 10. */
enum { TILES = 16, FOR_EACH = 4, TILE_WORK = 1 << 21 };

/* A tile of 48 x 96 spends a quarter of its time on packing. Where C is too small for TILES tiles
 * of SLICE_ROWS x SLICE_COLUMNS, k is cut into slices of at least SLICE: each has a sum of its own,
 * and they are added in their order at the end, which costs 2 to 5 in a hundred. */
enum { SLICE_ROWS = 256, SLICE_COLUMNS = 192, SLICE = 512 };

typedef struct job {
  const tpti_gemm *whole;
  tpti_gemm_tile_fn *tile;
  float *partial;                     /* C of slice 1, 2, ...; that of slice 0 is C itself */
  size_t slices, depth;               /* of k; depth: k of one slice */
  size_t rows, columns, down, across; /* of a tile; tiles of a slice */
} job;

static double work(size_t m, size_t n, size_t k) { return (double)m * (double)n * (double)k; }

/* n cut into as many even parts as pieces of `most` would be, each a multiple of `unit`. */
static size_t even_part(size_t n, size_t most, size_t unit) {
  size_t part = tpti_ceil_div(n, tpti_ceil_div(n, most));
  return tpti_ceil_div(part, unit) * unit;
}

/* The most slices that k allows; 1 where the product is too small. */
static size_t most_slices(size_t m, size_t n, size_t k) {
  if (work(m, n, k) < 2 * TILE_WORK) return 1;
  return tpti_least(TILES, k / SLICE > 0 ? k / SLICE : 1);
}

static void cut_depth(job *j) {
  const tpti_gemm *g = j->whole;
  size_t sides = tpti_ceil_div(g->m, SLICE_ROWS) * tpti_ceil_div(g->n, SLICE_COLUMNS);
  /* Only where columns of A lie in memory, which are long sums into a small C, dW: a row of the
   * other products has the same bits whatever m. A packed B is for many products on small tiles,
   * inside items: run->pack is not theirs. */
  size_t most = g->packed || g->a_col == 1 ? 1 : most_slices(g->m, g->n, g->k);
  j->slices = tpti_least(tpti_ceil_div(TILES, sides), most);
  j->depth = tpti_ceil_div(g->k, j->slices);
}

static void count_tiles(job *j) {
  j->down = tpti_ceil_div(j->whole->m, j->rows);
  j->across = tpti_ceil_div(j->whole->n, j->columns);
}

/* Slices are cut by m, n and k alone: they change bits. Tiles do not, and the fewer there are the
 * less is packed twice: FOR_EACH a thread are enough, and one thread takes all columns at once. */
static void cut(job *j, size_t threads, size_t mr, size_t nr) {
  const tpti_gemm *g = j->whole;
  size_t tiles = tpti_least(TILES, FOR_EACH * threads);
  cut_depth(j);
  if (threads == 1) {
    j->rows = even_part(g->m, TILE_ROWS, mr), j->columns = g->n;
    count_tiles(j);
    return;
  }
  j->rows = even_part(g->m, j->slices > 1 ? SLICE_ROWS : TILE_ROWS, mr);
  j->columns = even_part(g->n, j->slices > 1 ? SLICE_COLUMNS : TILE_COLUMNS, nr);
  for (count_tiles(j); j->slices * j->down * j->across < tiles; count_tiles(j)) {
    if (work(tpti_least(j->rows, g->m), tpti_least(j->columns, g->n), j->depth) < 2 * TILE_WORK)
      break;
    if (j->rows >= j->columns && j->rows > mr)
      j->rows = even_part(j->rows, (j->rows + 1) / 2, mr);
    else if (j->columns > nr)
      j->columns = even_part(j->columns, (j->columns + 1) / 2, nr);
    else
      break;
  }
}

static void do_tile(void *argument, size_t item, void *scratch) {
  const job *j = argument;
  size_t slice = item / (j->down * j->across), tile = item % (j->down * j->across);
  size_t i = tile / j->across * j->rows, o = tile % j->across * j->columns;
  size_t p = slice * j->depth;
  tpti_gemm g = *j->whole;
  if (slice > 0) {
    g.c = j->partial + (slice - 1) * g.m * g.n;
    g.c_row = g.n;
    g.base = NULL;
  }
  g.a += i * g.a_row + p * g.a_col;
  g.b += p * g.b_row;
  g.c += i * g.c_row;
  if (g.base) g.base += i * g.base_row;
  g.m = tpti_least(j->rows, g.m - i);
  g.k = tpti_least(j->depth, g.k - p);
  j->tile(&g, o, tpti_least(o + j->columns, g.n), scratch);
}

enum { ADD_ROWS = 32 }; /* of C an item */

static void add_slices(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const job *j = argument;
  const tpti_gemm *g = j->whole;
  size_t end = tpti_least((item + 1) * ADD_ROWS, g->m);
  for (size_t i = item * ADD_ROWS; i < end; i++) {
    float *restrict c = g->c + i * g->c_row;
    for (size_t s = 0; s + 1 < j->slices; s++) {
      const float *restrict more = j->partial + (s * g->m + i) * g->n;
      for (size_t o = 0; o < g->n; o++) c[o] += more[o];
    }
  }
}

size_t tpti_gemm_pack(tpti_precision precision, size_t m, size_t n, size_t k) {
  if (precision != TPTI_PRECISION_F32) return tpti_bf16_pack(precision, m, n, k);
  if (most_slices(m, n, k) == 1) return 0;
  const size_t bound = (size_t)TILES * SLICE_ROWS * SLICE_COLUMNS;
  size_t floats = m > bound / n / TILES ? bound : m * n * TILES;
  return floats * sizeof(float);
}

static bool by_blis(const tpti_kernels *kernels) {
#ifdef TPTI_PRODUCTS_BLIS
  (void)kernels;
  return true;
#else
  return kernels == &tpti_kernels_plain;
#endif
}

size_t tpti_gemm_depth(const tpti_run *run, size_t k) {
  return by_blis(run->kernels) ? k : tpti_gemm_round(k);
}

void tpti_gemm_run(tpti_run *run, const tpti_gemm *g) {
  assert(g->a_row == 1 || g->a_col == 1);
  assert(g->b_row == 1 || g->b_col == 1);
  if (g->m == 0 || g->n == 0) return;
  if (run->precision != TPTI_PRECISION_F32) {
    tpti_bf16_run(run, g);
    return;
  }
  assert(!g->held);
  job j = {.whole = g, .tile = run->kernels->gemm_tile, .partial = run->pack};
  if (by_blis(run->kernels)) j.tile = tpti_gemm_tile_blis;
  size_t threads = run->pool ? (size_t)tpti_pool_threads(run->pool) : 1;
  cut(&j, threads, run->kernels->mr, run->kernels->nr);
  tpti_parallel(run, j.slices * j.down * j.across, do_tile, &j);
  if (j.slices == 1) return;
  assert(run->pack);
  tpti_parallel(run, tpti_ceil_div(g->m, ADD_ROWS), add_slices, &j);
}

/* The widest panel of B, of AVX-512: the last one is filled up to it at most. */
enum { WIDEST = 32 };

size_t tpti_gemm_packed_bytes(tpti_precision precision, size_t n, size_t k) {
  if (precision != TPTI_PRECISION_F32) return tpti_bf16_packed_bytes(precision, n, k);
  return n == 0 ? 0 : (n + WIDEST - 1) * k * sizeof(float);
}

typedef struct packing {
  tpti_gemm_pack_b_fn *pack;
  void *packed;
  const tpti_gemm *whole;
} packing;

static void pack_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const packing *p = argument;
  size_t from = item * TPTI_PACK_COLUMNS;
  p->pack(p->packed, p->whole, from, tpti_least(from + TPTI_PACK_COLUMNS, p->whole->n));
}

void tpti_gemm_pack_b(tpti_run *run, void *packed, const tpti_gemm *g) {
  assert(g->b_row == 1 || g->b_col == 1);
  if (run->precision != TPTI_PRECISION_F32) {
    tpti_bf16_pack_b(run, packed, g);
    return;
  }
  if (by_blis(run->kernels)) return; /* BLIS packs for itself */
  packing p = {.pack = run->kernels->gemm_pack_b, .packed = packed, .whole = g};
  tpti_parallel(run, tpti_ceil_div(g->n, TPTI_PACK_COLUMNS), pack_item, &p);
}

const char *tpti_gemm_name(const tpti_kernels *kernels) {
  static const char *const own[] = {"own avx2", "own avx512", "own neon"};
  for (size_t i = 0; i < sizeof own / sizeof own[0] && !by_blis(kernels); i++) {
    if (strcmp(own[i] + 4, kernels->name) == 0) return own[i];
  }
  return "blis";
}

/* C = base, or 0: BLIS adds to C itself. */
static void start_from_base(const tpti_gemm *g) {
  if (g->base == g->c) return;
  for (size_t i = 0; i < g->m; i++) {
    float *c = g->c + i * g->c_row;
    if (g->base)
      memcpy(c, g->base + i * g->base_row, g->n * sizeof *c);
    else
      memset(c, 0, g->n * sizeof *c);
  }
}

void tpti_gemm_tile_blis(const tpti_gemm *whole, size_t from, size_t end, void *scratch) {
  (void)scratch;
  tpti_gemm tile = *whole, *g = &tile;
  tile.b += from * tile.b_col;
  tile.c += from;
  if (tile.base) tile.base += from;
  tile.n = end - from;
  start_from_base(g);
  if (g->m == 0 || g->n == 0 || g->k == 0) return;
  rntm_t one_thread = BLIS_RNTM_INITIALIZER;
  bli_rntm_set_num_threads(1, &one_thread);
  /* The small-matrix path gives a row other bits in a tile of another size. */
  bli_rntm_disable_l3_sup(&one_thread);
  float one = 1;
  bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, (dim_t)g->m, (dim_t)g->n, (dim_t)g->k, &one,
               (float *)(uintptr_t)g->a, (inc_t)g->a_row, (inc_t)g->a_col, (float *)(uintptr_t)g->b,
               (inc_t)g->b_row, (inc_t)g->b_col, &one, g->c, (inc_t)g->c_row, 1, NULL, &one_thread);
}

/* Large enough to use all of BLIS's pools and to last until the other threads are awake. */
enum { WARM = 256 };

/* Small whole numbers: their products' sums are exact in every order. */
static float whole_number(size_t i) { return (float)(i * i % 7) - 3; }

/* Is every 61st element of a b what it must be? WARM x WARM each. */
static bool is_product(const float *c, const float *a, const float *b) {
  for (size_t i = 0; i < WARM * WARM; i += 61) {
    float sum = 0;
    for (size_t p = 0; p < WARM; p++) sum += a[i / WARM * WARM + p] * b[p * WARM + i % WARM];
    if (c[i] != sum) return false;
  }
  return true;
}

static void warm(void *argument, size_t item, void *scratch) {
  (void)item;
  float *a = scratch, *b = a + WARM * WARM, *c = b + WARM * WARM;
  for (size_t i = 0; i < 2 * WARM * WARM; i++) a[i] = whole_number(i);
  tpti_gemm_tile_blis(&(tpti_gemm){.c = c,
                                   .a = a,
                                   .b = b,
                                   .c_row = WARM,
                                   .a_row = WARM,
                                   .a_col = 1,
                                   .b_row = WARM,
                                   .b_col = 1,
                                   .m = WARM,
                                   .n = WARM,
                                   .k = WARM},
                      0, WARM, NULL);
  if (!is_product(c, a, b)) atomic_store((atomic_bool *)argument, true);
}
_Static_assert(3 * WARM * WARM * sizeof(float) <= TPTI_SCRATCH, "scratch");

bool tpti_gemm_warm(tpti_run *run) {
  if (!by_blis(run->kernels)) return true;
  size_t threads = run->pool ? (size_t)tpti_pool_threads(run->pool) : 1;
  atomic_bool wrong = false;
  tpti_parallel(run, 4 * threads, warm, &wrong);
  return !wrong;
}
