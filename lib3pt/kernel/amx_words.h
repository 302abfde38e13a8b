/* What all files that work on AMX tiles share; included where the compiler has the instructions. */
#ifndef TPTI_KERNEL_AMX_WORDS_H
#define TPTI_KERNEL_AMX_WORDS_H

#include <immintrin.h>
#include <stdint.h>

/* Palette 1: all eight tiles have 16 rows of 64 bytes. */
typedef struct tpti_amx_palette {
  uint8_t number, start, reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} tpti_amx_palette;
_Static_assert(sizeof(tpti_amx_palette) == 64, "what ldtilecfg reads");

/* From here to _tile_release this thread has tiles. */
static inline void tpti_amx_begin(void) {
  static const tpti_amx_palette whole = {.number = 1,
                                         .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                                         .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
  _tile_loadconfig(&whole);
}

/* The nearest bf16 of two vectors as pairs, those of low in the low halves. */
static inline __attribute__((always_inline)) __m512i tpti_amx_pairs(__m512 low, __m512 high) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

#endif
