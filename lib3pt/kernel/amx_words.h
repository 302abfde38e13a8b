/* What all files that work on AMX tiles share; included where the compiler has the instructions. */
#ifndef TPTI_KERNEL_AMX_WORDS_H
#define TPTI_KERNEL_AMX_WORDS_H

#include <stdint.h>

#include "kernel/bf16_words.h"

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

#endif
