/* Files that are opened while the host has closed its standard descriptors. */
#include "base/descriptor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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
  ck_assert(none.error == EINVAL || none.error == EMFILE);
  ck_assert_int_eq(none.low, 0);
  ck_assert_int_ne(access(path, F_OK), 0);
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
  tcase_add_test(c, an_error_is_the_systems);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
