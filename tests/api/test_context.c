/* The context: its settings, who holds it, and what is given back. */
#include "api/api.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/allocator.h"
#include "support/runner.h"

static tpt_context *create(void) {
  tpt_context *context = NULL;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  ck_assert_ptr_nonnull(context);
  return context;
}

START_TEST(threads_have_a_range) {
  tpt_context *context = create();
  int32_t threads = 0;
  ck_assert_int_eq(tpt_context_threads(context, &threads), TPT_OK);
  ck_assert(threads >= 1 && threads <= 256);
  for (int32_t n = 1; n <= 256; n += 51) {
    ck_assert_int_eq(tpt_context_set_threads(context, n), TPT_OK);
    ck_assert_int_eq(tpt_context_threads(context, &threads), TPT_OK);
    ck_assert_int_eq(threads, n);
  }
  ck_assert_int_eq(tpt_context_set_threads(context, 257), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_set_threads(context, -1), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_threads(context, &threads), TPT_OK);
  ck_assert_int_eq(threads, 256);
  tpt_context_destroy(context);
}
END_TEST

START_TEST(null_and_strangers_are_refused) {
  int32_t threads;
  tpt_config stranger;
  tpti_handle_init(&stranger.head, TPTI_CONFIG);
  tpt_context *wrong = (tpt_context *)(void *)&stranger;
  ck_assert_int_eq(tpt_context_set_threads(NULL, 1), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_threads(wrong, &threads), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_set_log(wrong, NULL, NULL, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_set_progress(NULL, NULL, NULL, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_set_allocator(wrong, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_cancel(NULL, 1), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_context_hold(wrong, &wrong), TPT_E_ARGUMENT);
  tpt_context_destroy(NULL);
  tpt_context_destroy(wrong);
  tpti_handle_release(&stranger.head);
}
END_TEST

START_TEST(the_allocator_gets_all_back) {
  tpti_test_allocator a, b;
  tpt_context *context = create();
  tpti_test_allocator_init(&a);
  tpti_test_allocator_init(&b);
  ck_assert_int_eq(tpt_context_set_threads(context, 5), TPT_OK);
  ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_OK);
  ck_assert_uint_gt(tpti_test_allocator_live(&a), 0);
  ck_assert_int_eq(tpt_context_set_allocator(context, &b.allocator), TPT_OK);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  int32_t threads;
  ck_assert_int_eq(tpt_context_threads(context, &threads), TPT_OK);
  ck_assert_int_eq(threads, 5);
  tpt_context_destroy(context);
  ck_assert_uint_eq(tpti_test_allocator_live(&b), 0);
}
END_TEST

START_TEST(a_refusing_allocator_changes_nothing) {
  tpti_test_allocator a;
  tpt_context *context = create();
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 1);
  ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_E_MEMORY);
  ck_assert_ptr_eq(context->memory.user, NULL);
  ck_assert_int_eq(tpt_context_set_threads(context, 2), TPT_OK);
  tpt_context_destroy(context);
}
END_TEST

static void *allocate_crooked(void *user, size_t bytes, size_t alignment) {
  static _Alignas(64) char storage[4096];
  (void)user;
  return bytes + 8 <= sizeof storage && alignment == 64 ? storage + 8 : NULL;
}

static void keep_block(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user, (void)memory, (void)bytes, (void)alignment;
}

START_TEST(an_allocator_out_of_line_is_told_so) {
  tpt_context *context = create();
  const tpt_allocator crooked = {
      .size = sizeof crooked, .allocate = allocate_crooked, .release = keep_block};
  ck_assert_int_eq(tpt_context_set_allocator(context, &crooked), TPT_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "at no multiple of 64"));
  tpt_context_destroy(context);
}
END_TEST

START_TEST(the_allocator_comes_before_all_else) {
  tpti_test_allocator a;
  tpt_context *context = create(), *held = NULL;
  tpti_test_allocator_init(&a);
  ck_assert_int_eq(tpti_context_hold(context, &held), TPT_OK);
  ck_assert_ptr_eq(held, context);
  ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_E_STATE);
  tpti_context_release(held);
  ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_OK);
  tpt_context_destroy(context);
}
END_TEST

START_TEST(an_incomplete_allocator_is_refused) {
  struct {
    tpt_allocator known;
    size_t unknown;
  } longer = {0};
  tpti_test_allocator a;
  tpt_context *context = create();
  tpti_test_allocator_init(&a);
  tpt_allocator bad = a.allocator;
  bad.size = sizeof bad - 1;
  ck_assert_int_eq(tpt_context_set_allocator(context, &bad), TPT_E_ARGUMENT);
  bad.size = SIZE_MAX;
  ck_assert_int_eq(tpt_context_set_allocator(context, &bad), TPT_E_ARGUMENT);
  bad = a.allocator;
  bad.release = NULL;
  ck_assert_int_eq(tpt_context_set_allocator(context, &bad), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_context_set_allocator(context, NULL), TPT_E_ARGUMENT);
  longer.known = a.allocator;
  longer.known.size = sizeof longer;
  longer.unknown = 1;
  ck_assert_int_eq(tpt_context_set_allocator(context, &longer.known), TPT_E_ARGUMENT);
  longer.unknown = 0;
  ck_assert_int_eq(tpt_context_set_allocator(context, &longer.known), TPT_OK);
  tpt_context_destroy(context);
}
END_TEST

static void count(void *user) { ++*(int *)user; }

static void keep_line(void *user, int32_t level, const char *text) {
  char *line = user;
  line[0] = (char)('0' + level);
  strcpy(line + 1, text);
}

START_TEST(log_lines_arrive_whole) {
  char line[2 * TPTI_ERROR_TEXT] = "", text[2 * TPTI_ERROR_TEXT];
  tpt_context *context = create();
  tpti_log(context, 2, "nobody hears");
  ck_assert_int_eq(tpt_context_set_log(context, keep_line, line, NULL), TPT_OK);
  tpti_log(context, 1, "%d of %.1f", 3, 4.5);
  ck_assert_str_eq(line, "13 of 4.5");
  for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 3);
  tpti_log(context, 0, "%s", text);
  ck_assert_uint_eq(tpti_utf8_valid(line, strlen(line)), strlen(line));
  ck_assert_uint_gt(strlen(line), TPTI_ERROR_TEXT - 3);
  tpti_log(context, 2, "to %s", "a\xff\nb"); /* as a path may be */
  ck_assert_str_eq(line, "2to a??b");
  tpt_context_destroy(context);
}
END_TEST

static int32_t stop(void *user, const void *handle, double done) {
  (void)user;
  (void)handle;
  (void)done;
  return 1;
}

START_TEST(done_is_called_once_a_pair) {
  int first = 0, second = 0, third = 0;
  tpt_context *context = create(), *held;
  ck_assert_int_eq(tpt_context_set_log(context, keep_line, &first, count), TPT_OK);
  ck_assert_int_eq(tpt_context_set_progress(context, stop, &third, count), TPT_OK);
  ck_assert_int_eq(tpt_context_set_log(context, NULL, &second, count), TPT_OK);
  ck_assert(first == 1 && second == 0 && third == 0);
  ck_assert_int_eq(tpti_context_hold(context, &held), TPT_OK);
  tpt_context_destroy(context);
  ck_assert(first == 1 && second == 0 && third == 0);
  tpti_context_release(held);
  ck_assert(first == 1 && second == 1 && third == 1);
}
END_TEST

START_TEST(a_run_has_what_the_context_says) {
  tpt_context *context = create();
  tpti_run run = tpti_context_run(context, &run, NULL, NULL);
  ck_assert(tpti_run_tick(&run) && run.kernels == context->kernels && run.kernels);
  ck_assert_int_eq(tpt_context_cancel(context, 7), TPT_OK);
  ck_assert(!tpti_run_tick(&run));
  ck_assert_int_eq(tpti_run_status(&run), TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_context_cancel(context, 0), TPT_OK);
  run = tpti_context_run(context, &run, NULL, NULL);
  ck_assert(tpti_run_tick(&run));
  ck_assert_int_eq(tpt_context_set_progress(context, stop, NULL, NULL), TPT_OK);
  run = tpti_context_run(context, &run, NULL, NULL);
  run.last_tick = 0;
  ck_assert(!tpti_run_tick(&run));
  tpt_context_destroy(context);
}
END_TEST

START_TEST(no_context_means_one_of_its_own) {
  tpt_context *held = NULL;
  ck_assert_int_eq(tpti_context_hold(NULL, &held), TPT_OK);
  ck_assert_ptr_nonnull(held);
  tpti_context_release(held);
  tpti_context_release(NULL);
}
END_TEST

START_TEST(results_fit_the_callers_struct) {
  tpt_drift ours = {sizeof ours, 1, 2, 3, 4};
  struct {
    tpt_drift known;
    size_t unknown;
  } theirs;
  memset(&theirs, 0xff, sizeof theirs);
  theirs.known.size = sizeof theirs;
  ck_assert_int_eq(tpti_result(&theirs, &ours, sizeof ours, sizeof ours, "drift"), TPT_OK);
  ck_assert_uint_eq(theirs.known.size, sizeof theirs);
  ck_assert(theirs.known.start == 1 && theirs.known.max == 4 && theirs.unknown == 0);
  memset(&theirs, 0xff, sizeof theirs);
  theirs.known.size = sizeof ours - sizeof(double); /* as after a field was added to ours */
  ck_assert_int_eq(tpti_result(&theirs, &ours, sizeof ours, 16, "drift"), TPT_OK);
  ck_assert(theirs.known.l2 == 3 && theirs.known.max != 4 && theirs.unknown == SIZE_MAX);
  theirs.known.size = 15;
  ck_assert_int_eq(tpti_result(&theirs, &ours, sizeof ours, 16, "drift"), TPT_E_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), "drift.size is 15"));
  ck_assert_int_eq(tpti_result(NULL, &ours, sizeof ours, 16, "drift"), TPT_E_ARGUMENT);
}
END_TEST

static tpt_context *in_handler;

static void cancel_in_handler(int signal) {
  (void)signal;
  tpt_context_cancel(in_handler, 1);
}

/* The handler comes while this thread holds what a failure would lock, and has a message. */
START_TEST(cancel_in_a_signal_handler) {
  in_handler = create();
  ck_assert_int_eq(tpt_context_threads(in_handler, NULL), TPT_E_ARGUMENT);
  ck_assert_ptr_ne(signal(SIGUSR1, cancel_in_handler), SIG_ERR);
  ck_assert_int_eq(pthread_mutex_lock(&in_handler->head.guard), 0);
  errno = EDOM;
  raise(SIGUSR1);
  ck_assert_int_eq(errno, EDOM);
  ck_assert_int_eq(pthread_mutex_unlock(&in_handler->head.guard), 0);
  ck_assert_int_eq(atomic_load(&in_handler->cancel), 1);
  ck_assert_str_eq(tpt_error_message(), "threads is NULL");
  tpt_context_destroy(in_handler);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("api/context");
  TCase *c = tcase_create("context");
  tcase_add_test(c, threads_have_a_range);
  tcase_add_test(c, null_and_strangers_are_refused);
  tcase_add_test(c, the_allocator_gets_all_back);
  tcase_add_test(c, a_refusing_allocator_changes_nothing);
  tcase_add_test(c, an_allocator_out_of_line_is_told_so);
  tcase_add_test(c, the_allocator_comes_before_all_else);
  tcase_add_test(c, an_incomplete_allocator_is_refused);
  tcase_add_test(c, log_lines_arrive_whole);
  tcase_add_test(c, done_is_called_once_a_pair);
  tcase_add_test(c, a_run_has_what_the_context_says);
  tcase_add_test(c, no_context_means_one_of_its_own);
  tcase_add_test(c, results_fit_the_callers_struct);
  tcase_add_test(c, cancel_in_a_signal_handler);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
