/* The kernels on AVX-512. */
#if !defined __AVX512F__ || !defined __AVX512BW__ || !defined __AVX512DQ__ || !defined __AVX512VL__
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma"
#endif

#include "base/cpu.h"
#include "kernel/kernel.h"
#include "kernel/vec_avx512.h"

/* 24 sums, 2 vectors of B and 1 of A: 27 of 32 registers. 12 divides the usual sizes, 14 does not.
 */
#define GEMM_ROWS    12
#define GEMM_VECTORS 2

#include "kernel/tmpl.h"

const tpti_kernels tpti_kernels_avx512 = {
    .name = "avx512",
    .needs = TPTI_CPU_AVX512,
    .mr = GEMM_ROWS,
    .nr = GEMM_VECTORS * V_LANES,
#define K(word) .word = word,
#include "kernel/kernels.inc"
#undef K
};
