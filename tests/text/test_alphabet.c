/* The byte-level alphabet. */
#include "text/alphabet.h"

#include "make.h"

START_TEST(known_characters) {
  ck_assert_uint_eq(tpti_alphabet_char('a'), 'a');
  ck_assert_uint_eq(tpti_alphabet_char(0), 0x100);
  ck_assert_uint_eq(tpti_alphabet_char('\n'), 0x10a);
  ck_assert_uint_eq(tpti_alphabet_char(' '), 0x120);
  ck_assert_uint_eq(tpti_alphabet_char(0x7f), 0x121);
  ck_assert_uint_eq(tpti_alphabet_char(0xa0), 0x142);
  ck_assert_uint_eq(tpti_alphabet_char(0xad), 0x143);
  ck_assert_uint_eq(tpti_alphabet_char(0xff), 0xff);
}
END_TEST

START_TEST(every_byte_comes_back) {
  bool seen[TPTI_ALPHABET_END] = {false};
  for (int i = 0; i < TPTI_BYTES; i++) {
    uint32_t c = tpti_alphabet_char((uint8_t)i);
    ck_assert_uint_lt(c, TPTI_ALPHABET_END);
    ck_assert(!seen[c]);
    seen[c] = true;
    ck_assert_int_eq(tpti_alphabet_byte(c), i);
  }
}
END_TEST

START_TEST(other_characters_are_no_bytes) {
  static const uint32_t others[] = {0, ' ', '\n', 0x7f, 0xa0, 0xad, 0x144, 0x4f60, 0x10ffff};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    ck_assert_int_eq(tpti_alphabet_byte(others[i]), -1);
}
END_TEST

START_TEST(texts_both_ways) {
  char bytes[TPTI_BYTES];
  tpti_buffer text, back;
  tpti_buffer_init(&text, &tpti_memory_default);
  tpti_buffer_init(&back, &tpti_memory_default);
  for (int i = 0; i < TPTI_BYTES; i++) bytes[i] = (char)i;
  ck_assert(tpti_alphabet_write(&text, bytes, sizeof bytes));
  ck_assert(tpti_alphabet_read(&back, text.data, text.used));
  ck_assert_uint_eq(back.used, sizeof bytes);
  ck_assert_mem_eq(back.data, bytes, sizeof bytes);
  tpti_buffer_free(&text);
  tpti_buffer_free(&back);
}
END_TEST

START_TEST(a_text_with_another_character_stays) {
  static const char mixed[] = "a\xc4\xa0\xe4\xbd\xa0"; /* a, the space's character, U+4F60 */
  tpti_buffer back;
  tpti_buffer_init(&back, &tpti_memory_default);
  ck_assert(tpti_alphabet_read(&back, mixed, strlen(mixed)));
  ck_assert_uint_eq(back.used, strlen(mixed));
  ck_assert_mem_eq(back.data, mixed, strlen(mixed));
  tpti_buffer_free(&back);
}
END_TEST

TEST_MAIN("alphabet", known_characters, every_byte_comes_back, other_characters_are_no_bytes,
          texts_both_ways, a_text_with_another_character_stays)
