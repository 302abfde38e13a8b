/* What this processor can do, and how many of them the process may use. */
#ifndef TPTI_BASE_CPU_H
#define TPTI_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instruction sets, oldest to newest; a kernel table needs all bits of its set. */
enum {
  TPTI_CPU_AVX2 = 1u << 0,   /* AVX2, FMA and F16C, enabled by the system */
  TPTI_CPU_AVX512 = 1u << 1, /* F, BW, DQ, VL */
  TPTI_CPU_NEON = 1u << 2,   /* Advanced SIMD of AArch64 */
  TPTI_CPU_BF16 = 1u << 3,   /* AVX512_BF16, and TPTI_CPU_AVX512 */
  TPTI_CPU_AMX = 1u << 4,    /* AMX-TILE and AMX-BF16, and TPTI_CPU_BF16; the system gives leave to
                                use tiles, once asked (kernel/bf16.h) */
  TPTI_CPU_BF16_FAST = 1u << 5 /* TPTI_CPU_BF16, whose products are faster than those of floats:
                                  those of AMD. VDPBF16PS multiplies two bf16 for each float of FMA.
                                  It has FMA's rate on Zen 4, where products are 1.5 times as fast
                                  as float32's, and less than half of it on Intel's, where they are
                                  0.63 times as fast (125 GFLOP/s, 197 by FMA). The maker decides,
                                  no clock: the bits of a product follow from it. */
};

/* Asks the processor itself (valgrind answers for its own virtual one). */
uint32_t tpti_cpu_flags(void);

/* Processors this process may use: the smaller of its affinity mask and its cgroup's quota (v1 and
 * v2, rounded down), at least 1, at most 256. */
int32_t tpti_cpu_count(void);

/* Writes the file's text, NUL-terminated and cut to capacity; false where there is none. */
typedef bool (*tpti_cpu_reader)(void *user, const char *path, char *text, size_t capacity);

/* The least quota, in whole processors (at least 1), of the cgroups that `groups`, the text of
 * /proc/self/cgroup, names, and of all above them; INT32_MAX where there is none. */
int32_t tpti_cpu_quota(const char *groups, tpti_cpu_reader read, void *user);

#endif
