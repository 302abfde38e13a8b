/* The head of a handle. */
#include "base/handle.h"

#include <stdlib.h>
#include <string.h>

#include "support/runner.h"

START_TEST(a_new_head_has_one_holder_and_no_failure) {
  tpti_handle handle;
  char text[TPTI_ERROR_TEXT] = "x";
  tpti_handle_init(&handle, TPTI_MODEL);
  ck_assert(tpti_handle_is(&handle, TPTI_MODEL, "model"));
  tpti_handle_last(&handle, text);
  ck_assert_str_eq(text, "");
  ck_assert(tpti_handle_release(&handle));
}
END_TEST

START_TEST(null_and_other_kinds_are_named) {
  tpti_handle handle;
  tpti_handle_init(&handle, TPTI_TOKENIZER);
  ck_assert(!tpti_handle_is(NULL, TPTI_MODEL, "model"));
  ck_assert_str_eq(tpti_error_text(), "model is NULL");
  ck_assert(!tpti_handle_is(&handle, TPTI_OPTIMIZER, "optimizer"));
  ck_assert_str_eq(tpti_error_text(), "optimizer is not an optimizer (or was destroyed)");
  ck_assert(!tpti_handle_is(&handle, TPTI_MODEL, "source"));
  ck_assert_str_eq(tpti_error_text(), "source is not a model (or was destroyed)");
  tpti_handle_release(&handle);
}
END_TEST

START_TEST(the_last_release_tells_and_marks) {
  tpti_handle handle;
  tpti_handle_init(&handle, TPTI_CONTEXT);
  tpti_handle_hold(&handle);
  tpti_handle_hold(&handle);
  ck_assert(!tpti_handle_release(&handle));
  ck_assert(!tpti_handle_release(&handle));
  ck_assert(tpti_handle_is_any(&handle));
  ck_assert(tpti_handle_release(&handle));
  ck_assert(!tpti_handle_is(&handle, TPTI_CONTEXT, "context"));
  ck_assert(!tpti_handle_is_any(&handle));
  ck_assert(!tpti_handle_is_any(NULL));
}
END_TEST

START_TEST(a_failure_is_kept_and_a_success_changes_nothing) {
  tpti_handle handle;
  char text[TPTI_ERROR_TEXT];
  tpti_handle_init(&handle, TPTI_DATASET);
  ck_assert_int_eq(tpti_handle_keep(&handle, tpti_fail(TPT_E_IO, "first")), TPT_E_IO);
  ck_assert_int_eq(tpti_handle_keep(&handle, TPT_OK), TPT_OK);
  tpti_fail(TPT_E_STATE, "elsewhere");
  tpti_handle_last(&handle, text);
  ck_assert_str_eq(text, "first");
  tpti_handle_release(&handle);
}
END_TEST

enum { ROUNDS = 2000 };

/* A text is never torn, whoever wrote last: its length is in its digits. */
static void *fail_often(void *argument) {
  tpti_handle *handle = argument;
  char text[TPTI_ERROR_TEXT];
  for (int i = 0; i < ROUNDS; i++) {
    tpt_status status = i % 2 ? TPT_E_IO : TPT_E_FORMAT;
    tpti_handle_hold(handle);
    tpti_handle_keep(handle, tpti_fail(status, "%0*d", 100 + (int)status, (int)status));
    tpti_handle_last(handle, text);
    if (strlen(text) != 100 + strtoul(text, NULL, 10)) return argument;
    if (tpti_handle_release(handle)) return argument;
  }
  return NULL;
}

START_TEST(threads_may_fail_at_once) {
  tpti_handle handle;
  pthread_t threads[3];
  tpti_handle_init(&handle, TPTI_MODEL);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, fail_often, &handle);
  for (int i = 0; i < 3; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
  ck_assert(tpti_handle_release(&handle));
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/handle");
  TCase *c = tcase_create("handle");
  tcase_add_test(c, a_new_head_has_one_holder_and_no_failure);
  tcase_add_test(c, null_and_other_kinds_are_named);
  tcase_add_test(c, the_last_release_tells_and_marks);
  tcase_add_test(c, a_failure_is_kept_and_a_success_changes_nothing);
  tcase_add_test(c, threads_may_fail_at_once);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
