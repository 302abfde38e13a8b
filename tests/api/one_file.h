/* One file of a test's own, and files read and written whole. */
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

static inline unsigned char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = malloc(*length + 1);
  ck_assert_ptr_nonnull(data);
  ck_assert_uint_eq(fread(data, 1, *length, file), *length);
  fclose(file);
  return data;
}

static inline void write_file(const char *name, const unsigned char *data, size_t length) {
  FILE *file = fopen(name, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(data, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}

#endif
