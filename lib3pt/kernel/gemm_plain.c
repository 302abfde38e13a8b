/* Products in plain loops: the reference of every other variant. Sums are in double. */
#include "kernel/gemm.h"

void tpti_product_plain(const tpti_gemm *g) {
  for (size_t i = 0; i < g->m; i++) {
    for (size_t j = 0; j < g->n; j++) {
      const float *a = g->a + i * g->a_row, *b = g->b + j * g->b_col;
      double sum = 0;
      for (size_t p = 0; p < g->k; p++) sum += (double)a[p * g->a_col] * b[p * g->b_row];
      if (g->base) sum += g->base[i * g->base_row + j];
      g->c[i * g->c_row + j] = (float)sum;
    }
  }
}

void tpti_gemm_tile_plain(const tpti_gemm *whole, size_t from, size_t end, void *scratch) {
  (void)scratch;
  tpti_gemm g = *whole;
  g.b += from * g.b_col;
  g.c += from;
  if (g.base) g.base += from;
  g.n = end - from;
  tpti_product_plain(&g);
}

/* Plain products read B itself. */
void tpti_gemm_pack_b_plain(void *packed, const tpti_gemm *g, size_t from, size_t end) {
  (void)packed, (void)g, (void)from, (void)end;
}

void tpti_transpose_plain(float *out, size_t out_row, const float *in, size_t in_row, size_t rows,
                          size_t columns) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) out[j * out_row + i] = in[i * in_row + j];
  }
}
