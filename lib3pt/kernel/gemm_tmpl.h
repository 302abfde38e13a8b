/* Matrix products: blocked as Goto and van de Geijn (2008) do, over the words of vec_*.h.
 *
 * GEMM_ROWS rows and GEMM_VECTORS vectors of C stay in registers while k runs (`micro`). B is
 * packed in panels as wide as that, k-major; they come from the second cache level while a strip of
 * A, as high as the registers, stays in the first. A is read where it is if its rows lie in memory,
 * as a broadcast takes any address. If its columns do, strips of it are packed, k-major too: lines
 * at the distance of a row of a wide matrix would fall on a few sets of the first level.
 *
 * The innermost part is gemm_micro_tmpl.h, the packing gemm_pack_tmpl.h; here are the loops
 * around them. */
#include "base/size.h"
#include "kernel/gemm.h"
#include "kernel/gemm_micro_tmpl.h"
#include "kernel/gemm_pack_tmpl.h"

/* Columns of B that pass a strip of A, and that are packed at once in scratch: 384 KiB. */
enum { BLOCK = 384 / PANEL * PANEL };
_Static_assert((TPTI_GEMM_ROUND * BLOCK + STRIPS * STRIP) * sizeof(float) <= TPTI_SCRATCH,
               "scratch");

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

/* The packed B is, round by round, all its panels. */
static float *packed_panels(const void *packed, const tpti_gemm *g, size_t p, size_t j) {
  size_t width = tpti_ceil_div(g->n, PANEL) * PANEL,
         depth = tpti_least(tpti_gemm_round(g->k), g->k - p);
  return (float *)(uintptr_t)packed + p * width + j * depth;
}

static void gemm_pack_b(void *packed, const tpti_gemm *whole, size_t from, size_t end) {
  tpti_gemm g = *whole;
  g.n = end - from;
  for (size_t p = 0; p < whole->k; p += g.k) {
    g.k = tpti_least(tpti_gemm_round(whole->k), whole->k - p);
    g.b = whole->b + p * whole->b_row + from * whole->b_col;
    pack_b(packed_panels(packed, whole, p, from), &g);
  }
}

static void gemm_tile(const tpti_gemm *whole, size_t from, size_t end, void *scratch) {
  float *panels = scratch, *strips = panels + TPTI_GEMM_ROUND * BLOCK;
  size_t step = whole->round ? whole->round : tpti_gemm_round(whole->k);
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
