/* A folder of its own for each test, with files in it. Check runs tests in processes of their own,
 * so the paths may be kept here. */
#ifndef TPTI_TESTS_IO_FILES_H
#define TPTI_TESTS_IO_FILES_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/folder.h"

static char folder[64];

static inline void make_folder(void) {
  strcpy(folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* The path of `name` in the folder, until eight more are asked for. */
static inline const char *in_folder(const char *name) {
  static char paths[8][512];
  static size_t next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static inline size_t files_in_folder(void) { return tpti_test_entries(folder); }

static inline void remove_folder(void) { tpti_test_remove_folder(folder); }

static inline void check_file(const char *path, const void *data, size_t bytes) {
  size_t length;
  unsigned char *got = tpti_test_read_file(path, &length);
  ck_assert_uint_eq(length, bytes);
  ck_assert_mem_eq(got, data, bytes);
  free(got);
}

/* The last message holds this text. */
#define ck_assert_message(part)                                                                    \
  ck_assert_msg(strstr(tpti_error_text(), part) != NULL, "message \"%s\" lacks \"%s\"",            \
                tpti_error_text(), part)

static inline Suite *suite_of(const char *name, const TTest *const *tests, size_t count) {
  Suite *suite = suite_create(name);
  TCase *group = tcase_create(name);
  tcase_add_checked_fixture(group, make_folder, remove_folder);
  for (size_t i = 0; i < count; i++) tcase_add_test(group, tests[i]);
  suite_add_tcase(suite, group);
  return suite;
}

#endif
