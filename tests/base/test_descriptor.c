/* Files that are opened while the host has closed its standard descriptors. */
#include "base/descriptor.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/runner.h"
#include "support/standard.h"

static char folder[64], path[96];

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/made", folder);
}

static void remove_folder(void) { tpti_test_remove_folder(folder); }

/* What was found while 0 to 2 were closed; nothing is asserted then. */
typedef struct found {
  int descriptor, close_on_exec, low, error; /* low: how many of 0 to 2 were open */
} found;

static found open_without_standard(int flags, const struct rlimit *limit) {
  tpti_test_standard standard = tpti_test_close_standard();
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  if (limit) setrlimit(RLIMIT_NOFILE, limit);
  found f = {.descriptor = tpti_open(AT_FDCWD, path, flags, 0600)};
  f.error = errno;
  f.close_on_exec = fcntl(f.descriptor, F_GETFD) == FD_CLOEXEC;
  setrlimit(RLIMIT_NOFILE, &before);
  f.low = tpti_test_open_standard(&standard);
  return f;
}

START_TEST(never_a_standard_one) {
  found made = open_without_standard(O_WRONLY | O_CREAT | O_EXCL, NULL);
  ck_assert_int_gt(made.descriptor, 2);
  ck_assert_int_eq(made.low, 0);
  ck_assert(made.close_on_exec);
  ck_assert_int_eq(write(made.descriptor, "abc", 3), 3);
  ck_assert_int_eq(close(made.descriptor), 0);
  found read = open_without_standard(O_RDONLY, NULL);
  char text[4];
  ck_assert(read.descriptor > 2 && read.low == 0 && read.close_on_exec);
  ck_assert_int_eq(pread(read.descriptor, text, 4, 0), 3);
  close(read.descriptor);
}
END_TEST

/* Three descriptors are allowed, and these are the standard ones. */
START_TEST(a_failure_leaves_nothing) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 3;
  found none = open_without_standard(O_WRONLY | O_CREAT | O_EXCL, &limit);
  ck_assert_int_eq(none.descriptor, -1);
  ck_assert_int_eq(none.error, EMFILE);
  ck_assert_int_eq(none.low, 0);
  const char *fork_mode = getenv("CK_FORK"); /* valgrind refuses what it has opened already */
  if (!fork_mode || strcmp(fork_mode, "no") != 0) ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* ---- a host whose other thread prints ---- */

static atomic_int ended;

static void *print(void *nothing) {
  while (!ended)
    for (int i = 0; i < 3; i++)
      if (write(i, "printed", 7) > 0) sched_yield();
  return nothing;
}

/* Files that are not as empty as they were made, or could not be made. */
static int make_and_look(int rounds) {
  int faults = 0;
  for (int i = 0; i < rounds; i++) {
    struct stat facts = {0};
    int made = tpti_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    faults += made < 0 || fstat(made, &facts) || facts.st_size != 0;
    close(made);
    unlink(path);
  }
  return faults;
}

START_TEST(what_the_host_prints_goes_nowhere) {
  tpti_test_standard standard = tpti_test_close_standard();
  pthread_t printer;
  int started = pthread_create(&printer, NULL, print, NULL), faults = make_and_look(5000);
  ended = 1;
  if (!started) pthread_join(printer, NULL);
  int low = tpti_test_open_standard(&standard);
  ck_assert_int_eq(started, 0);
  ck_assert_int_eq(faults, 0);
  ck_assert_int_eq(low, 0);
}
END_TEST

START_TEST(an_error_is_the_systems) {
  ck_assert_int_eq(tpti_open(AT_FDCWD, path, O_RDONLY, 0), -1);
  ck_assert_int_eq(errno, ENOENT);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/descriptor");
  TCase *c = tcase_create("descriptor");
  tcase_add_checked_fixture(c, make_folder, remove_folder);
  tcase_add_test(c, never_a_standard_one);
  tcase_add_test(c, a_failure_leaves_nothing);
  tcase_add_test(c, what_the_host_prints_goes_nowhere);
  tcase_add_test(c, an_error_is_the_systems);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
