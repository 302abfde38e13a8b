/* The kernels on Advanced SIMD of AArch64. */
#if !defined __aarch64__ || !defined __ARM_NEON
#error "compile this file with an AArch64 compiler"
#endif

#include "base/cpu.h"
#include "kernel/kernel.h"
#include "kernel/vec_neon.h"

/* 24 sums, 3 vectors of B and 1 of A: 28 of 32 registers. */
#define GEMM_ROWS    8
#define GEMM_VECTORS 3

#include "kernel/tmpl.h"

const tpti_kernels tpti_kernels_neon = {
    .name = "neon",
    .needs = TPTI_CPU_NEON,
    .mr = GEMM_ROWS,
    .nr = GEMM_VECTORS * V_LANES,
#define K(word) .word = word,
#include "kernel/kernels.inc"
#undef K
};
