/* Matrix products of bf16 parts of floats (base/precision.h): on AMX tiles or, of one part, on
 * vectors of AVX512_BF16. */
#ifndef TPTI_KERNEL_BF16_H
#define TPTI_KERNEL_BF16_H

#include "kernel/gemm.h"

/* Whether this build and this processor have tiles; asks the system for nothing. */
bool tpti_amx_here(void);

/* Whether this process may use tiles. The first call asks the system for leave, which stays with
 * the process and makes the signal frames of all its threads some 8 KiB larger; so it is made only
 * when a precision other than float32 is asked for. Any number of threads may call. */
bool tpti_amx_permit(void);

/* Whether this build and this processor have vectors of bf16, which need nobody's leave; and
 * whether products on them are faster than those of floats (TPTI_CPU_BF16_FAST). */
bool tpti_bf16_vectors_here(void);
bool tpti_bf16_vectors_fast(void);

/* The precision in which products are made where a recipe wants this one: itself where the process
 * may use tiles (tpti_amx_permit, called for all but float32); else bf16 on vectors where these are
 * fast, and float32. Vectors multiply twice as many bf16 as floats at a time, so that the three
 * products of bf16x3, and the six of bf16x6, would be slower than the one of float32. */
tpti_precision tpti_precision_here(tpti_precision wanted);

/* tpti_gemm_run, tpti_gemm_pack_b and the bytes of both in a precision other than F32, one that
 * tpti_precision_here gave.
 *
 * run->pack, of tpti_bf16_pack bytes, is for products whose B is not packed; it and a packed B lie
 * at 64 bytes. All of run->scratch is used. C may be base, and is otherwise apart from A and B.
 * What is not finite in A or B makes its row or column of C not finite (an infinity may become a
 * NaN); denormals count as 0.
 *
 * The bits of an element of C depend on its row of A, its column of B, its base and the precision
 * alone: not on threads, on what else is in the product, on whether B was packed. No thread is left
 * with tile state. */
void tpti_bf16_run(tpti_run *run, const tpti_gemm *g);
void tpti_bf16_pack_b(tpti_run *run, void *packed, const tpti_gemm *g);

/* Bytes; never less for larger sizes. The first is at most 16 MiB where the smaller of m and n is
 * up to 5440 (bf16x6), 8192 (bf16x3) or 16384. */
size_t tpti_bf16_pack(tpti_precision precision, size_t m, size_t n, size_t k);
size_t tpti_bf16_packed_bytes(tpti_precision precision, size_t n, size_t k);

#endif
