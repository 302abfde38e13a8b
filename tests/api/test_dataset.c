/* Datasets and their windows, through the public interface. */
#include <3pt/3pt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/runner.h"

#define ck_assert_message(part)                                                                    \
  ck_assert_msg(strstr(tpt_error_message(), part) != NULL, "message \"%s\" lacks \"%s\"",          \
                tpt_error_message(), part)

enum { COUNT = 23 };
static char path[64];

/* Token i of every dataset here is 10 i. */
static void make_file(void) {
  uint16_t ids[COUNT];
  for (size_t i = 0; i < COUNT; i++) ids[i] = (uint16_t)(10 * i);
  strcpy(path, "/tmp/3pt-test-XXXXXX.u16");
  int descriptor = mkstemps(path, 4);
  ck_assert_int_ge(descriptor, 0);
  ck_assert_int_eq(write(descriptor, ids, sizeof ids), sizeof ids);
  close(descriptor);
}

static void remove_file(void) { unlink(path); }

static tpt_dataset *in_memory(void) {
  int32_t ids[COUNT];
  tpt_dataset *dataset;
  for (int32_t i = 0; i < COUNT; i++) ids[i] = 10 * i;
  ck_assert_int_eq(tpt_dataset_from_tokens(NULL, ids, COUNT, &dataset), TPT_OK);
  return dataset; /* and ids are gone */
}

static tpt_dataset *in_file(void) {
  tpt_dataset *dataset;
  ck_assert_int_eq(tpt_dataset_open(NULL, path, &dataset), TPT_OK);
  return dataset;
}

START_TEST(windows_follow_each_other) {
  tpt_dataset *sets[2] = {in_memory(), in_file()};
  for (size_t s = 0; s < 2; s++) {
    size_t count = 0, windows = 0;
    ck_assert_int_eq(tpt_dataset_count(sets[s], &count), TPT_OK);
    ck_assert_uint_eq(count, COUNT);
    ck_assert_int_eq(tpt_dataset_window_count(sets[s], 5, &windows), TPT_OK);
    ck_assert_uint_eq(windows, 4);
    for (size_t w = 0; w < windows; w++) {
      int32_t tokens[6] = {[5] = -9}, targets[6] = {[5] = -9};
      ck_assert_int_eq(tpt_dataset_window(sets[s], w, 5, tokens, targets), TPT_OK);
      for (size_t t = 0; t < 5; t++) {
        ck_assert_int_eq(tokens[t], 10 * (int32_t)(5 * w + t));
        ck_assert_int_eq(targets[t], tokens[t] + 10);
      }
      ck_assert(tokens[5] == -9 && targets[5] == -9);
    }
    int32_t got[5];
    ck_assert_int_eq(tpt_dataset_window(sets[s], 4, 5, got, got), TPT_E_ARGUMENT);
    ck_assert_message("index is 4; the dataset has 4 windows of 5 tokens: ");
    ck_assert_message(s ? path : "the dataset in memory");
    ck_assert_int_eq(tpt_dataset_window(sets[s], 0, COUNT, &(int32_t){0}, &(int32_t){0}),
                     TPT_E_ARGUMENT);
    ck_assert_message("has 23 tokens; a window of seq 23 needs 24 (seq + 1): ");
    ck_assert_message(s ? path : "the dataset in memory");
    tpt_dataset_destroy(sets[s]);
  }
}
END_TEST

START_TEST(window_counts) {
  static const size_t rows[][2] = {{1, 22}, {2, 11}, {11, 2},      {21, 1},
                                   {22, 1}, {23, 0}, {SIZE_MAX, 0}};
  tpt_dataset *dataset = in_memory(), *empty;
  size_t count = 99;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ck_assert_int_eq(tpt_dataset_window_count(dataset, rows[i][0], &count), TPT_OK);
    ck_assert_uint_eq(count, rows[i][1]);
  }
  ck_assert_int_eq(tpt_dataset_window_count(dataset, 0, &count), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_from_tokens(NULL, NULL, 0, &empty), TPT_OK);
  ck_assert_int_eq(tpt_dataset_window_count(empty, 1, &count), TPT_OK);
  ck_assert_uint_eq(count, 0);
  tpt_dataset_destroy(empty);
  tpt_dataset_destroy(dataset);
}
END_TEST

START_TEST(random_windows_reach_both_ends) {
  tpt_dataset *sets[2] = {in_memory(), in_file()};
  int32_t tokens[2][30], targets[2][30];
  size_t seen[COUNT - 3] = {0};
  uint64_t states[2] = {7, 7};
  for (int round = 0; round < 100; round++) {
    for (size_t s = 0; s < 2; s++) {
      ck_assert_int_eq(tpt_dataset_random(sets[s], &states[s], 10, 3, tokens[s], targets[s]),
                       TPT_OK);
    }
    ck_assert_mem_eq(tokens[0], tokens[1], sizeof tokens[0]);
    ck_assert_mem_eq(targets[0], targets[1], sizeof targets[0]);
    ck_assert_uint_eq(states[0], states[1]);
    for (size_t i = 0; i < 30; i++) {
      ck_assert_int_eq(targets[0][i], tokens[0][i] + 10);
      ck_assert_int_eq(tokens[0][i], tokens[0][i / 3 * 3] + 10 * (int32_t)(i % 3));
      if (i % 3 == 0) seen[tokens[0][i] / 10]++;
    }
  }
  for (size_t i = 0; i < COUNT - 3; i++) ck_assert_uint_gt(seen[i], 0);
  tpt_dataset_destroy(sets[0]);
  tpt_dataset_destroy(sets[1]);
}
END_TEST

START_TEST(state_moves_on_and_only_with_success) {
  tpt_dataset *dataset = in_memory();
  uint64_t state = 1, again = 1;
  int32_t first[8], second[8], targets[8];
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 4, 2, first, targets), TPT_OK);
  ck_assert_uint_ne(state, 1);
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 4, 2, second, targets), TPT_OK);
  ck_assert_mem_ne(first, second, sizeof first);
  ck_assert_int_eq(tpt_dataset_random(dataset, &again, 4, 2, second, targets), TPT_OK);
  ck_assert_mem_eq(first, second, sizeof first);
  again = state;
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 1, COUNT, first, targets), TPT_E_ARGUMENT);
  ck_assert_uint_eq(state, again);
  tpt_dataset_destroy(dataset);
}
END_TEST

START_TEST(whole_dataset_as_one_window) {
  tpt_dataset *dataset = in_memory();
  uint64_t state = 3;
  int32_t tokens[COUNT], targets[COUNT];
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 1, COUNT - 1, tokens, targets), TPT_OK);
  ck_assert_int_eq(tokens[0], 0);
  ck_assert_int_eq(targets[COUNT - 2], 10 * (COUNT - 1));
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 1, COUNT, tokens, targets), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "the dataset has 23 tokens; a window of seq 23 needs 24 "
                                        "(seq + 1): the dataset in memory");
  ck_assert_int_eq(tpt_dataset_window(dataset, SIZE_MAX, SIZE_MAX, tokens, targets),
                   TPT_E_ARGUMENT);
  char want[200];
  snprintf(want, sizeof want,
           "the dataset has 23 tokens; a window of seq %zu needs one more: the dataset in memory",
           SIZE_MAX);
  ck_assert_str_eq(tpt_error_message(), want);
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 0, 1, tokens, targets), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 1, 0, tokens, targets), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, SIZE_MAX / 2, 3, tokens, targets),
                   TPT_E_ARGUMENT);
  tpt_dataset_destroy(dataset);
}
END_TEST

START_TEST(arguments_are_named) {
  tpt_dataset *dataset = in_memory(), *none = dataset;
  uint64_t state = 1;
  int32_t ids[3] = {0, 5, -6};
  size_t count;
  ck_assert_int_eq(tpt_dataset_from_tokens(NULL, ids, 3, &none), TPT_E_ARGUMENT);
  ck_assert_message("tokens[2] is -6");
  ck_assert_ptr_null(none);
  ck_assert_int_eq(tpt_dataset_from_tokens(NULL, NULL, 3, &none), TPT_E_ARGUMENT);
  ck_assert_message("tokens is NULL");
  ck_assert_int_eq(tpt_dataset_from_tokens(NULL, ids, 2, NULL), TPT_E_ARGUMENT);
  ck_assert_message("dataset is NULL");
  ck_assert_int_eq(tpt_dataset_open(NULL, NULL, &none), TPT_E_ARGUMENT);
  ck_assert_message("path is NULL");
  ck_assert_int_eq(tpt_dataset_open((tpt_context *)dataset, path, &none), TPT_E_ARGUMENT);
  ck_assert_message("context");
  ck_assert_int_eq(tpt_dataset_count(NULL, &count), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_count(dataset, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_window_count(dataset, 1, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_dataset_random(dataset, NULL, 1, 1, ids, ids), TPT_E_ARGUMENT);
  ck_assert_message("random_state is NULL");
  ck_assert_int_eq(tpt_dataset_random(dataset, &state, 1, 1, NULL, ids), TPT_E_ARGUMENT);
  ck_assert_message("tokens is NULL");
  ck_assert_int_eq(tpt_dataset_window(dataset, 0, 1, ids, NULL), TPT_E_ARGUMENT);
  char text[64];
  size_t length;
  ck_assert_int_eq(tpt_error_of(dataset, text, sizeof text, &length), TPT_OK);
  ck_assert_str_eq(text, "targets is NULL");
  tpt_dataset_destroy(dataset);
  tpt_dataset_destroy(NULL);
}
END_TEST

START_TEST(files_that_are_refused) {
  tpt_dataset *dataset;
  tpt_context *context;
  char text[256];
  size_t length;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  ck_assert_int_eq(tpt_dataset_open(context, "/no/such/file.u16", &dataset), TPT_E_IO);
  ck_assert_message("/no/such/file.u16");
  ck_assert_ptr_null(dataset);
  ck_assert_int_eq(tpt_error_of(context, text, sizeof text, &length), TPT_OK);
  ck_assert_int_eq(tpt_dataset_open(context, "file.txt", &dataset), TPT_E_FORMAT);
  ck_assert_int_eq(truncate(path, 3), 0);
  ck_assert_int_eq(tpt_dataset_open(context, path, &dataset), TPT_E_FORMAT);
  ck_assert_message("3 bytes");
  tpt_context_destroy(context);
}
END_TEST

START_TEST(file_cut_while_in_use) {
  tpt_dataset *dataset = in_file();
  int32_t tokens[5], targets[5];
  ck_assert_int_eq(truncate(path, 20), 0);
  ck_assert_int_eq(tpt_dataset_window(dataset, 0, 5, tokens, targets), TPT_OK);
  ck_assert_int_eq(tpt_dataset_window(dataset, 3, 5, tokens, targets), TPT_E_FORMAT);
  ck_assert_message(path);
  tpt_dataset_destroy(dataset);
}
END_TEST

START_TEST(memory_goes_back_where_it_came_from) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpt_context *context;
  tpt_dataset *dataset;
  static const int32_t ids[3] = {1, 2, 3};
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_OK);
  size_t before = tpti_test_allocator_live(&a); /* what the context itself took */
  tpti_test_allocator_fail_at(&a, 1);
  ck_assert_int_eq(tpt_dataset_from_tokens(context, ids, 3, &dataset), TPT_E_MEMORY);
  ck_assert_int_eq(tpt_dataset_open(context, path, &dataset), TPT_E_MEMORY);
  ck_assert_ptr_null(dataset);
  tpti_test_allocator_fail_at(&a, 0);
  ck_assert_int_eq(tpt_dataset_open(context, "no.u16", &dataset), TPT_E_IO);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), before);
  ck_assert_int_eq(tpt_dataset_from_tokens(context, ids, 3, &dataset), TPT_OK);
  ck_assert_uint_gt(tpti_test_allocator_live(&a), before);
  tpt_context_destroy(context); /* the dataset keeps it */
  size_t count = 0;
  ck_assert_int_eq(tpt_dataset_count(dataset, &count), TPT_OK);
  tpt_dataset_destroy(dataset);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(copying_can_be_cancelled) {
  tpt_context *context;
  tpt_dataset *dataset;
  static const int32_t ids[3] = {1, 2, 3};
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  ck_assert_int_eq(tpt_context_cancel(context, 1), TPT_OK);
  ck_assert_int_eq(tpt_dataset_from_tokens(context, ids, 3, &dataset), TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_context_cancel(context, 0), TPT_OK);
  ck_assert_int_eq(tpt_dataset_from_tokens(context, ids, 3, &dataset), TPT_OK);
  tpt_dataset_destroy(dataset);
  tpt_context_destroy(context);
}
END_TEST

/* Right answers and failures at once, on one handle. */
static void *read_windows(void *argument) {
  const tpt_dataset *dataset = argument;
  size_t wrong = 0;
  for (size_t i = 0; i < 500; i++) {
    int32_t tokens[4], targets[4];
    size_t w = i % 6;
    tpt_status status = tpt_dataset_window(dataset, w, 4, tokens, targets);
    if (w == 5) {
      wrong += status != TPT_E_ARGUMENT;
    } else {
      wrong += status != TPT_OK || tokens[3] != 10 * (int32_t)(4 * w + 3) ||
               targets[3] != tokens[3] + 10;
    }
  }
  return wrong ? argument : NULL;
}

START_TEST(threads_share_a_dataset) {
  tpt_dataset *sets[2] = {in_memory(), in_file()};
  for (size_t s = 0; s < 2; s++) {
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
      ck_assert_int_eq(pthread_create(&threads[i], NULL, read_windows, sets[s]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
      void *failed;
      pthread_join(threads[i], &failed);
      ck_assert_ptr_null(failed);
    }
    tpt_dataset_destroy(sets[s]);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {windows_follow_each_other,
                                window_counts,
                                random_windows_reach_both_ends,
                                state_moves_on_and_only_with_success,
                                whole_dataset_as_one_window,
                                arguments_are_named,
                                files_that_are_refused,
                                file_cut_while_in_use,
                                memory_goes_back_where_it_came_from,
                                copying_can_be_cancelled,
                                threads_share_a_dataset};
  Suite *suite = suite_create("dataset");
  TCase *group = tcase_create("dataset");
  tcase_add_checked_fixture(group, make_file, remove_file);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(group, tests[i]);
  suite_add_tcase(suite, group);
  return tpti_test_main(suite);
}
