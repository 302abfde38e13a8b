/* Leave to use tiles, which Linux gives to a process that asks. */
#include "kernel/amx.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu.h"

/* Linux gives the same answer to everyone who asks again: nothing need be remembered. */
bool tpti_amx_permit(void) {
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM; asm/prctl.h */
  if (!(tpti_cpu_flags() & TPTI_CPU_AMX)) return false;
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
