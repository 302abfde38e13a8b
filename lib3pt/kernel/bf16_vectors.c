/* Packed operands of one part multiplied on vectors, by AVX512_BF16 (bf16_parts.h). */
#include "base/size.h"
#include "kernel/bf16_words.h"

#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Rows of C at once: with two vectors a row 16 sums in registers, three times what the latency of
 * an instruction asks for. A pair of the step then takes 10 loads to 16 instructions that
 * multiply, which keeps the unit that multiplies busy all the time. */
enum { ROWS = 8 };

enum { LANES = TPTI_BF16_LANES, LINES = TPTI_BF16_LINES };
enum { HALF = TPTI_BF16_TILE, STEP = TPTI_BF16_PART };
_Static_assert(LANES % ROWS == 0, "rows of a tile");

/* wide: of both tiles of B. */
ALWAYS_INLINE void add_step(__m512 sum[ROWS][2], const uint32_t *a, const uint32_t *b,
                            const bool wide) {
  for (size_t p = 0; p < LANES; p++, b += LANES) {
    const __m512bh b0 = (__m512bh)_mm512_load_si512(b);
    const __m512bh b1 = wide ? (__m512bh)_mm512_load_si512(b + HALF) : b0;
    UNROLL for (size_t i = 0; i < ROWS; i++) {
      const __m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i * LANES + p]);
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
      if (wide) sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
    }
  }
}

ALWAYS_INLINE void put(float *c, const float *base, __m512 sum, __mmask16 mask) {
  if (base) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, base));
  _mm512_mask_storeu_ps(c, mask, sum);
}

/* Up to ROWS x 32 of C. */
ALWAYS_INLINE void multiply_rows(const tpti_bf16_product *p, const bool wide) {
  const __mmask16 left = tpti_bf16_mask(p->n), right = wide ? tpti_bf16_mask(p->n - LANES) : 0;
  const uint32_t *a = p->a, *b = p->b;
  __m512 sum[ROWS][2];
  UNROLL for (size_t i = 0; i < ROWS; i++) sum[i][0] = sum[i][1] = _mm512_setzero_ps();
  for (size_t s = p->steps; s > 0; s--, a += STEP, b += STEP) add_step(sum, a, b, wide);
  UNROLL for (size_t i = 0; i < ROWS; i++) {
    if (i >= p->m) break;
    float *c = p->c + i * p->c_row;
    const float *base = p->base ? p->base + i * p->base_row : NULL;
    put(c, base, sum[i][0], left);
    if (wide) put(c + LANES, base ? base + LANES : NULL, sum[i][1], right);
  }
}

/* Up to 32 x 32 of C. */
static void multiply_block(const tpti_bf16_product *whole) {
  tpti_bf16_product p = *whole;
  for (size_t row = 0; row < whole->m; row += ROWS) {
    p.m = tpti_least(ROWS, whole->m - row);
    if (p.n > LANES)
      multiply_rows(&p, true);
    else
      multiply_rows(&p, false);
    p.c += ROWS * p.c_row;
    if (p.base) p.base += ROWS * p.base_row;
    p.a += ROWS * LANES;
  }
}

/* Panels of B, of which a round stays in the second level while all of A passes. */
enum { CHUNK = 8 };

/* Panels `start` to `end` of B times all of A, a round of k at a time. */
static void multiply_chunk(const tpti_bf16_product *p, size_t start, size_t end) {
  const size_t round = tpti_bf16_round(1);
  for (size_t first = 0; first < p->steps; first += round) {
    size_t steps = tpti_least(round, p->steps - first);
    for (size_t i = 0; i * LINES < p->m; i++) {
      for (size_t j = start; j < end; j++) {
        const tpti_bf16_product q = tpti_bf16_block(p, i, j, first, steps, 1);
        multiply_block(&q);
      }
    }
  }
}

void tpti_bf16_multiply_vectors(const tpti_bf16_product *p) {
  const size_t panels = tpti_ceil_div(p->n, LINES);
  for (size_t j = 0; j < panels; j += CHUNK) multiply_chunk(p, j, tpti_least(j + CHUNK, panels));
}
