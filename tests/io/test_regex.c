/* PCRE2 behind our allocator. */
#include "io/regex.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/allocator.h"
#include "support/runner.h"

static tpti_regex *compiled(const tpti_memory *memory, const char *pattern) {
  tpti_regex *regex = NULL;
  ck_assert_int_eq(tpti_regex_compile(memory, pattern, strlen(pattern), &regex), TPT_OK);
  return regex;
}

START_TEST(finds_from_a_place) {
  tpti_regex *regex = compiled(&tpti_memory_default, "(?<=b)a+");
  tpti_matcher *matcher = NULL;
  bool found = false;
  size_t start = 0, end = 0;
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, "aabaa", 5, 0, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 3 && end == 5);
  ck_assert_int_eq(tpti_matcher_find(matcher, "aabaa", 5, 3, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 3); /* it looks behind the place */
  ck_assert_int_eq(tpti_matcher_find(matcher, "aabaa", 5, 4, &found, &start, &end), TPT_OK);
  ck_assert(!found);
  ck_assert_int_eq(tpti_matcher_find(matcher, NULL, 0, 0, &found, &start, &end), TPT_OK);
  ck_assert(!found);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
}
END_TEST

START_TEST(properties_are_unicode_s) {
  tpti_regex *regex = compiled(&tpti_memory_default, "\\p{Alphabetic}");
  tpti_matcher *matcher = NULL;
  bool found = false;
  size_t start = 0, end = 0;
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, "1\xe4\xbd\xa0", 4, 0, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 1 && end == 4);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
}
END_TEST

/* 10.42 makes the first repetition possessive unless it is told not to. */
START_TEST(repetitions_give_back) {
  tpti_regex *regex = compiled(&tpti_memory_default, "\\P{L}+?\\P{N}{2}");
  tpti_matcher *matcher = NULL;
  bool found = false;
  size_t start = 9, end = 0;
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, " - a", 4, 0, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 0 && end == 3);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
}
END_TEST

START_TEST(a_bad_pattern_is_unsupported) {
  tpti_regex *regex = NULL;
  ck_assert_int_eq(tpti_regex_compile(&tpti_memory_default, "a(", 2, &regex), TPT_E_UNSUPPORTED);
  ck_assert_ptr_null(regex);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "at byte 2"));
}
END_TEST

START_TEST(a_long_run_of_spaces_is_one_match) {
  enum { LENGTH = 1 << 16 };
  char *text = malloc(LENGTH);
  tpti_regex *regex = compiled(&tpti_memory_default, "(?:\\s|x)+(?!\\S)|\\s+(?!\\S)");
  tpti_matcher *matcher = NULL;
  bool found = false;
  size_t start = 9, end = 0;
  memset(text, ' ', LENGTH);
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, text, LENGTH, 0, &found, &start, &end), TPT_OK);
  ck_assert(found && start == 0 && end == LENGTH);
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
  free(text);
}
END_TEST

START_TEST(what_tries_everything_is_stopped) {
  char text[60];
  tpti_regex *regex = compiled(&tpti_memory_default, "(?:a|aa|aaa)+$");
  tpti_matcher *matcher = NULL;
  bool found = true;
  size_t start, end;
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = 'b';
  ck_assert_int_eq(tpti_matcher_create(regex, &matcher), TPT_OK);
  ck_assert_int_eq(tpti_matcher_find(matcher, text, sizeof text, 0, &found, &start, &end),
                   TPT_E_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "steps"));
  tpti_matcher_free(matcher);
  tpti_regex_free(regex);
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  for (size_t n = 1;; n++) {
    tpti_regex *regex = NULL;
    tpti_matcher *matcher = NULL;
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpti_regex_compile(&a.memory, "a|b+", 4, &regex);
    if (!status) status = tpti_matcher_create(regex, &matcher);
    bool done = status == TPT_OK;
    ck_assert(done || status == TPT_E_MEMORY);
    tpti_matcher_free(matcher);
    tpti_regex_free(regex);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
    if (done) break;
  }
}
END_TEST

static void *match_often(void *argument) {
  tpti_matcher *matcher = NULL;
  size_t wrong = 0;
  if (tpti_matcher_create(argument, &matcher)) return argument;
  for (int i = 0; i < 2000; i++) {
    bool found = false;
    size_t start = 0, end = 0;
    wrong += tpti_matcher_find(matcher, "xx aab", 6, 0, &found, &start, &end) != TPT_OK;
    wrong += !found || start != 3 || end != 6;
  }
  tpti_matcher_free(matcher);
  return wrong ? argument : NULL;
}

START_TEST(threads_share_one) {
  tpti_regex *regex = compiled(&tpti_memory_default, "a+b");
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, match_often, regex), 0);
  for (int i = 0; i < 3; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
  tpti_regex_free(regex);
}
END_TEST

/* Mappings that are written and executed: the pages of PCRE2's compiler, where the system allows it
 * to have any. */
static size_t executable_pages(void) {
  char line[512], *access;
  size_t count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  while (fgets(line, sizeof line, maps))
    count += (access = strchr(line, ' ')) && strncmp(access, " rwx", 4) == 0;
  fclose(maps);
  return count;
}

START_TEST(compiled_pages_are_given_back) {
  size_t before = executable_pages();
  tpti_regex *regex = compiled(&tpti_memory_default, "a+b");
  tpti_regex_free(regex);
  ck_assert_uint_eq(executable_pages(), before);
}
END_TEST

static Suite *suite(void) {
  Suite *all = suite_create("regex");
  TCase *tests = tcase_create("regex");
  tcase_add_test(tests, finds_from_a_place);
  tcase_add_test(tests, properties_are_unicode_s);
  tcase_add_test(tests, repetitions_give_back);
  tcase_add_test(tests, a_bad_pattern_is_unsupported);
  tcase_add_test(tests, a_long_run_of_spaces_is_one_match);
  tcase_add_test(tests, what_tries_everything_is_stopped);
  tcase_add_test(tests, memory_may_run_out_anywhere);
  tcase_add_test(tests, threads_share_one);
  tcase_add_test(tests, compiled_pages_are_given_back);
  suite_add_tcase(all, tests);
  return all;
}

int main(void) { return tpti_test_main(suite()); }
