/* Matrix products on AMX tiles, of bf16 parts of floats (base/precision.h). */
#ifndef TPTI_KERNEL_AMX_H
#define TPTI_KERNEL_AMX_H

#include "kernel/gemm.h"

/* Whether this process may use tiles. The first call asks the system for leave, which stays with
 * the process and makes the signal frames of all its threads some 8 KiB larger; so it is made only
 * when a precision other than float32 is asked for. Any number of threads may call. */
bool tpti_amx_permit(void);

/* tpti_gemm_run, tpti_gemm_pack_b and the bytes of both in a precision other than F32. run->pack
 * is tpti_amx_pack bytes. */
void tpti_amx_run(tpti_run *run, const tpti_gemm *g);
void tpti_amx_pack_b(tpti_run *run, void *packed, const tpti_gemm *g);
size_t tpti_amx_pack(tpti_precision precision, size_t m, size_t n, size_t k);
size_t tpti_amx_packed_bytes(tpti_precision precision, size_t n, size_t k);

#endif
