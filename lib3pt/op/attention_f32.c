/* What attention's forward and backward in float32 share (op/attention_f32.h). */
#include "op/attention_f32.h"

#include <string.h>

/* What lies above the diagonal is left out of scores by vectors, HALF a strip. */
enum { STRIP = TPTI_SCORE_COLUMNS, HALF = STRIP / 2 };

tpti_head_rows tpti_head_near(const tpti_kernels *kernels, float *to, tpti_head_rows x, size_t E) {
  if (E > TPTI_HEAD_WIDE) return x;
  kernels->copy_rows(to, x.at, x.stride, x.count, E);
  return (tpti_head_rows){to, E, x.count};
}

size_t tpti_attention_f32_span(const tpti_attention *a) {
  return a->E > TPTI_HEAD_WIDE
             ? TPTI_ATTENTION_BLOCK
             : TPTI_HEAD_NEAR / a->E / TPTI_ATTENTION_BLOCK * TPTI_ATTENTION_BLOCK;
}

void tpti_strip_turn(const tpti_kernels *kernels, float *t, tpti_head_rows queries, size_t e,
                     size_t E) {
  size_t depth = tpti_least(TPTI_STRIP_DEPTH, E - e);
  if (queries.count < STRIP) memset(t, 0, depth * STRIP * sizeof *t);
  kernels->transpose(t, STRIP, queries.at + e, queries.stride, queries.count, depth);
}

void tpti_strip_scores(const tpti_kernels *kernels, float *s, size_t s_row, float *t,
                       tpti_head_rows keys, tpti_head_rows queries, size_t E, ptrdiff_t lead) {
  ptrdiff_t seen = lead + HALF;
  size_t early = seen <= 0 ? 0 : tpti_least(keys.count, (size_t)seen);
  for (size_t e = 0; e < E; e += TPTI_STRIP_DEPTH) {
    tpti_head_rows turned = {t, STRIP, tpti_least(TPTI_STRIP_DEPTH, E - e)};
    const float *k = keys.at + e;
    if (E > TPTI_STRIP_DEPTH) tpti_strip_turn(kernels, t, queries, e, E);
    tpti_gemm both = tpti_head_product(k, keys.stride, 1, turned, early, STRIP);
    tpti_head_multiply(kernels, s, s_row, e > 0, &both);
    turned.at += HALF;
    tpti_gemm late = tpti_head_product(k + early * keys.stride, keys.stride, 1, turned,
                                       keys.count - early, HALF);
    tpti_head_multiply(kernels, s + early * s_row + HALF, s_row, e > 0, &late);
  }
}

void tpti_strip_sums(const tpti_kernels *kernels, float *out, size_t out_row, bool add,
                     const float *s, size_t s_row, tpti_head_rows x, size_t queries, size_t E,
                     ptrdiff_t lead) {
  size_t step = lead + 1 < (ptrdiff_t)x.count ? TPTI_STRIP_FEW : queries;
  for (size_t r = 0; r < queries; r += step) {
    size_t m = tpti_least(step, queries - r), n = tpti_strip_seen(x.count, lead, r + m - 1);
    tpti_gemm product =
        tpti_head_product(s + r, 1, s_row, (tpti_head_rows){x.at, x.stride, n}, m, E);
    tpti_head_multiply(kernels, out + r * out_row, out_row, add, &product);
  }
}
