/* Files read whole and at an offset. */
#include "io/file.h"

#include <sys/stat.h>

#include "io/files.h"
#include "support/allocator.h"
#include "support/runner.h"

START_TEST(reads_at_an_offset) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "0123456789", 10);
  tpti_file file;
  char got[4] = "";
  ck_assert_int_eq(tpti_file_open(path, &file), TPT_OK);
  ck_assert_uint_eq(file.size, 10);
  ck_assert_int_eq(tpti_file_read(&file, path, 6, got, 4), TPT_OK);
  ck_assert_mem_eq(got, "6789", 4);
  ck_assert_int_eq(tpti_file_read(&file, path, 10, got, 0), TPT_OK);
  tpti_file_close(&file);
  ck_assert_int_eq(file.descriptor, -1);
}
END_TEST

START_TEST(short_file_is_a_format_error) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "0123456789", 10);
  tpti_file file;
  char got[8];
  ck_assert_int_eq(tpti_file_open(path, &file), TPT_OK);
  ck_assert_int_eq(tpti_file_read(&file, path, 7, got, 4), TPT_E_FORMAT);
  ck_assert_message("ends before byte 10 where 4 bytes from 7 on are needed");
  ck_assert_message(path);
  ck_assert_int_eq(tpti_file_read(&file, path, UINT64_MAX - 1, got, 4), TPT_E_FORMAT);
  tpti_test_write_file(path, "01", 2); /* cut while it is open */
  ck_assert_int_eq(tpti_file_read(&file, path, 5, got, 4), TPT_E_FORMAT);
  ck_assert_message("ends before byte 5");
  tpti_file_close(&file);
}
END_TEST

START_TEST(what_cannot_be_opened) {
  tpti_file file;
  const char *pipe = in_folder("pipe");
  ck_assert_int_eq(tpti_file_open(in_folder("absent"), &file), TPT_E_IO);
  ck_assert_message("No such file or directory");
  ck_assert_message("absent");
  ck_assert_int_eq(file.descriptor, -1);
  ck_assert_int_eq(tpti_file_open(folder, &file), TPT_E_IO);
  ck_assert_message("folder");
  ck_assert_int_eq(mkfifo(pipe, 0600), 0);
  ck_assert_int_eq(tpti_file_open(pipe, &file), TPT_E_IO); /* and does not wait */
  ck_assert_message("no regular file");
  ck_assert_int_eq(tpti_file_open("", &file), TPT_E_IO);
  ck_assert_message("the path is empty");
}
END_TEST

START_TEST(descriptor_is_not_inherited) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "", 0);
  tpti_file file;
  ck_assert_int_eq(tpti_file_open(path, &file), TPT_OK);
  ck_assert_int_ne(fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC, 0);
  tpti_file_close(&file);
}
END_TEST

START_TEST(slurp_appends_and_has_a_limit) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "0123456789", 10);
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  ck_assert(tpti_buffer_append(&text, "x", 1));
  ck_assert_int_eq(tpti_file_slurp(path, 9, TPTI_WANT_TOKENIZER, &text), TPT_E_FORMAT);
  ck_assert_message("at most 9 are allowed; a tokenizer.json is wanted, this looks like text: ");
  ck_assert_uint_eq(text.used, 1);
  ck_assert_int_eq(tpti_file_slurp(path, 10, TPTI_WANT_TEXT, &text), TPT_OK);
  ck_assert_uint_eq(text.used, 11);
  ck_assert_mem_eq(text.data, "x0123456789", 11);
  tpti_buffer_free(&text);
}
END_TEST

START_TEST(slurp_of_nothing) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "", 0);
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  ck_assert_int_eq(tpti_file_slurp(path, 0, TPTI_WANT_TEXT, &text), TPT_OK);
  ck_assert_uint_eq(text.used, 0);
  tpti_buffer_free(&text);
}
END_TEST

START_TEST(slurp_without_memory) {
  const char *path = in_folder("a");
  tpti_test_write_file(path, "0123456789", 10);
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 1);
  tpti_buffer text;
  tpti_buffer_init(&text, &a.memory);
  ck_assert_int_eq(tpti_file_slurp(path, 10, TPTI_WANT_TEXT, &text), TPT_E_MEMORY);
  tpti_buffer_free(&text);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      reads_at_an_offset,          short_file_is_a_format_error,  what_cannot_be_opened,
      descriptor_is_not_inherited, slurp_appends_and_has_a_limit, slurp_of_nothing,
      slurp_without_memory};
  return tpti_test_main(suite_of("file", tests, sizeof tests / sizeof *tests));
}
