/* Quotas from the texts that the system writes, in every arrangement of cgroups. */
#include "base/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/threads.h"
#include "support/runner.h"

typedef struct file {
  const char *path, *text;
} file;

/* user: an array of files that ends with a NULL path */
static bool read_from(void *user, const char *path, char *text, size_t capacity) {
  for (const file *f = user; f->path; f++) {
    if (strcmp(f->path, path) != 0) continue;
    snprintf(text, capacity, "%s", f->text);
    return true;
  }
  return false;
}

static int32_t quota(const char *groups, file *files) {
  return tpti_cpu_quota(groups, read_from, files);
}

START_TEST(no_files_no_quota) {
  file none[] = {{NULL, NULL}};
  ck_assert_int_eq(quota("", none), INT32_MAX);
  ck_assert_int_eq(quota("0::/\n", none), INT32_MAX);
  ck_assert_int_eq(quota("nonsense\n::\n:\n0::", none), INT32_MAX);
}
END_TEST

START_TEST(version_2_takes_the_least_of_all_above) {
  file files[] = {{"/sys/fs/cgroup/cpu.max", "max 100000\n"},
                  {"/sys/fs/cgroup/a/cpu.max", "350000 100000\n"},
                  {"/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n"},
                  {"/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n"},
                  {NULL, NULL}};
  ck_assert_int_eq(quota("0::/a/b/c\n", files), 3);
  ck_assert_int_eq(quota("0::/a/b\n", files), 3);
  ck_assert_int_eq(quota("0::/\n", files), INT32_MAX);
  ck_assert_int_eq(quota("0::/a/b/c", files), 3);
  ck_assert_int_eq(quota("0::/ab\n", files), INT32_MAX);
}
END_TEST

START_TEST(less_than_one_is_one) {
  file files[] = {{"/sys/fs/cgroup/cpu.max", "50000 100000\n"}, {NULL, NULL}};
  ck_assert_int_eq(quota("0::/x\n", files), 1);
}
END_TEST

START_TEST(version_1_divides_its_two_files) {
  file files[] = {{"/sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us", "250000\n"},
                  {"/sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_period_us", "100000\n"},
                  {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                  {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
                  {NULL, NULL}};
  const char *groups = "9:name=systemd:/\n4:cpu,cpuacct:/d/e\n2:cpuset:/\n";
  ck_assert_int_eq(quota(groups, files), 2);
  ck_assert_int_eq(quota("4:cpu,cpuacct:/\n", files), INT32_MAX);
  ck_assert_int_eq(quota("4:cpuset,cpuacct:/d\n", files), INT32_MAX);
}
END_TEST

/* The group is named as the host sees it, and only the mount's own folder is there. */
START_TEST(a_container_sees_its_mount) {
  file files[] = {{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n"},
                  {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
                  {NULL, NULL}};
  ck_assert_int_eq(quota("5:cpu:/docker/0123\n", files), 4);
  ck_assert_int_eq(quota("5:cpuacct,cpu:/../other\n", files), 4);
}
END_TEST

START_TEST(both_versions_at_once) {
  file files[] = {{"/sys/fs/cgroup/cpu/s/cpu.cfs_quota_us", "700000\n"},
                  {"/sys/fs/cgroup/cpu/s/cpu.cfs_period_us", "100000\n"},
                  {"/sys/fs/cgroup/unified/s/cpu.max", "600000 100000\n"},
                  {NULL, NULL}};
  ck_assert_int_eq(quota("1:cpu:/s\n0::/s\n", files), 6);
}
END_TEST

START_TEST(odd_texts_are_no_quota) {
  static const char *const texts[] = {"",         "\n",       "max",
                                      "0 100000", "100000 0", "-5 100000",
                                      "100000",   "x y",      "9999999999999999999999 1"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    file files[] = {{"/sys/fs/cgroup/cpu.max", texts[i]}, {NULL, NULL}};
    ck_assert_msg(quota("0::/\n", files) == INT32_MAX, "\"%s\"", texts[i]);
  }
}
END_TEST

START_TEST(a_very_long_group_is_not_followed) {
  char groups[9000] = "0::";
  memset(groups + 3, '/', sizeof groups - 4);
  file files[] = {{"/sys/fs/cgroup/cpu.max", "200000 100000"}, {NULL, NULL}};
  ck_assert_int_eq(quota(groups, files), INT32_MAX);
  groups[4080] = '\0'; /* fits a line, but not behind its mount */
  memset(groups + 4, 'a', 4076);
  ck_assert_int_eq(quota(groups, files), 2);
}
END_TEST

START_TEST(affinity_limits_the_count) {
  cpu_set_t before, one;
  int32_t count = tpti_cpu_count();
  ck_assert(count >= 1 && count <= TPTI_MAX_THREADS);
  ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
  ck_assert_int_le(count, CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
  ck_assert_int_eq(tpti_cpu_count(), 1);
  sched_setaffinity(0, sizeof before, &before);
}
END_TEST

START_TEST(newer_sets_come_with_older_ones) {
  uint32_t flags = tpti_cpu_flags();
  if (flags & TPTI_CPU_AVX512) ck_assert(flags & TPTI_CPU_AVX2);
#if defined(__x86_64__)
  __builtin_cpu_init();
  ck_assert_int_eq(!!(flags & TPTI_CPU_AVX512),
                   __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
  ck_assert_int_eq(!!(flags & TPTI_CPU_AVX2),
                   __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#endif
}
END_TEST

/* What the system shows of the first processor under this name, a space around each word. */
static void read_words(const char *name, char line[8192]) {
  FILE *info = fopen("/proc/cpuinfo", "r");
  ck_assert_ptr_nonnull(info);
  while (fgets(line, 8192, info) && strncmp(line, name, strlen(name)) != 0) continue;
  fclose(info);
  line[strcspn(line, "\n")] = ' ';
}

/* Where the flag is set the system shows its words, and the older flag is set. */
START_TEST(bf16_comes_with_its_words) {
  static const struct {
    uint32_t flag, older;
    const char *words[2];
  } sets[] = {{TPTI_CPU_BF16, TPTI_CPU_AVX512, {" avx512_bf16 ", " avx512f "}},
              {TPTI_CPU_AMX, TPTI_CPU_BF16, {" amx_tile ", " amx_bf16 "}}};
  char line[8192] = "";
  read_words("flags", line);
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    if (!(tpti_cpu_flags() & sets[i].flag)) continue;
    ck_assert(tpti_cpu_flags() & sets[i].older);
    for (size_t w = 0; w < 2; w++)
      ck_assert_msg(strstr(line, sets[i].words[w]) != NULL, "no%sin %s", sets[i].words[w], line);
  }
}
END_TEST

/* The instruction of AMD's processors is, no other's. */
START_TEST(bf16_is_fast_where_amd_makes_it) {
  char line[8192] = "";
  read_words("vendor_id", line);
  uint32_t flags = tpti_cpu_flags();
  bool amd = strstr(line, " AuthenticAMD ") != NULL;
  ck_assert_int_eq(!!(flags & TPTI_CPU_BF16_FAST), amd && (flags & TPTI_CPU_BF16));
}
END_TEST

/* All that bf16 on vectors needs is the flag of the instructions and AVX-512. */
START_TEST(bf16_is_found_where_it_is_shown) {
  char line[8192] = "";
  read_words("flags", line);
  bool shown = strstr(line, " avx512_bf16 ") && (tpti_cpu_flags() & TPTI_CPU_AVX512);
  ck_assert_int_eq(!!(tpti_cpu_flags() & TPTI_CPU_BF16), shown);
}
END_TEST

#if defined(__x86_64__)
/* The state that this process may use, of what must be asked for. */
static uint64_t permitted(void) {
  uint64_t state = 0;
  syscall(SYS_arch_prctl, 0x1022 /* ARCH_GET_XCOMP_PERM */, &state);
  return state;
}

START_TEST(looking_asks_for_nothing) {
  uint64_t before = permitted();
  tpti_cpu_flags();
  ck_assert_uint_eq(permitted(), before);
  ck_assert_uint_eq(before & 1u << 18, 0);
}
END_TEST
#endif

static Suite *suite(void) {
  Suite *s = suite_create("base/cpu");
  TCase *c = tcase_create("cpu");
  tcase_add_test(c, no_files_no_quota);
  tcase_add_test(c, version_2_takes_the_least_of_all_above);
  tcase_add_test(c, less_than_one_is_one);
  tcase_add_test(c, version_1_divides_its_two_files);
  tcase_add_test(c, a_container_sees_its_mount);
  tcase_add_test(c, both_versions_at_once);
  tcase_add_test(c, odd_texts_are_no_quota);
  tcase_add_test(c, a_very_long_group_is_not_followed);
  tcase_add_test(c, affinity_limits_the_count);
  tcase_add_test(c, newer_sets_come_with_older_ones);
  tcase_add_test(c, bf16_comes_with_its_words);
  tcase_add_test(c, bf16_is_found_where_it_is_shown);
  tcase_add_test(c, bf16_is_fast_where_amd_makes_it);
#if defined(__x86_64__)
  tcase_add_test(c, looking_asks_for_nothing);
#endif
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
