/* The reference table: plain C for any processor. */
#include "kernel/kernel.h"

const tpti_kernels tpti_kernels_plain = {
    .name = "plain",
    .needs = 0,
    .mr = 4,
    .nr = 16,
#define K(word) .word = tpti_##word##_plain,
#include "kernel/kernels.inc"
#undef K
};
