/* Matrix products: blocked as Goto and van de Geijn (2008) do, over the words of vec_*.h.
 *
 * GEMM_ROWS rows and GEMM_VECTORS vectors of C stay in registers while k runs (`micro`). B is
 * packed in panels as wide as that, k-major; they come from the second cache level while a strip of
 * A, as high as the registers, stays in the first. A is read where it is if its rows lie in memory,
 * as a broadcast takes any address. If its columns do, strips of it are packed, k-major too: lines
 * at the distance of a row of a wide matrix would fall on a few sets of the first level. */
#include <stdbool.h>

#include "base/size.h"
#include "kernel/gemm.h"

enum {
  PANEL = GEMM_VECTORS * V_LANES,
  /* k of one round: a strip of 12 rows takes 12 KiB, a panel of 32 columns 32 KiB. */
  ROUND = 256,
  /* Columns of B that pass a strip of A, and that are packed at once in scratch: 384 KiB. */
  BLOCK = 384 / PANEL * PANEL,
  /* Strips of A packed at once, so that a column of A is read by whole cache lines. */
  STRIPS = 96 / GEMM_ROWS,
  /* Rows of a strip are stored by whole vectors, which spill over its end. */
  STRIP = ROUND * GEMM_ROWS + V_LANES,
  /* Rows of a packed panel, and of what is being packed, that are asked for ahead of their use: of
   * the second level some 100 cycles, and packing from memory gains a tenth of a product's time. */
  AHEAD = 8
};
_Static_assert((ROUND * BLOCK + STRIPS * STRIP) * sizeof(float) <= TPTI_SCRATCH, "scratch");
_Static_assert(TPTI_PACK_COLUMNS % PANEL == 0, "an item of packing is whole panels");

/* How many of `left` rows the next strip takes: the last two share what is left evenly. */
static size_t strip_rows(size_t left) {
  if (left <= GEMM_ROWS) return left;
  return left < 2 * GEMM_ROWS ? (left + 1) / 2 : GEMM_ROWS;
}

/* How B lies: in a packed panel, filled up with zeros; in rows of which a whole number of vectors
 * is asked for; in rows that end within the last vector. */
typedef enum layout { PACKED, ROWS, CUT_ROWS } layout;

/* What micro does of a product: where its part begins, m rows of n columns. Apart from the product,
 * whose strides and k it shares: a copy of that, changed, would be read by vectors right after it
 * was written by words, and wait for all stores before it. For the same reason no two pointers are
 * neighbours here that are so there. */
typedef struct place {
  const float *a;
  size_t m;
  const float *b;
  size_t n;
  float *c;
  const float *base;
} place;

/* Asks for the lines that micro will read or write at its end, while its sums run. */
ALWAYS_INLINE void ask_for_c(const size_t rows, const size_t vectors, const tpti_gemm *g,
                             const place *at) {
  UNROLL
  for (size_t i = 0; i < rows; i++) {
    UNROLL
    for (size_t v = 0; v < vectors; v++) {
      __builtin_prefetch(at->c + i * g->c_row + v * V_LANES);
    }
  }
}

/* sum += A B; see micro. */
ALWAYS_INLINE void add_products(v_f32 sum[GEMM_ROWS][GEMM_VECTORS], const size_t rows,
                                const size_t vectors, const layout b_is, const tpti_gemm *g,
                                const place *at, v_mask mask) {
  const size_t b_row = b_is == PACKED ? PANEL : g->b_row, a_row = g->a_row, a_col = g->a_col;
  const float *a = at->a, *b = at->b;
  for (size_t left = g->k; left > 0; left--, a += a_col, b += b_row) {
    v_f32 row[GEMM_VECTORS];
    UNROLL
    for (size_t v = 0; v < vectors; v++) {
      bool part = b_is == CUT_ROWS && v == vectors - 1;
      row[v] = part ? v_load_mask(b + v * V_LANES, mask) : v_load(b + v * V_LANES);
      if (b_is == PACKED) __builtin_prefetch(b + AHEAD * PANEL + v * V_LANES);
    }
    UNROLL
    for (size_t i = 0; i < rows; i++) {
      v_f32 x = v_set1(a[i * a_row]);
      UNROLL
      for (size_t v = 0; v < vectors; v++) sum[i][v] = v_fma(x, row[v], sum[i][v]);
    }
  }
}

/* C [rows, PANEL or less] = base + A B, all sums in registers. rows and vectors are constants where
 * this is called. */
ALWAYS_INLINE void micro(const size_t rows, const size_t vectors, const layout b_is,
                         const tpti_gemm *g, const place *at) {
  v_f32 sum[GEMM_ROWS][GEMM_VECTORS];
  const size_t last = at->n - (vectors - 1) * V_LANES; /* columns of the last vector */
  const v_mask mask = v_mask_n(last);
  UNROLL
  for (size_t i = 0; i < rows; i++) {
    UNROLL
    for (size_t v = 0; v < vectors; v++) sum[i][v] = v_zero();
  }
  if (b_is == PACKED) ask_for_c(rows, vectors, g, at);
  add_products(sum, rows, vectors, b_is, g, at, mask);
  UNROLL
  for (size_t i = 0; i < rows; i++) {
    UNROLL
    for (size_t v = 0; v < vectors; v++) {
      float *c = at->c + i * g->c_row + v * V_LANES;
      const float *base = at->base ? at->base + i * g->base_row + v * V_LANES : NULL;
      if (v < vectors - 1 || last == V_LANES) {
        v_store(c, base ? v_add(v_load(base), sum[i][v]) : sum[i][v]);
      } else {
        v_store_mask(c, base ? v_add(v_load_mask(base, mask), sum[i][v]) : sum[i][v], mask);
      }
    }
  }
}

/* micro with its number of rows made a constant. */
ALWAYS_INLINE void micro_rows(const size_t vectors, const layout b_is, const tpti_gemm *g,
                              const place *at) {
  switch (at->m) {
  case 1:
    micro(1, vectors, b_is, g, at);
    break;
  case 2:
    micro(2, vectors, b_is, g, at);
    break;
  case 3:
    micro(3, vectors, b_is, g, at);
    break;
  case 4:
    micro(4, vectors, b_is, g, at);
    break;
  case 5:
    micro(5, vectors, b_is, g, at);
    break;
#if GEMM_ROWS > 6
  case 6:
    micro(6, vectors, b_is, g, at);
    break;
  case 7:
    micro(7, vectors, b_is, g, at);
    break;
#endif
#if GEMM_ROWS > 8
  case 8:
    micro(8, vectors, b_is, g, at);
    break;
  case 9:
    micro(9, vectors, b_is, g, at);
    break;
  case 10:
    micro(10, vectors, b_is, g, at);
    break;
  case 11:
    micro(11, vectors, b_is, g, at);
    break;
#endif
  default:
    micro(GEMM_ROWS, vectors, b_is, g, at);
  }
}

/* A strip of A times a packed panel of B. */
static void micro_packed(const tpti_gemm *g, const place *at) {
  switch ((at->n + V_LANES - 1) / V_LANES) {
  case 1:
    micro_rows(1, PACKED, g, at);
    break;
#if GEMM_VECTORS > 2
  case 2:
    micro_rows(2, PACKED, g, at);
    break;
#endif
  default:
    micro_rows(GEMM_VECTORS, PACKED, g, at);
  }
}

/* The same, B where it is. */
static void micro_strided(const tpti_gemm *g, const place *at) {
  switch ((at->n + V_LANES - 1) / V_LANES) {
  case 1:
    micro_rows(1, CUT_ROWS, g, at);
    break;
#if GEMM_VECTORS > 2
  case 2:
    micro_rows(2, CUT_ROWS, g, at);
    break;
#endif
  default:
    if (at->n == PANEL)
      micro_rows(GEMM_VECTORS, ROWS, g, at);
    else
      micro_rows(GEMM_VECTORS, CUT_ROWS, g, at);
  }
}

static void product(const tpti_gemm *g) {
  for (size_t j = 0; j < g->n; j += PANEL)
    for (size_t i = 0, rows; i < g->m; i += rows) {
      rows = strip_rows(g->m - i);
      const place at = {.a = g->a + i * g->a_row,
                        .b = g->b + j,
                        .c = g->c + i * g->c_row + j,
                        .base = g->base ? g->base + i * g->base_row + j : NULL,
                        .m = rows,
                        .n = tpti_least(PANEL, g->n - j)};
      micro_strided(g, &at);
    }
}

/* A square of V_LANES rows, of which some may be missing (then 0), transposed into rows of out. */
ALWAYS_INLINE void transpose_square(float *out, size_t out_row, const float *in, size_t in_row,
                                    size_t rows, size_t columns) {
  v_f32 r[V_LANES];
  UNROLL
  for (size_t i = 0; i < V_LANES; i++) {
    if (i >= rows)
      r[i] = v_zero();
    else
      r[i] = columns == V_LANES ? v_load(in + i * in_row) : v_load_n(in + i * in_row, columns);
  }
  v_transpose(r);
  for (size_t i = 0; i < columns; i++) v_store(out + i * out_row, r[i]);
}

/* As transpose_square for any number of columns; rows is 1 to V_LANES. */
ALWAYS_INLINE void transpose_band(float *out, size_t out_row, const float *in, size_t in_row,
                                  size_t rows, size_t columns) {
  size_t whole = columns - columns % V_LANES;
  for (size_t j = 0; j < whole; j += V_LANES) {
    transpose_square(out + j * out_row, out_row, in + j, in_row, rows, V_LANES);
  }
  if (whole < columns) {
    transpose_square(out + whole * out_row, out_row, in + whole, in_row, rows, columns - whole);
  }
}

static void transpose(float *out, size_t out_row, const float *in, size_t in_row, size_t rows,
                      size_t columns) {
  size_t whole = rows - rows % V_LANES;
  for (size_t i = 0; i < whole; i += V_LANES) {
    transpose_band(out + i, out_row, in + i * in_row, in_row, V_LANES, columns);
  }
  for (size_t i = whole; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) out[j * out_row + i] = in[i * in_row + j];
  }
}

/* One panel of a B whose rows lie in memory, filled up with zeros. */
static void pack_panel(float *out, const tpti_gemm *g) {
  const float *b = g->b;
  for (size_t p = 0; p < g->k; p++, b += g->b_row, out += PANEL) {
    UNROLL
    for (size_t v = 0; v < GEMM_VECTORS; v++) {
      __builtin_prefetch(b + AHEAD * g->b_row + v * V_LANES);
      size_t before = v * V_LANES;
      if (g->n >= before + V_LANES)
        v_store(out + before, v_load(b + before));
      else
        v_store(out + before, g->n > before ? v_load_n(b + before, g->n - before) : v_zero());
    }
  }
}

/* Panels of k rows of PANEL columns. */
static void pack_b(float *out, const tpti_gemm *whole) {
  tpti_gemm g = *whole;
  for (size_t j = 0; j < whole->n; j += PANEL, out += PANEL * g.k) {
    g.b = whole->b + j * g.b_col;
    g.n = tpti_least(PANEL, whole->n - j);
    if (g.b_col == 1) {
      pack_panel(out, &g);
      continue;
    }
    for (size_t v = 0; v < PANEL; v += V_LANES) {
      size_t columns = g.n > v ? tpti_least(V_LANES, g.n - v) : 0;
      transpose_band(out + v, PANEL, g.b + v * g.b_col, g.b_col, columns, g.k);
    }
  }
}

/* STRIPS whole strips of k columns of an A whose columns lie in memory: each is read from end to
 * end and dealt out. What a load brings beside a strip is overwritten or never read. */
static void pack_whole_strips(float *out, const tpti_gemm *g) {
  const float *a = g->a;
  const v_mask mask = v_mask_n((GEMM_ROWS - 1) % V_LANES + 1);
  for (size_t p = 0; p < g->k; p++, a += g->a_col, out += GEMM_ROWS) {
    UNROLL
    for (size_t s = 0; s < STRIPS; s++) {
      for (size_t r = 0; r < GEMM_ROWS; r += V_LANES) {
        const float *from = a + s * GEMM_ROWS + r;
        bool cut = r + V_LANES > GEMM_ROWS && s == STRIPS - 1;
        v_store(out + s * STRIP + r, cut ? v_load_mask(from, mask) : v_load(from));
      }
      __builtin_prefetch(a + s * GEMM_ROWS + AHEAD * g->a_col);
    }
  }
}

/* The same for the last rows, fewer than STRIPS strips. */
static void pack_last_strips(float *out, const tpti_gemm *g) {
  for (size_t i = 0, rows; i < g->m; i += rows, out += STRIP) {
    rows = strip_rows(g->m - i);
    const float *a = g->a + i;
    float *strip = out;
    for (size_t p = 0; p < g->k; p++, a += g->a_col, strip += GEMM_ROWS) {
      for (size_t r = 0; r < rows; r += V_LANES) {
        v_store(strip + r, v_load_n(a + r, tpti_least(V_LANES, rows - r)));
      }
    }
  }
}

static void pack_a(float *out, const tpti_gemm *g) {
  if (g->m == STRIPS * GEMM_ROWS)
    pack_whole_strips(out, g);
  else
    pack_last_strips(out, g);
}

/* One strip of A against the packed panels of a block. */
static void strip_times_panels(const tpti_gemm *strip, const float *panels) {
  for (size_t j = 0; j < strip->n; j += PANEL) {
    const place at = {.a = strip->a,
                      .b = panels + j * strip->k,
                      .c = strip->c + j,
                      .base = strip->base ? strip->base + j : NULL,
                      .m = strip->m,
                      .n = tpti_least(PANEL, strip->n - j)};
    micro_packed(strip, &at);
  }
}

/* The rows of g, STRIPS strips or less where A is turned. */
static void rows_times_panels(const tpti_gemm *g, const float *panels, float *strips) {
  tpti_gemm s = *g;
  bool turned = g->a_col != 1;
  if (turned) {
    pack_a(strips, g);
    s.a_row = 1;
    s.a_col = GEMM_ROWS;
  }
  for (size_t i = 0, strip = 0; i < g->m; i += s.m, strip++) {
    s.m = strip_rows(g->m - i);
    s.a = turned ? strips + strip * STRIP : g->a + i * g->a_row;
    s.c = g->c + i * g->c_row;
    s.base = g->base ? g->base + i * g->base_row : NULL;
    strip_times_panels(&s, panels);
  }
}

/* One block of B, packed, against all of A. */
static void block(const tpti_gemm *whole, const float *panels, float *strips) {
  tpti_gemm g = *whole;
  size_t most = whole->a_col != 1 ? STRIPS * GEMM_ROWS : whole->m;
  for (size_t i = 0; i < whole->m; i += g.m) {
    g.m = tpti_least(most, whole->m - i);
    g.a = whole->a + i * whole->a_row;
    g.c = whole->c + i * whole->c_row;
    g.base = whole->base ? whole->base + i * whole->base_row : NULL;
    rows_times_panels(&g, panels, strips);
  }
}

/* k of each round but the last, by k alone, so that the bits are too. At least 1. */
static size_t round_of(size_t k) {
  size_t rounds = k <= ROUND ? 1 : tpti_ceil_div(k, ROUND);
  return k == 0 ? 1 : tpti_ceil_div(k, rounds);
}

/* The packed B is, round by round, all its panels. */
static float *packed_panels(const void *packed, const tpti_gemm *g, size_t p, size_t j) {
  size_t width = tpti_ceil_div(g->n, PANEL) * PANEL, depth = tpti_least(round_of(g->k), g->k - p);
  return (float *)(uintptr_t)packed + p * width + j * depth;
}

static void gemm_pack_b(void *packed, const tpti_gemm *whole, size_t from, size_t end) {
  tpti_gemm g = *whole;
  g.n = end - from;
  for (size_t p = 0; p < whole->k; p += g.k) {
    g.k = tpti_least(round_of(whole->k), whole->k - p);
    g.b = whole->b + p * whole->b_row + from * whole->b_col;
    pack_b(packed_panels(packed, whole, p, from), &g);
  }
}

static void gemm_tile(const tpti_gemm *whole, size_t from, size_t end, void *scratch) {
  float *panels = scratch, *strips = panels + ROUND * BLOCK;
  size_t step = round_of(whole->k);
  tpti_gemm g = *whole;
  for (size_t j = from; j < end; j += BLOCK) {
    g.n = tpti_least(BLOCK, end - j);
    g.c = whole->c + j;
    g.base = whole->base ? whole->base + j : NULL;
    g.base_row = whole->base_row;
    size_t p = 0;
    do { /* at least once: k may be 0 */
      g.k = tpti_least(step, whole->k - p);
      g.a = whole->a + p * whole->a_col;
      g.b = whole->b + p * whole->b_row + j * whole->b_col;
      if (!whole->packed) pack_b(panels, &g);
      block(&g, whole->packed ? packed_panels(whole->packed, whole, p, j) : panels, strips);
      g.base = g.c;
      g.base_row = g.c_row;
      p += step;
    } while (p < whole->k);
  }
}
