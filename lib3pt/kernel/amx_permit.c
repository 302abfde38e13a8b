/* Leave to use tiles, which Linux gives to a process that asks. */
#include "kernel/amx.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu.h"

bool tpti_amx_here(void) { return (tpti_cpu_flags() & TPTI_CPU_AMX) != 0; }

/* Linux gives the same answer to everyone who asks again: nothing need be remembered. */
bool tpti_amx_permit(void) {
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM; asm/prctl.h */
  return tpti_amx_here() && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
