/* Leave to use tiles, which Linux gives to a process that asks. */
#include "kernel/amx.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu.h"

static bool ask(void) {
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM; asm/prctl.h */
  if (!(tpti_cpu_flags() & TPTI_CPU_AMX)) return false;
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* Threads that ask at once get the same answer. */
bool tpti_amx_permit(void) {
  enum { NOT_ASKED, REFUSED, GIVEN };
  static atomic_int answer = NOT_ASKED;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == NOT_ASKED) {
    known = ask() ? GIVEN : REFUSED;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == GIVEN;
}
