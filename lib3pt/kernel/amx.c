#include "kernel/amx.h"
bool tpti_amx_permit(void) { return false; }
void tpti_amx_run(tpti_run *run, const tpti_gemm *g) { (void)run; (void)g; }
void tpti_amx_pack_b(tpti_run *run, void *packed, const tpti_gemm *g) { (void)run; (void)packed; (void)g; }
size_t tpti_amx_pack(tpti_precision precision, size_t m, size_t n, size_t k) { (void)precision; (void)m; (void)n; (void)k; return 0; }
size_t tpti_amx_packed_bytes(tpti_precision precision, size_t n, size_t k) { (void)precision; (void)n; (void)k; return 0; }
