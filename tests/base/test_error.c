/* The thread's message. */
#include "base/error.h"

#include <pthread.h>
#include <string.h>

#include "api/api.h"
#include "base/text.h"
#include "support/runner.h"

START_TEST(status_comes_back_and_text_is_kept) {
  ck_assert_int_eq(tpti_fail(TPT_E_IO, "%s: %d of %.1f", "file", 3, 2.5), TPT_E_IO);
  ck_assert_str_eq(tpti_error_text(), "file: 3 of 2.5");
  ck_assert_int_eq(tpti_fail_memory(12345), TPT_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "12345"));
}
END_TEST

START_TEST(an_argument_may_be_the_last_message) {
  tpti_fail(TPT_E_IO, "inner");
  tpti_fail(TPT_E_FORMAT, "outer: %s", tpti_error_text());
  ck_assert_str_eq(tpti_error_text(), "outer: inner");
}
END_TEST

START_TEST(a_long_text_is_cut_at_a_character) {
  char text[2 * TPTI_ERROR_TEXT];
  for (size_t shift = 0; shift < 3; shift++) {
    memset(text, 'a', shift);
    for (size_t i = shift; i + 3 < sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
    tpti_fail(TPT_E_CONFIG, "%s", text);
    size_t size = strlen(tpti_error_text());
    ck_assert_uint_gt(size, TPTI_ERROR_TEXT - 5);
    ck_assert_uint_lt(size, TPTI_ERROR_TEXT);
    ck_assert_uint_eq(tpti_utf8_valid(tpti_error_text(), size), size);
    ck_assert_int_eq(memcmp(tpti_error_text(), text, size), 0);
  }
}
END_TEST

START_TEST(bytes_that_are_not_utf8_are_replaced) {
  tpti_fail(TPT_E_IO, "cannot open %s", "a\xff\xe2\x82z");
  ck_assert_str_eq(tpti_error_text(), "cannot open a???z");
}
END_TEST

/* A message is one line, and no terminal obeys it. */
START_TEST(control_characters_are_replaced) {
  tpti_fail(TPT_E_IO, "%s", "a\nb\x1b[2J\x7f\xc2\x9b\xc2\xa0\xc3\xa9");
  ck_assert_str_eq(tpti_error_text(), "a?b?[2J???\xc2\xa0\xc3\xa9");
}
END_TEST

/* The reason stays, however long the path is. */
START_TEST(the_path_comes_last) {
  char path[2 * TPTI_ERROR_TEXT];
  tpti_fail(TPT_E_FORMAT, "line 3 is wrong");
  ck_assert_int_eq(tpti_fail_in(TPT_E_FORMAT, "/a/b"), TPT_E_FORMAT);
  ck_assert_str_eq(tpti_error_text(), "line 3 is wrong: /a/b");
  memset(path, 'p', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  tpti_fail(TPT_E_FORMAT, "line 3 is wrong");
  tpti_fail_in(TPT_E_FORMAT, path);
  ck_assert_int_eq(strncmp(tpti_error_text(), "line 3 is wrong: ppp", 20), 0);
}
END_TEST

static void *fail_elsewhere(void *result) {
  *(size_t *)result = strlen(tpti_error_text());
  tpti_fail(TPT_E_STATE, "elsewhere");
  return NULL;
}

START_TEST(each_thread_has_its_own) {
  pthread_t thread;
  size_t before = 99;
  tpti_fail(TPT_E_STATE, "here");
  ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, &before), 0);
  pthread_join(thread, NULL);
  ck_assert_uint_eq(before, 0);
  ck_assert_str_eq(tpti_error_text(), "here");
}
END_TEST

static void *refuse_all(void *user, size_t bytes, size_t alignment) {
  (void)user, (void)bytes, (void)alignment;
  return NULL;
}

static tpt_status survive(void) {
  const tpti_memory none = {NULL, refuse_all, NULL};
  ck_assert_ptr_null(tpti_take(&none, 12345));
  return TPT_OK;
}

/* Of a handle's call, and of one without a handle. */
START_TEST(a_refusal_that_was_survived_is_not_told_of_the_next_call) {
  tpti_handle head, *handle = &head;
  tpti_handle_init(handle, TPTI_MODEL);
  ck_assert_int_eq(TPTI_CALL(handle, TPTI_MODEL, survive()), TPT_OK);
  tpti_fail_memory(7);
  ck_assert_str_eq(tpti_error_text(), "the allocator refused 7 bytes");
  ck_assert_int_eq(tpti_keep_if(NULL, TPTI_CONTEXT, survive()), TPT_OK);
  tpti_fail_memory(8);
  ck_assert_str_eq(tpti_error_text(), "the allocator refused 8 bytes");
  tpti_handle_release(handle);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/error");
  TCase *c = tcase_create("error");
  tcase_add_test(c, status_comes_back_and_text_is_kept);
  tcase_add_test(c, an_argument_may_be_the_last_message);
  tcase_add_test(c, a_long_text_is_cut_at_a_character);
  tcase_add_test(c, bytes_that_are_not_utf8_are_replaced);
  tcase_add_test(c, control_characters_are_replaced);
  tcase_add_test(c, the_path_comes_last);
  tcase_add_test(c, each_thread_has_its_own);
  tcase_add_test(c, a_refusal_that_was_survived_is_not_told_of_the_next_call);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
