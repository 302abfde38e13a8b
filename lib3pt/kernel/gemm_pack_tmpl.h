/* The operands of a matrix product, laid in memory in the order in which its innermost part reads
 * them (gemm_micro_tmpl.h, which comes first); and the transpose, which that takes. */
#include "base/size.h"
#include "kernel/gemm.h"

enum {
  /* Strips of A packed at once, so that a column of A is read by whole cache lines. */
  STRIPS = 96 / GEMM_ROWS,
  /* Rows of a strip are stored by whole vectors, which spill over its end. */
  STRIP = TPTI_GEMM_ROUND * GEMM_ROWS + V_LANES
};
_Static_assert(TPTI_PACK_COLUMNS % PANEL == 0, "an item of packing is whole panels");

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
