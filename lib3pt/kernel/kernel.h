/* The table of inner loops, one for each instruction set; kernels.inc lists them.
 *
 * A word w of the list has the function type tpti_w_fn in the header of its file, the reference
 * tpti_w_plain in its *_plain.c, and the static function w in its *_tmpl.h, a body over the words
 * of vec_*.h that the file of every instruction set includes. */
#ifndef TPTI_KERNEL_KERNEL_H
#define TPTI_KERNEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/words.h"

typedef struct tpti_kernels {
  const char *name;
  uint32_t needs; /* bits of base/cpu.h */
  size_t mr, nr; /* rows and columns of C that a product keeps in registers; its tiles are multiples
                  */
#define K(word) tpti_##word##_fn *word;
#include "kernel/kernels.inc"
#undef K
} tpti_kernels;

/* The newest table whose needs are all in flags; the plain one needs nothing. */
const tpti_kernels *tpti_kernels_choose(uint32_t flags);

/* Every table of this build, plain first; NULL past the last. */
const tpti_kernels *tpti_kernels_list(size_t index);

extern const tpti_kernels tpti_kernels_plain, tpti_kernels_avx2, tpti_kernels_avx512,
    tpti_kernels_neon;

#endif
