/* One file of a test's own. */
#ifndef TPTI_TESTS_API_ONE_FILE_H
#define TPTI_TESTS_API_ONE_FILE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static inline void make_path(void) {
  strcpy(path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
}

static inline void remove_path(void) { remove(path); }

#endif
