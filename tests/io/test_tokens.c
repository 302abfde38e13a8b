/* Token files. */
#include "io/tokens.h"

#include "io/files.h"
#include "support/runner.h"

START_TEST(sixteen_bits) {
  static const char *const names[] = {"a.u16", "a.bin"};
  const uint16_t ids[] = {0, 1, 32767, 32768, 65535};
  for (size_t i = 0; i < 2; i++) {
    const char *path = in_folder(names[i]);
    tpti_test_write_file(path, ids, sizeof ids);
    tpti_tokens tokens;
    int32_t got[6] = {[5] = -7};
    ck_assert_int_eq(tpti_tokens_open(path, &tokens), TPT_OK);
    ck_assert_uint_eq(tokens.count, 5);
    ck_assert_int_eq(tpti_tokens_read(&tokens, 0, 5, got), TPT_OK);
    for (size_t k = 0; k < 5; k++) ck_assert_int_eq(got[k], ids[k]);
    ck_assert_int_eq(got[5], -7);
    ck_assert_int_eq(tpti_tokens_read(&tokens, 3, 2, got), TPT_OK);
    ck_assert_int_eq(got[0], 32768);
    ck_assert_int_eq(got[1], 65535);
    tpti_tokens_close(&tokens);
  }
}
END_TEST

START_TEST(thirty_two_bits) {
  const uint32_t ids[] = {70000, 0x7fffffff, 0x80000000, 3};
  tpti_test_write_file(in_folder("a.u32"), ids, sizeof ids);
  tpti_tokens tokens;
  int32_t got[4];
  ck_assert_int_eq(tpti_tokens_open(in_folder("a.u32"), &tokens), TPT_OK);
  ck_assert_uint_eq(tokens.count, 4);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 0, 2, got), TPT_OK);
  ck_assert_int_eq(got[0], 70000);
  ck_assert_int_eq(got[1], INT32_MAX);
  tokens.path = "the path";
  ck_assert_int_eq(tpti_tokens_read(&tokens, 1, 3, got), TPT_E_FORMAT);
  ck_assert_message("token 2 is 2147483648");
  ck_assert_message("the path");
  tpti_tokens_close(&tokens);
}
END_TEST

START_TEST(names_and_sizes_that_are_refused) {
  static const char *const names[] = {"a.txt", "a", "u16", "a.u16.gz", "a.U16"};
  tpti_tokens tokens;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tpti_test_write_file(in_folder(names[i]), "1234", 4);
    ck_assert_int_eq(tpti_tokens_open(in_folder(names[i]), &tokens), TPT_E_FORMAT);
    ck_assert_message(".u16, .bin or .u32");
  }
  tpti_test_write_file(in_folder("a.safetensors"), "\2\0\0\0\0\0\0\0{}", 10);
  ck_assert_int_eq(tpti_tokens_open(in_folder("a.safetensors"), &tokens), TPT_E_FORMAT);
  ck_assert_message("; a token file is wanted, this looks like a safetensors file: ");
  ck_assert_int_eq(tokens.file.descriptor, -1);
  ck_assert_int_eq(tpti_tokens_open(in_folder("absent.txt"), &tokens), TPT_E_FORMAT);
  ck_assert_message(".u16, .bin or .u32: ");
  ck_assert_int_eq(tpti_tokens_open("", &tokens), TPT_E_IO);
  ck_assert_message("the path is empty");
  tpti_test_write_file(in_folder("odd.u16"), "123", 3);
  ck_assert_int_eq(tpti_tokens_open(in_folder("odd.u16"), &tokens), TPT_E_FORMAT);
  ck_assert_message("3 bytes");
  tpti_test_write_file(in_folder("odd.u32"), "123456", 6);
  ck_assert_int_eq(tpti_tokens_open(in_folder("odd.u32"), &tokens), TPT_E_FORMAT);
  ck_assert_int_eq(tpti_tokens_open(in_folder("absent.u32"), &tokens), TPT_E_IO);
  ck_assert_int_eq(tokens.file.descriptor, -1);
}
END_TEST

START_TEST(empty_file_has_no_tokens) {
  tpti_test_write_file(in_folder("a.bin"), "", 0);
  tpti_tokens tokens;
  int32_t got = 5;
  ck_assert_int_eq(tpti_tokens_open(in_folder("a.bin"), &tokens), TPT_OK);
  ck_assert_uint_eq(tokens.count, 0);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 0, 0, &got), TPT_OK);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 0, 1, &got), TPT_E_ARGUMENT);
  ck_assert_int_eq(got, 5);
  tpti_tokens_close(&tokens);
}
END_TEST

START_TEST(ranges_are_checked_without_overflow) {
  tpti_test_write_file(in_folder("a.bin"), "12345678", 8);
  tpti_tokens tokens;
  int32_t got[4];
  ck_assert_int_eq(tpti_tokens_open(in_folder("a.bin"), &tokens), TPT_OK);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 4, 0, got), TPT_OK);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 5, 0, got), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 1, 4, got), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 1, SIZE_MAX, got), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_tokens_read(&tokens, SIZE_MAX, 1, got), TPT_E_ARGUMENT);
  tpti_tokens_close(&tokens);
}
END_TEST

START_TEST(file_cut_while_in_use) {
  const char *path = in_folder("a.bin");
  tpti_test_write_file(path, "12345678", 8);
  tpti_tokens tokens;
  int32_t got[4];
  ck_assert_int_eq(tpti_tokens_open(path, &tokens), TPT_OK);
  ck_assert_int_eq(truncate(path, 3), 0);
  ck_assert_int_eq(tpti_tokens_read(&tokens, 0, 4, got), TPT_E_FORMAT);
  ck_assert_message(path);
  tpti_tokens_close(&tokens);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {sixteen_bits,
                                thirty_two_bits,
                                names_and_sizes_that_are_refused,
                                empty_file_has_no_tokens,
                                ranges_are_checked_without_overflow,
                                file_cut_while_in_use};
  return tpti_test_main(suite_of("tokens", tests, sizeof tests / sizeof *tests));
}
