/* UTF-8 and numbers. */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "support/runner.h"

START_TEST(a_result_is_cut_and_measured) {
  char text[8];
  size_t length = 0;
  tpti_text_result("hello", 5, NULL, 0, &length);
  ck_assert_uint_eq(length, 5);
  const char *const wanted[] = {"", "h", "he", "hel", "hell", "hello", "hello"};
  for (size_t capacity = 1; capacity <= 7; capacity++) {
    memset(text, '#', sizeof text);
    tpti_text_result("hello", 5, text, capacity, &length);
    ck_assert_str_eq(text, wanted[capacity - 1]);
    ck_assert_uint_eq(length, 5);
    ck_assert_int_eq(text[capacity], '#');
  }
}
END_TEST

static bool code_point_survives(uint32_t c) {
  char text[4];
  uint32_t back;
  size_t size = tpti_utf8_write(c, text);
  bool surrogate = c >= 0xd800 && c < 0xe000;
  return size == (c < 0x80      ? 1
                  : c < 0x800   ? 2
                  : c < 0x10000 ? 3
                                : 4) &&
         tpti_utf8_valid(text, size) == (surrogate ? 0 : size) &&
         tpti_utf8_read(text, &back) == size && back == c;
}

START_TEST(every_code_point_is_written_and_read) {
  uint32_t c = 0;
  while (c < 0x110000 && code_point_survives(c)) c++;
  ck_assert_uint_eq(c, 0x110000);
}
END_TEST

START_TEST(what_is_not_utf8_is_found) {
  static const struct {
    const char *text;
    size_t at;
  } cases[] = {{"ok\x80", 2},           {"\xc0\x80", 0},         {"\xc1\xbf", 0},
               {"a\xe0\x9f\xbf", 1},    {"\xed\xa0\x80", 0},     {"\xf0\x8f\xbf\xbf", 0},
               {"\xf4\x90\x80\x80", 0}, {"\xf5\x80\x80\x80", 0}, {"abc\xe2\x82", 3},
               {"\xe2\x28\xa1", 0},     {"\xf0\x9f\x98", 0},     {"x\xff", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_uint_eq(tpti_utf8_valid(cases[i].text, strlen(cases[i].text)), cases[i].at);
  ck_assert_uint_eq(tpti_utf8_valid("a\0\xc3\xa9", 4), 4);
}
END_TEST

START_TEST(a_cut_leaves_whole_characters) {
  const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  const size_t wanted[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (size_t size = 0; size <= 10; size++)
    ck_assert_uint_eq(tpti_utf8_cut(text, size), wanted[size]);
  ck_assert_uint_eq(tpti_utf8_cut("\x80\x80", 2), 2);
}
END_TEST

START_TEST(what_is_shown_of_a_text) {
  ck_assert_int_eq(tpti_shown("", 5), 0);
  ck_assert_int_eq(tpti_shown("abc", 5), 3);
  ck_assert_int_eq(tpti_shown("abcdef", 5), 5);
  ck_assert_int_eq(tpti_shown("abcd\xc3\xa9", 5), 4);
  ck_assert_int_eq(tpti_shown("abc\xc3\xa9z", 5), 5);
}
END_TEST

START_TEST(doubles_are_read) {
  static const struct {
    const char *text;
    double value;
  } good[] = {{"0", 0},           {"-0.5", -0.5}, {"+3", 3},          {".5", 0.5},
              {"5.", 5},          {"1e-6", 1e-6}, {"1E+3", 1000},     {"1e-999", 0},
              {"007", 7},         {"3e-4", 3e-4}, {".inf", HUGE_VAL}, {"-.INF", -HUGE_VAL},
              {"+.Inf", HUGE_VAL}};
  static const char *const bad[] = {"",      " 1",    "1 ",    "0x10",     "inf", "nan", "1e",
                                    "e5",    ".",     "+",     "1e+",      "1,5", "1_0", "--1",
                                    "1.2.3", "1e999", "-.nan", "infinity", "1f"};
  double value = 77;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    ck_assert_msg(!tpti_parse_double(bad[i], strlen(bad[i]), &value), "%s", bad[i]);
  ck_assert_double_eq(value, 77);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    ck_assert_msg(tpti_parse_double(good[i].text, strlen(good[i].text), &value), "%s",
                  good[i].text);
    ck_assert_double_eq(value, good[i].value);
  }
  ck_assert(tpti_parse_double(".nan", 4, &value) && isnan(value));
  ck_assert(tpti_parse_double("12345", 2, &value) && value == 12);
  ck_assert(!tpti_parse_double("1\0", 2, &value));
}
END_TEST

static bool int64_is(const char *text, int64_t wanted) {
  int64_t value = 0;
  return tpti_parse_int64(text, strlen(text), &value) && value == wanted;
}

static bool uint64_is(const char *text, uint64_t wanted) {
  uint64_t value = 0;
  return tpti_parse_uint64(text, strlen(text), &value) && value == wanted;
}

START_TEST(integers_are_read_to_their_limits) {
  ck_assert(int64_is("9223372036854775807", INT64_MAX));
  ck_assert(int64_is("-9223372036854775808", INT64_MIN));
  ck_assert(int64_is("+12", 12) && int64_is("-0", 0) && int64_is("-1", -1));
  ck_assert(uint64_is("18446744073709551615", UINT64_MAX));
  ck_assert(uint64_is("-0", 0) && uint64_is("0018", 18));
  int64_t i;
  uint64_t u;
  static const char *const bad[] = {"",  "-", "1.0", "1e3", " 1", "0x1", "18446744073709551616",
                                    "1-"};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    ck_assert_msg(!tpti_parse_int64(bad[k], strlen(bad[k]), &i), "%s", bad[k]);
    ck_assert_msg(!tpti_parse_uint64(bad[k], strlen(bad[k]), &u), "%s", bad[k]);
  }
  ck_assert(!tpti_parse_int64("9223372036854775808", 19, &i));
  ck_assert(!tpti_parse_int64("-9223372036854775809", 20, &i));
  ck_assert(!tpti_parse_uint64("-1", 2, &u));
}
END_TEST

static void format_is(double value, const char *wanted) {
  char text[TPTI_NUMBER_TEXT];
  size_t size = tpti_format_double(value, text);
  ck_assert_str_eq(text, wanted);
  ck_assert_uint_eq(size, strlen(wanted));
}

START_TEST(doubles_are_written_short) {
  format_is(0.1, "0.1");
  format_is(1e-6, "1.0e-06");
  format_is(3e-4, "0.0003");
  format_is(10000, "10000");
  format_is(-0.0, "-0");
  format_is(1e300, "1.0e+300");
  format_is(0.1 + 0.2, "0.30000000000000004");
  format_is(NAN, ".nan");
  format_is(-HUGE_VAL, "-.inf");
  format_is(-2.2250738585072014e-308, "-2.2250738585072014e-308");
}
END_TEST

START_TEST(doubles_come_back_bit_for_bit) {
  uint64_t state = tpti_random_stream(5, 0);
  for (int i = 0; i < 5000; i++) {
    uint64_t bits = tpti_random_next(&state);
    double value, back;
    char text[TPTI_NUMBER_TEXT];
    memcpy(&value, &bits, sizeof value);
    size_t size = tpti_format_double(value, text);
    ck_assert(tpti_parse_double(text, size, &back));
    ck_assert(memcmp(&value, &back, sizeof value) == 0 || (isnan(value) && isnan(back)));
  }
}
END_TEST

/* A decimal comma, where the system has such a locale: the numbers stay as they are. */
START_TEST(a_comma_locale_changes_nothing) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  for (size_t i = 0; i < 4; i++)
    if (setlocale(LC_ALL, names[i])) break;
  double value = 0;
  format_is(0.5, "0.5");
  ck_assert(tpti_parse_double("0.5", 3, &value) && value == 0.5);
  ck_assert(!tpti_parse_double("0,5", 3, &value));
  char before[32], after[32];
  snprintf(before, sizeof before, "%.1f", 1.5);
  format_is(1.5, "1.5");
  snprintf(after, sizeof after, "%.1f", 1.5);
  ck_assert_str_eq(before, after);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/text");
  TCase *c = tcase_create("text");
  tcase_add_test(c, a_result_is_cut_and_measured);
  tcase_add_test(c, every_code_point_is_written_and_read);
  tcase_add_test(c, what_is_not_utf8_is_found);
  tcase_add_test(c, a_cut_leaves_whole_characters);
  tcase_add_test(c, what_is_shown_of_a_text);
  tcase_add_test(c, doubles_are_read);
  tcase_add_test(c, integers_are_read_to_their_limits);
  tcase_add_test(c, doubles_are_written_short);
  tcase_add_test(c, doubles_come_back_bit_for_bit);
  tcase_add_test(c, a_comma_locale_changes_nothing);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
