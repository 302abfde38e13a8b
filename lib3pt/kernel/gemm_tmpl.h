/* Matrix products: packed and blocked as Goto and van de Geijn (2008) do, over the words of
 * vec_*.h.
 *
 * GEMM_ROWS rows and GEMM_VECTORS vectors of C stay in registers while k runs (`micro`). B lies in
 * panels as wide as that, k-major, as many as fit half a second-level cache; A in strips as high,
 * k-major too, one of which stays in the first level while all panels pass. */
#include <stdbool.h>

#include "kernel/gemm.h"

enum {
  PANEL = GEMM_VECTORS * V_LANES,
  /* k of one round: a strip of 12 rows takes 12 KiB, a panel of 32 columns 32 KiB. */
  ROUND = 256,
  /* Columns of B packed at once: 384 KiB of scratch. */
  BLOCK = 384 / PANEL * PANEL,
  /* Strips of A packed at once, so that a column of A is read by whole cache lines. */
  STRIPS = 96 / GEMM_ROWS,
  /* Transposed rows are stored by whole vectors and spill over the end of a strip. */
  STRIP = ROUND * GEMM_ROWS + V_LANES
};
_Static_assert((ROUND * BLOCK + STRIPS * STRIP) * sizeof(float) <= TPTI_SCRATCH, "scratch");

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* How many of `left` rows the next strip takes: the last two share what is left evenly. */
static size_t strip_rows(size_t left) {
  if (left <= GEMM_ROWS) return left;
  return left < 2 * GEMM_ROWS ? (left + 1) / 2 : GEMM_ROWS;
}

/* C [rows, PANEL or less] = base + A B, all sums in registers. rows and vectors are constants where
 * this is called; masked: B ends within the last vector and is not padded. */
ALWAYS_INLINE void micro(const size_t rows, const size_t vectors, const bool masked,
                         const tpti_gemm *g) {
  v_f32 sum[GEMM_ROWS][GEMM_VECTORS];
  const size_t last = g->n - (vectors - 1) * V_LANES; /* columns of the last vector */
  const v_mask mask = v_mask_n(last);
  UNROLL
  for (size_t i = 0; i < rows; i++) {
    UNROLL
    for (size_t v = 0; v < vectors; v++) sum[i][v] = v_zero();
  }
  const float *a = g->a, *b = g->b;
  for (size_t p = 0; p < g->k; p++, a += g->a_col, b += g->b_row) {
    v_f32 row[GEMM_VECTORS];
    UNROLL
    for (size_t v = 0; v < vectors; v++) {
      bool part = masked && v == vectors - 1;
      row[v] = part ? v_load_mask(b + v * V_LANES, mask) : v_load(b + v * V_LANES);
    }
    UNROLL
    for (size_t i = 0; i < rows; i++) {
      v_f32 x = v_set1(a[i * g->a_row]);
      UNROLL
      for (size_t v = 0; v < vectors; v++) sum[i][v] = v_fma(x, row[v], sum[i][v]);
    }
  }
  UNROLL
  for (size_t i = 0; i < rows; i++) {
    UNROLL
    for (size_t v = 0; v < vectors; v++) {
      float *c = g->c + i * g->c_row + v * V_LANES;
      const float *base = g->base ? g->base + i * g->base_row + v * V_LANES : NULL;
      if (v < vectors - 1 || last == V_LANES) {
        v_store(c, base ? v_add(v_load(base), sum[i][v]) : sum[i][v]);
      } else {
        v_store_mask(c, base ? v_add(v_load_mask(base, mask), sum[i][v]) : sum[i][v], mask);
      }
    }
  }
}

/* micro with its number of rows made a constant. */
ALWAYS_INLINE void micro_rows(const size_t vectors, const bool masked, const tpti_gemm *g) {
  switch (g->m) {
  case 1:
    micro(1, vectors, masked, g);
    break;
  case 2:
    micro(2, vectors, masked, g);
    break;
  case 3:
    micro(3, vectors, masked, g);
    break;
  case 4:
    micro(4, vectors, masked, g);
    break;
  case 5:
    micro(5, vectors, masked, g);
    break;
#if GEMM_ROWS > 6
  case 6:
    micro(6, vectors, masked, g);
    break;
  case 7:
    micro(7, vectors, masked, g);
    break;
#endif
#if GEMM_ROWS > 8
  case 8:
    micro(8, vectors, masked, g);
    break;
  case 9:
    micro(9, vectors, masked, g);
    break;
  case 10:
    micro(10, vectors, masked, g);
    break;
  case 11:
    micro(11, vectors, masked, g);
    break;
#endif
  default:
    micro(GEMM_ROWS, vectors, masked, g);
  }
}

/* A strip of A times a panel of B, both packed. */
static void micro_packed(const tpti_gemm *strided) {
  tpti_gemm g = *strided;
  g.a_row = 1;
  g.a_col = GEMM_ROWS;
  g.b_row = PANEL;
  switch ((g.n + V_LANES - 1) / V_LANES) {
  case 1:
    micro_rows(1, false, &g);
    break;
#if GEMM_VECTORS > 2
  case 2:
    micro_rows(2, false, &g);
    break;
#endif
  default:
    micro_rows(GEMM_VECTORS, false, &g);
  }
}

/* The same, operands where they are. */
static void micro_strided(const tpti_gemm *g) {
  switch ((g->n + V_LANES - 1) / V_LANES) {
  case 1:
    micro_rows(1, true, g);
    break;
#if GEMM_VECTORS > 2
  case 2:
    micro_rows(2, true, g);
    break;
#endif
  default:
    if (g->n == PANEL)
      micro_rows(GEMM_VECTORS, false, g);
    else
      micro_rows(GEMM_VECTORS, true, g);
  }
}

static void product(const tpti_gemm *whole) {
  tpti_gemm g = *whole;
  for (size_t j = 0; j < whole->n; j += PANEL) {
    g.b = whole->b + j;
    g.n = least(PANEL, whole->n - j);
    for (size_t i = 0; i < whole->m; i += g.m) {
      g.m = strip_rows(whole->m - i);
      g.a = whole->a + i * whole->a_row;
      g.c = whole->c + i * whole->c_row + j;
      g.base = whole->base ? whole->base + i * whole->base_row + j : NULL;
      micro_strided(&g);
    }
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

/* Panels of k rows of PANEL columns; the last one is filled up with zeros. Rows of B are read from
 * end to end, whichever way they lie. */
static void pack_b(float *out, const tpti_gemm *g) {
  if (g->b_col != 1) {
    for (size_t j = 0; j < g->n; j += V_LANES) {
      float *panel = out + j / PANEL * PANEL * g->k + j % PANEL;
      transpose_band(panel, PANEL, g->b + j * g->b_col, g->b_col, least(V_LANES, g->n - j), g->k);
    }
    return;
  }
  size_t whole = g->n - g->n % V_LANES;
  v_mask mask = v_mask_n(g->n % V_LANES);
  for (size_t p = 0; p < g->k; p++) {
    const float *b = g->b + p * g->b_row;
    float *row = out + p * PANEL;
    for (size_t j = 0; j < whole; j += V_LANES) {
      v_store(row + j / PANEL * PANEL * g->k + j % PANEL, v_load(b + j));
    }
    if (whole == g->n) continue;
    v_store(row + whole / PANEL * PANEL * g->k + whole % PANEL, v_load_mask(b + whole, mask));
  }
}

/* Columns of A lie in memory: each is read from end to end and dealt out to the strips. Loads run
 * past a strip, into rows that are there; what they bring is overwritten or never read. */
static void pack_a_turned(float *out, const tpti_gemm *g) {
  for (size_t p = 0; p < g->k; p++) {
    const float *a = g->a + p * g->a_col;
    float *strip = out + p * GEMM_ROWS;
    for (size_t i = 0, rows; i < g->m; i += rows, strip += STRIP) {
      rows = strip_rows(g->m - i);
      for (size_t r = i; r < i + rows; r += V_LANES) {
        bool inside = r + V_LANES <= g->m;
        v_store(strip + r - i, inside ? v_load(a + r) : v_load_n(a + r, g->m - r));
      }
    }
  }
}

/* Up to STRIPS strips of k columns of GEMM_ROWS rows, STRIP floats apart. */
static void pack_a(float *out, const tpti_gemm *g) {
  if (g->a_row == 1) {
    pack_a_turned(out, g);
    return;
  }
  for (size_t i = 0, rows; i < g->m; i += rows, out += STRIP) {
    rows = strip_rows(g->m - i);
    for (size_t r = 0; r < rows; r += V_LANES) {
      transpose_band(out + r, GEMM_ROWS, g->a + (i + r) * g->a_row, g->a_row,
                     least(V_LANES, rows - r), g->k);
    }
  }
}

/* One block of B, packed, against all of A. */
static void block(const tpti_gemm *whole, const float *panels, float *strips) {
  tpti_gemm g = *whole;
  for (size_t i = 0; i < whole->m; i += g.m) {
    g.m = least(STRIPS * GEMM_ROWS, whole->m - i);
    g.a = whole->a + i * whole->a_row;
    pack_a(strips, &g);
    tpti_gemm s = g;
    s.a = strips;
    for (size_t r = 0; r < g.m; r += s.m, s.a += STRIP) {
      s.m = strip_rows(g.m - r);
      for (size_t j = 0; j < g.n; j += PANEL) {
        s.n = least(PANEL, g.n - j);
        s.b = panels + j * g.k;
        s.c = whole->c + (i + r) * whole->c_row + j;
        s.base = whole->base ? whole->base + (i + r) * whole->base_row + j : NULL;
        micro_packed(&s);
      }
    }
  }
}

static void gemm_tile(const tpti_gemm *whole, void *scratch) {
  float *panels = scratch, *strips = panels + ROUND * BLOCK;
  size_t rounds = whole->k <= ROUND ? 1 : (whole->k + ROUND - 1) / ROUND;
  size_t step = (whole->k + rounds - 1) / rounds;
  tpti_gemm g = *whole;
  for (size_t j = 0; j < whole->n; j += BLOCK) {
    g.n = least(BLOCK, whole->n - j);
    g.c = whole->c + j;
    g.base = whole->base ? whole->base + j : NULL;
    g.base_row = whole->base_row;
    size_t p = 0;
    do { /* at least once: k may be 0 */
      g.k = least(step, whole->k - p);
      g.a = whole->a + p * whole->a_col;
      g.b = whole->b + p * whole->b_row + j * whole->b_col;
      pack_b(panels, &g);
      block(&g, panels, strips);
      g.base = g.c;
      g.base_row = g.c_row;
      p += step;
    } while (p < whole->k);
  }
}
