/* Which units make products of bf16: in this build, on this processor, with the system's leave. */
#include "kernel/bf16.h"

#include "base/cpu.h"

#ifdef TPTI_HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>

bool tpti_amx_here(void) { return (tpti_cpu_flags() & TPTI_CPU_AMX) != 0; }

/* Linux gives the same answer to everyone who asks again: nothing need be remembered. */
bool tpti_amx_permit(void) {
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM; asm/prctl.h */
  return tpti_amx_here() && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#else
bool tpti_amx_here(void) { return false; }
bool tpti_amx_permit(void) { return false; }
#endif

#ifdef TPTI_HAVE_BF16
bool tpti_bf16_vectors_here(void) { return (tpti_cpu_flags() & TPTI_CPU_BF16) != 0; }
#else
bool tpti_bf16_vectors_here(void) { return false; }
#endif

bool tpti_bf16_vectors_fast(void) {
  return tpti_bf16_vectors_here() && (tpti_cpu_flags() & TPTI_CPU_BF16_FAST) != 0;
}

tpti_precision tpti_precision_here(tpti_precision wanted) {
  if (wanted == TPTI_PRECISION_F32 || tpti_amx_permit()) return wanted;
  bool vectors = wanted == TPTI_PRECISION_BF16 && tpti_bf16_vectors_fast();
  return vectors ? TPTI_PRECISION_BF16_VECTORS : TPTI_PRECISION_F32;
}
