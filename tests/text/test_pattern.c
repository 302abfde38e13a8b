/* Oniguruma's expressions by PCRE2: what is rewritten, and what is refused. */
#include "text/pattern.h"

#include "make.h"

/* All matches of the pattern, as "start-end start-end". */
static const char *matches(const char *pattern, const char *text) {
  static char out[512];
  tpti_regex *regex = NULL;
  tpti_matcher *matcher = NULL;
  size_t used = 0, start, end;
  bool found = true;
  tpt_status status = tpti_pattern_compile(&tpti_memory_default, pattern, strlen(pattern), &regex);
  ck_assert_msg(status == TPT_OK, "%s: %s", pattern, tpti_error_text());
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  tpti_matches m = {.matcher = matcher, .text = text, .size = strlen(text)};
  out[0] = 0;
  while (tpti_matches_next(&m, &found, &start, &end) == TPT_OK && found)
    used +=
        (size_t)snprintf(out + used, sizeof out - used, "%s%zu-%zu", used ? " " : "", start, end);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
  return out;
}

START_TEST(white_space_is_unicode) {
  ck_assert_str_eq(matches("\\s", "a\x0b\xc2\x85z\xe3\x80\x80\x1c"), "1-2 2-4 5-8");
  ck_assert_str_eq(matches("[\\s]+", " \xe2\x80\xa8"), "0-4");
  ck_assert_str_eq(matches("[^\\S ]", " \t\xc2\xa0"
                                      "a"),
                   "1-2 2-4");
  ck_assert_str_eq(matches("\\S+", "\xe2\x80\x8b "), "0-3"); /* a zero width space is none */
}
END_TEST

START_TEST(words_are_oniguruma_s) {
  ck_assert_str_eq(matches("\\w+", "e\xcc\x81_1 \xc2\xb2 \xe2\x80\x8d"), "0-5 6-8");
  ck_assert_str_eq(matches("[\\w]+", "a\xc2\xb2"), "0-1"); /* in brackets it is narrower */
  ck_assert_str_eq(matches("\\d", "1\xd9\xa1\xc2\xb2"), "0-1 1-3");
}
END_TEST

START_TEST(anchors_are_of_lines) {
  ck_assert_str_eq(matches("^.", "a\nb\n"), "0-1 2-3");
  ck_assert_str_eq(matches(".$", "a\nb\n"), "0-1 2-3");
  ck_assert_str_eq(matches("$", "b\n"), "1-1 2-2");
  ck_assert_str_eq(matches("\n^", "\n"), "");
  ck_assert_str_eq(matches("\\Aa|b\\z", "aab"), "0-1 2-3");
}
END_TEST

START_TEST(empty_matches_move_on) {
  ck_assert_str_eq(matches("x*", "ax"), "0-0 1-2");
  ck_assert_str_eq(matches("(?=\xc3\xa9)", "a\xc3\xa9"), "1-1");
}
END_TEST

START_TEST(intervals_and_manners) {
  ck_assert_str_eq(matches("a{,2}b", "aaab"), "1-4");
  ck_assert_str_eq(matches("a{2}", "aaaaa"), "0-2 2-4");
  ck_assert_str_eq(matches("a{1,2}?", "aa"), "0-1 1-2");
  ck_assert_str_eq(matches("a++b|a", "aab a"), "0-3 4-5");
}
END_TEST

START_TEST(case_may_be_ignored) {
  ck_assert_str_eq(matches("(?i:'s|'t)", "'S 's '\xc5\xbf"), "0-2 3-5 6-9");
  ck_assert_str_eq(matches("(?i:x[a-c])x", "XBx XBX"), "0-3");
}
END_TEST

START_TEST(classes) {
  ck_assert_str_eq(matches("[-a]|[b-]", "-ab"), "0-1 1-2 2-3");
  ck_assert_str_eq(matches("[\\]\\[^]", "]^["), "0-1 1-2 2-3");
  ck_assert_str_eq(matches("[^\\p{L}\\n]", "a\n1"), "2-3");
  ck_assert_str_eq(matches("\\p{Han}\\P{^L}", "\xe4\xbd\xa0"
                                              "a"),
                   "0-4");
  ck_assert_str_eq(matches("[\\x{1F600}-\\x{1F64F}\\u00e9\\x41]", "A\xc3\xa9\xf0\x9f\x98\x80"),
                   "0-1 1-3 3-7");
}
END_TEST

START_TEST(what_is_not_certain_is_refused) {
  static const char *const refused[] = {
      "",          "a{1,2}+", "a{2}?",   "(a)\\1", "\\h",     "\\R",
      "\\b",       "[a&&b]",  "[[:a:]]", "(?i)a",  "(?i:ss)", "(?i:\\w)",
      "(?i:[^a])", "(?m:.)",  "(?<n>a)", "a**",    "(?:a*)*", "(?:a|)+",
      "\\p{Foo}",  "\\p{L",   "\\xe9",   "[]a]",   "[\\W]",   "*a",
      "(a",        "a)",      "a]",      "a}",     "[z-a]",   "[a-c-e]",
      "\\x{d800}", "a{5,2}",  "[a",      "\\",     "a{2000}", "(?i:\xc3\x9f)",
      "[\\d-z]",   "(?<=a*)b"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    tpti_regex *regex = NULL;
    ck_assert_msg(tpti_pattern_compile(&tpti_memory_default, refused[i], strlen(refused[i]),
                                       &regex) == TPT_E_UNSUPPORTED,
                  "%s", refused[i]);
    ck_assert_ptr_null(regex);
  }
  ck_assert_message("regular expression");
}
END_TEST

START_TEST(deep_groups_end) {
  char deep[400];
  tpti_regex *regex = NULL;
  memset(deep, '(', 200);
  memset(deep + 200, ')', 200);
  ck_assert_int_eq(tpti_pattern_compile(&tpti_memory_default, deep, 400, &regex),
                   TPT_E_UNSUPPORTED);
  ck_assert_message("nested");
}
END_TEST

START_TEST(a_literal_is_itself) {
  tpti_regex *regex = NULL;
  tpti_matcher *matcher = NULL;
  bool found = false;
  size_t start = 0, end = 0;
  ck_assert_int_eq(tpti_pattern_literal(&tpti_memory_default, ".*\xc3\xa9", 4, &regex), TPT_OK);
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, "ab.*\xc3\xa9", 6, 0, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 2 && end == 6);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
}
END_TEST

TEST_MAIN("pattern", white_space_is_unicode, words_are_oniguruma_s, anchors_are_of_lines,
          empty_matches_move_on, intervals_and_manners, case_may_be_ignored, classes,
          what_is_not_certain_is_refused, deep_groups_end, a_literal_is_itself)
