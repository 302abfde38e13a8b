/* See file.h. */
#include "support/file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *opened(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  ck_assert_msg(file != NULL, "%s cannot be opened", path);
  return file;
}

unsigned char *tpti_test_read_file(const char *path, size_t *length) {
  FILE *file = opened(path, "rb");
  ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
  long end = ftell(file);
  ck_assert_int_ge(end, 0);
  rewind(file);
  *length = (size_t)end;
  unsigned char *data = malloc(*length + 1); /* an empty file has an address, too */
  ck_assert_ptr_nonnull(data);
  ck_assert_uint_eq(fread(data, 1, *length, file), *length);
  fclose(file);
  return data;
}

void tpti_test_write_file(const char *path, const void *data, size_t length) {
  FILE *file = opened(path, "wb");
  ck_assert_uint_eq(fwrite(data, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}
