/* The kernels on AVX2 with FMA. */
#if !defined __AVX2__ || !defined __FMA__
#error "compile this file with -mavx2 -mfma"
#endif

#include "base/cpu.h"
#include "kernel/kernel.h"
#include "kernel/vec_avx2.h"

/* 12 sums, 2 vectors of B and 1 of A: 15 of 16 registers. */
#define GEMM_ROWS    6
#define GEMM_VECTORS 2

#include "kernel/tmpl.h"

const tpti_kernels tpti_kernels_avx2 = {
    .name = "avx2",
    .needs = TPTI_CPU_AVX2,
    .mr = GEMM_ROWS,
    .nr = GEMM_VECTORS * V_LANES,
#define K(word) .word = word,
#include "kernel/kernels.inc"
#undef K
};
