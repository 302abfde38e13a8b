/* The tables of this build, oldest instruction set first, and the choice among them. */
#include "kernel/kernel.h"

static const tpti_kernels *const tables[] = {
    &tpti_kernels_plain,
#ifdef TPTI_HAVE_AVX2
    &tpti_kernels_avx2,
#endif
#ifdef TPTI_HAVE_AVX512
    &tpti_kernels_avx512,
#endif
#ifdef TPTI_HAVE_NEON
    &tpti_kernels_neon,
#endif
};

enum { TABLES = sizeof tables / sizeof tables[0] };

const tpti_kernels *tpti_kernels_list(size_t index) {
  return index < TABLES ? tables[index] : NULL;
}

const tpti_kernels *tpti_kernels_choose(uint32_t flags) {
  for (size_t i = TABLES; i-- > 1;) {
    if ((tables[i]->needs & ~flags) == 0) return tables[i];
  }
  return tables[0];
}
