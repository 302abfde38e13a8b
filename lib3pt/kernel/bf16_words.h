/* What all files that work on pairs of bf16 share; included where the compiler has the
 * instructions. */
#ifndef TPTI_KERNEL_BF16_WORDS_H
#define TPTI_KERNEL_BF16_WORDS_H

#if !defined __AVX512F__ || !defined __AVX512BW__ || !defined __AVX512VL__ ||                      \
    !defined __AVX512BF16__
#error "compile with -mavx512f -mavx512bw -mavx512vl -mavx512bf16"
#endif

#include <immintrin.h>

#include "kernel/bf16_parts.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The first n lanes. */
ALWAYS_INLINE __mmask16 tpti_bf16_mask(size_t n) {
  return (__mmask16)(n >= TPTI_BF16_LANES ? 0xffffu : (1u << n) - 1);
}

/* Two halves of bf16 as pairs, those of the first half in the low halves. */
ALWAYS_INLINE __m512i tpti_bf16_paired(__m512i halves) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, halves);
}

/* The nearest bf16 of two vectors as pairs, those of low in the low halves. */
ALWAYS_INLINE __m512i tpti_bf16_pairs(__m512 low, __m512 high) {
  return tpti_bf16_paired((__m512i)_mm512_cvtne2ps_pbh(high, low));
}

#endif
