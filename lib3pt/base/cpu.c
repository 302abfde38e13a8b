/* The processor's instruction sets, and how many processors are ours. */
#include "base/cpu.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "base/threads.h"

/* ---- instruction sets ---- */

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>

/* The register state that the operating system saves (XCR0). */
static uint32_t saved_state(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool has_all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/* Whether the system would give tiles to a process that asks; this does not ask. */
static bool system_has_tiles(void) {
  enum { GET_SUPPORTED = 0x1021, TILE_DATA = 1u << 18 }; /* ARCH_GET_XCOMP_SUPP; asm/prctl.h */
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, GET_SUPPORTED, &supported) == 0 && (supported & TILE_DATA) != 0;
}

/* tiles: leaf 7's edx. */
static bool has_amx(uint32_t tiles, uint32_t state) {
  enum { TILE_STATE = 3u << 17, AMX = 1u << 22 | 1u << 24 /* BF16, TILE */ };
  return has_all(tiles, AMX) && has_all(state, TILE_STATE) && system_has_tiles();
}

static bool has_bf16(void) {
  enum { AVX512_BF16 = 1u << 5 }; /* leaf 7.1, eax */
  uint32_t a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && has_all(a, AVX512_BF16);
}

static bool made_by_amd(void) {
  uint32_t a, b, c, d;
  return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && c == signature_AMD_ecx &&
         d == signature_AMD_edx;
}

uint32_t tpti_cpu_flags(void) {
  enum { XSAVE_IN_USE = 1u << 27, AVX = 1u << 28 };                  /* leaf 1, ecx */
  enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6 };                        /* XCR0 */
  const uint32_t fused = 1u << 12 | 1u << 29;                        /* leaf 1, ecx: FMA, F16C */
  const uint32_t avx2 = 1u << 5;                                     /* leaf 7, ebx, as the next */
  const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
  uint32_t a, b, c, d, flags = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, XSAVE_IN_USE | AVX | fused)) return 0;
  uint32_t state = saved_state();
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has_all(state, YMM_STATE)) return 0;
  if (has_all(b, avx2)) flags |= TPTI_CPU_AVX2;
  if (flags && has_all(b, avx512) && has_all(state, ZMM_STATE)) flags |= TPTI_CPU_AVX512;
  if ((flags & TPTI_CPU_AVX512) && has_bf16()) flags |= TPTI_CPU_BF16;
  if ((flags & TPTI_CPU_BF16) && has_amx(d, state)) flags |= TPTI_CPU_AMX;
  if ((flags & TPTI_CPU_BF16) && made_by_amd()) flags |= TPTI_CPU_BF16_FAST;
  return flags;
}

#elif defined(__aarch64__)
uint32_t tpti_cpu_flags(void) { return TPTI_CPU_NEON; } /* part of the base architecture */
#else
uint32_t tpti_cpu_flags(void) { return 0; }
#endif

/* ---- the cgroup's quota ---- */

enum { PATH_TEXT = 4096, FILE_TEXT = 64, NO_QUOTA = INT32_MAX };

typedef struct search {
  tpti_cpu_reader read;
  void *user;
  int32_t least;
} search;

static void take_quota(search *s, int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return;
  int64_t whole = quota / period;
  if (whole < 1) whole = 1;
  if (whole < s->least) s->least = (int32_t)whole;
}

static bool read_file_in(search *s, const char *folder, const char *name, char text[FILE_TEXT]) {
  char path[PATH_TEXT + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return s->read(s->user, path, text, FILE_TEXT);
}

/* The number at *text, which is moved behind it and the space that follows; -1 for "max", "-1" and
 * what is no number. */
static int64_t next_number(const char **text) {
  size_t size = strcspn(*text, " \n");
  int64_t value;
  if (!tpti_parse_int64(*text, size, &value)) value = -1;
  *text += size;
  *text += strspn(*text, " \n");
  return value;
}

/* cpu.max: "max 100000" or "150000 100000" */
static void look_v2(search *s, const char *folder) {
  char text[FILE_TEXT];
  const char *at = text;
  if (!read_file_in(s, folder, "cpu.max", text)) return;
  int64_t quota = next_number(&at);
  take_quota(s, quota, next_number(&at));
}

static void look_v1(search *s, const char *folder) {
  char quota[FILE_TEXT], period[FILE_TEXT];
  const char *q = quota, *p = period;
  if (!read_file_in(s, folder, "cpu.cfs_quota_us", quota)) return;
  if (!read_file_in(s, folder, "cpu.cfs_period_us", period)) return;
  take_quota(s, next_number(&q), next_number(&p));
}

/* The group and all above it: each limits those below. In a container the path may be the host's
 * and its folders not there; the mount's own folder then is the container's group. */
static void climb(search *s, const char *mount, const char *group,
                  void (*look)(search *, const char *)) {
  char folder[PATH_TEXT];
  size_t base = strlen(mount);
  bool outside = strstr(group, "/..") != NULL; /* above the root of this cgroup namespace */
  int size = snprintf(folder, sizeof folder, "%s%s", mount, outside ? "" : group);
  if (size < 0 || (size_t)size >= sizeof folder) folder[base] = '\0';
  for (size_t end = strlen(folder); end > base; end--) {
    if (folder[end] != '\0' && folder[end] != '/') continue;
    folder[end] = '\0';
    if (folder[end - 1] != '/') look(s, folder);
  }
  folder[base] = '\0';
  look(s, folder);
}

static bool names_cpu(const char *controllers, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t word = 0;
    while (at + word < size && controllers[at + word] != ',') word++;
    if (word == 3 && memcmp(controllers + at, "cpu", 3) == 0) return true;
    at += word + 1;
  }
  return false;
}

/* One line, "4:cpu,cpuacct:/path" or "0::/path". */
static void look_at_line(search *s, const char *line) {
  const char *controllers = strchr(line, ':');
  const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!group) return;
  controllers++;
  size_t size = (size_t)(group - controllers);
  if (size == 0) {
    climb(s, "/sys/fs/cgroup", group + 1, look_v2);
    climb(s, "/sys/fs/cgroup/unified", group + 1, look_v2); /* systemd's hybrid of both versions */
  } else if (names_cpu(controllers, size)) {
    char mount[64];
    int length = snprintf(mount, sizeof mount, "/sys/fs/cgroup/%.*s", (int)size, controllers);
    climb(s, "/sys/fs/cgroup/cpu", group + 1, look_v1);
    if (size != 3 && length > 0 && (size_t)length < sizeof mount)
      climb(s, mount, group + 1, look_v1);
  }
}

int32_t tpti_cpu_quota(const char *groups, tpti_cpu_reader read, void *user) {
  search s = {read, user, NO_QUOTA};
  char line[PATH_TEXT];
  while (*groups) {
    size_t size = strcspn(groups, "\n");
    if (size < sizeof line) {
      memcpy(line, groups, size);
      line[size] = '\0';
      look_at_line(&s, line);
    }
    groups += size + (groups[size] == '\n');
  }
  return s.least;
}

/* ---- this process ---- */

static bool read_whole(void *user, const char *path, char *text, size_t capacity) {
  (void)user;
  int file = tpti_open(AT_FDCWD, path, O_RDONLY, 0);
  if (file < 0) return false;
  size_t used = 0;
  for (;;) {
    ssize_t got = read(file, text + used, capacity - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
  }
  close(file);
  text[used] = '\0';
  return used > 0;
}

/* 0 where the system does not tell. */
static int32_t affinity_count(void) {
  cpu_set_t set[64]; /* 65536 processors: the kernel refuses a mask shorter than its own */
  if (sched_getaffinity(0, sizeof set, set) != 0) return 0;
  return (int32_t)CPU_COUNT_S(sizeof set, set);
}

int32_t tpti_cpu_count(void) {
  char groups[PATH_TEXT]; /* a dozen lines; what is cut off is not seen */
  int32_t count = affinity_count();
  if (read_whole(NULL, "/proc/self/cgroup", groups, sizeof groups)) {
    int32_t quota = tpti_cpu_quota(groups, read_whole, NULL);
    if (quota < count) count = quota;
  }
  if (count < 1) return 1;
  return count > TPTI_MAX_THREADS ? TPTI_MAX_THREADS : count;
}
