/* The innermost part of a matrix product (gemm_tmpl.h): a few rows and vectors of C, which stay in
 * registers while k runs. */
#include <stdbool.h>

#include "kernel/gemm.h"

enum {
  /* Columns of C in registers: the width of a packed panel of B. */
  PANEL = GEMM_VECTORS * V_LANES,
  /* Rows of a packed panel, and of what is being packed, that are asked for ahead of their use: of
   * the second level some 100 cycles, and packing from memory gains a tenth of a product's time. */
  AHEAD = 8
};

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
