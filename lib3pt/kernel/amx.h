/* Matrix products on AMX tiles, of bf16 parts of floats (base/precision.h). */
#ifndef TPTI_KERNEL_AMX_H
#define TPTI_KERNEL_AMX_H

#include "kernel/gemm.h"

/* Whether this build and this processor have tiles; asks the system for nothing. */
bool tpti_amx_here(void);

/* Whether this process may use tiles. The first call asks the system for leave, which stays with
 * the process and makes the signal frames of all its threads some 8 KiB larger; so it is made only
 * when a precision other than float32 is asked for. Any number of threads may call. */
bool tpti_amx_permit(void);

/* tpti_gemm_run, tpti_gemm_pack_b and the bytes of both in a precision other than F32.
 *
 * run->pack, of tpti_amx_pack bytes, is for products whose B is not packed; it and a packed B lie
 * at 64 bytes. All of run->scratch is used. C may be base, and is otherwise apart from A and B.
 * What is not finite in A or B makes its row or column of C not finite (an infinity may become a
 * NaN); denormals count as 0.
 *
 * The bits of an element of C depend on its row of A, its column of B, its base and the precision
 * alone: not on threads, on what else is in the product, on whether B was packed. No thread is left
 * with tile state. */
void tpti_amx_run(tpti_run *run, const tpti_gemm *g);
void tpti_amx_pack_b(tpti_run *run, void *packed, const tpti_gemm *g);

/* Bytes; never less for larger sizes. The first is at most 16 MiB where the smaller of m and n is
 * up to 5440 (bf16x6), 8192 (bf16x3) or 16384. */
size_t tpti_amx_pack(tpti_precision precision, size_t m, size_t n, size_t k);
size_t tpti_amx_packed_bytes(tpti_precision precision, size_t n, size_t k);

#endif
