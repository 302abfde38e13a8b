/* Tokenizers through the public interface. */
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

static const char PROSE[] =
    "The horn is gentle; the horn can't sum to zero. Caf\xc3\xa9 \xf0\x9f\x98\x80!";

static tpt_tokenizer *trained(tpt_context *context) {
  tpt_tokenizer *t = NULL;
  ck_assert_int_eq(tpt_tokenizer_bpe(context, PROSE, strlen(PROSE), 270, &t), TPT_OK);
  return t;
}

static void round_trip(const tpt_tokenizer *t, const char *text, size_t length) {
  int32_t ids[512];
  char back[512];
  size_t count = 0, bytes = 0;
  ck_assert_int_eq(tpt_tokenizer_encode(t, text, length, ids, 512, &count), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_decode(t, ids, count, back, sizeof back, &bytes), TPT_OK);
  ck_assert_uint_eq(bytes, length);
  ck_assert_mem_eq(back, text, length);
}

START_TEST(every_kind_comes_back) {
  tpt_tokenizer *bytes, *bpe = trained(NULL), *words;
  size_t size = 0;
  ck_assert_int_eq(tpt_tokenizer_bytes(NULL, &bytes), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_words(NULL, "the horn is", 11, 4, &words), TPT_OK);
  round_trip(bytes, "a\0\xff\xc3(", 5);
  round_trip(bpe, PROSE, strlen(PROSE));
  round_trip(words, "is the horn", 11);
  ck_assert_int_eq(tpt_tokenizer_vocab_size(bytes, &size), TPT_OK);
  ck_assert_uint_eq(size, 256);
  ck_assert_int_eq(tpt_tokenizer_vocab_size(bpe, &size), TPT_OK);
  ck_assert_uint_eq(size, 270);
  tpt_tokenizer_destroy(bytes);
  tpt_tokenizer_destroy(bpe);
  tpt_tokenizer_destroy(words);
  tpt_tokenizer_destroy(NULL);
}
END_TEST

START_TEST(short_buffers) {
  tpt_tokenizer *t = trained(NULL);
  int32_t ids[64] = {0}, some[3] = {-1, -1, -1};
  char text[8] = "xxxxxxx";
  size_t all = 0, count = 0, length = 0;
  ck_assert_int_eq(tpt_tokenizer_encode(t, PROSE, strlen(PROSE), NULL, 0, &all), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_encode(t, PROSE, strlen(PROSE), ids, 64, &count), TPT_OK);
  ck_assert_uint_eq(count, all);
  ck_assert_int_eq(tpt_tokenizer_encode(t, PROSE, strlen(PROSE), some, 2, &count), TPT_OK);
  ck_assert_uint_eq(count, all);
  ck_assert(some[0] == ids[0] && some[1] == ids[1] && some[2] == -1);
  ck_assert_int_eq(tpt_tokenizer_decode(t, ids, all, NULL, 0, &length), TPT_OK);
  ck_assert_uint_eq(length, strlen(PROSE));
  ck_assert_int_eq(tpt_tokenizer_decode(t, ids, all, text, 5, &length), TPT_OK);
  ck_assert_uint_eq(length, strlen(PROSE));
  ck_assert_str_eq(text, "The ");
  tpt_tokenizer_destroy(t);
}
END_TEST

START_TEST(tokens_and_ids) {
  tpt_tokenizer *t = trained(NULL);
  char text[16];
  size_t length = 0;
  int32_t id = -5;
  for (int32_t i = 0; i < 270; i++) {
    ck_assert_int_eq(tpt_tokenizer_token(t, i, text, sizeof text, &length), TPT_OK);
    ck_assert_int_eq(tpt_tokenizer_id(t, text, &id), TPT_OK);
    ck_assert_int_eq(id, i);
  }
  ck_assert_int_eq(tpt_tokenizer_token(t, 270, text, sizeof text, &length), TPT_E_ARGUMENT);
  ck_assert_message("270");
  ck_assert_int_eq(tpt_tokenizer_token(t, -1, text, sizeof text, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_id(t, "no such token", &id), TPT_E_ARGUMENT);
  ck_assert_message("no such token");
  ck_assert_int_eq(id, 269);
  tpt_tokenizer_destroy(t);
}
END_TEST

START_TEST(save_and_load) {
  char path[] = "/tmp/3pt-test-XXXXXX", *first = malloc(1 << 16), *second = malloc(1 << 16);
  int descriptor = mkstemp(path);
  tpt_tokenizer *t = trained(NULL), *again = NULL;
  size_t length = 0;
  close(descriptor);
  ck_assert_int_eq(tpt_tokenizer_save(t, path), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_load(NULL, path, &again), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_format(t, first, 1 << 16, &length), TPT_OK);
  ck_assert_uint_lt(length, 1 << 16);
  ck_assert_int_eq(tpt_tokenizer_format(again, second, 1 << 16, &length), TPT_OK);
  ck_assert_str_eq(first, second);
  round_trip(again, PROSE, strlen(PROSE));
  unlink(path);
  tpt_tokenizer_destroy(again);
  ck_assert_int_eq(tpt_tokenizer_load(NULL, path, &again), TPT_E_IO);
  ck_assert_ptr_null(again);
  ck_assert_message(path);
  tpt_tokenizer_destroy(t);
  free(first);
  free(second);
}
END_TEST

START_TEST(streaming) {
  tpt_tokenizer *t = trained(NULL);
  int32_t ids[64];
  char whole[128] = "", text[64];
  size_t count = 0, length = 0;
  ck_assert_int_eq(tpt_tokenizer_encode(t, PROSE, strlen(PROSE), ids, 64, &count), TPT_OK);
  for (size_t i = 0; i < count; i++) {
    ck_assert_int_eq(tpt_tokenizer_decode_tail(t, ids, i + 1, i, text, sizeof text, &length),
                     TPT_OK);
    strcat(whole, text);
  }
  ck_assert_str_eq(whole, PROSE);
  ck_assert_int_eq(tpt_tokenizer_decode_tail(t, ids, 1, 2, text, sizeof text, &length),
                   TPT_E_ARGUMENT);
  tpt_tokenizer_destroy(t);
}
END_TEST

START_TEST(arguments_are_named) {
  tpt_tokenizer *t = trained(NULL), *none = t;
  int32_t bad[] = {0, 999}, id;
  char text[8], kept[512];
  size_t length = 77;
  ck_assert_int_eq(tpt_tokenizer_bytes(NULL, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_load(NULL, NULL, &none), TPT_E_ARGUMENT);
  ck_assert_message("path is NULL");
  ck_assert_ptr_null(none);
  ck_assert_int_eq(tpt_tokenizer_parse(NULL, NULL, 3, &none), TPT_E_ARGUMENT);
  ck_assert_message("json is NULL");
  ck_assert_int_eq(tpt_tokenizer_bpe(NULL, NULL, 3, 300, &none), TPT_E_ARGUMENT);
  ck_assert_message("text is NULL");
  ck_assert_int_eq(tpt_tokenizer_bytes((tpt_context *)t, &none), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_encode(NULL, "a", 1, NULL, 0, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_encode(t, NULL, 1, NULL, 0, &length), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "text is NULL");
  ck_assert_int_eq(tpt_tokenizer_encode_text(t, NULL, 1, NULL, 0, &length), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "text is NULL");
  ck_assert_int_eq(tpt_tokenizer_encode(t, "a", 1, NULL, 1, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_encode(t, "a", 1, NULL, 0, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_id(t, NULL, &id), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_decode(t, NULL, 1, text, 8, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_tokenizer_decode(t, bad, 2, text, 8, &length), TPT_E_ARGUMENT);
  ck_assert_message("ids[1] is 999");
  ck_assert_uint_eq(length, 77);
  ck_assert_int_eq(tpt_error_of(t, kept, sizeof kept, &length), TPT_OK);
  ck_assert_ptr_nonnull(strstr(kept, "ids[1] is 999"));
  ck_assert_int_eq(tpt_tokenizer_encode(t, NULL, 0, NULL, 0, &length), TPT_OK);
  ck_assert_uint_eq(length, 0);
  tpt_tokenizer_destroy(t);
}
END_TEST

/* A token cut in a message is cut at a character, and the reason stands before a long path. */
START_TEST(messages_of_long_words_and_paths) {
  tpt_tokenizer *t = trained(NULL), *none;
  char word[402] = "", name[600], path[900] = "/tmp/";
  int32_t id;
  for (size_t i = 0; i < 200; i++) strcat(word, "\xc3\xa9");
  for (size_t shift = 0; shift < 2; shift++) {
    snprintf(name, sizeof name, "%s%s", shift ? "x" : "", word);
    ck_assert_int_eq(tpt_tokenizer_id(t, name, &id), TPT_E_ARGUMENT);
    ck_assert_message("\xc3\xa9\" is not a token");
  }
  tpt_tokenizer_destroy(t);
  for (size_t i = 0; i < 300; i++) strcat(path, "./");
  strcat(path, "3pt-test-XXXXXX");
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, "{\"a\":1}", 7), 7);
  close(file);
  ck_assert_int_eq(tpt_tokenizer_load(NULL, path, &none), TPT_E_FORMAT);
  ck_assert_int_eq(strncmp(tpt_error_message(), "this is not a tokenizer.json", 28), 0);
  remove(path);
}
END_TEST

START_TEST(cancelled) {
  tpt_context *context;
  tpt_tokenizer *t, *none = NULL;
  size_t count = 5;
  int32_t id;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  t = trained(context);
  ck_assert_int_eq(tpt_context_cancel(context, 1), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_encode(t, "a", 1, NULL, 0, &count), TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_tokenizer_format(t, NULL, 0, &count), TPT_E_CANCELLED);
  ck_assert_uint_eq(count, 5);
  ck_assert_int_eq(tpt_tokenizer_bpe(context, "a", 1, 300, &none), TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_tokenizer_parse(context, "{}", 2, &none), TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_tokenizer_id(t, "a", &id), TPT_OK); /* its work grows with nothing */
  ck_assert_int_eq(tpt_context_cancel(context, 0), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_encode(t, "a", 1, NULL, 0, &count), TPT_OK);
  tpt_context_destroy(context);
  tpt_tokenizer_destroy(t);
}
END_TEST

static int32_t end_it(void *user, const void *handle, double done) {
  (void)user;
  (void)handle;
  return done > 0 ? 1 : 0;
}

START_TEST(one_long_word_can_be_ended) {
  enum { LENGTH = 2 << 20 };
  static char text[LENGTH];
  tpt_context *context;
  size_t count = 5;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  tpt_tokenizer *t = trained(context);
  memset(text, 'a', sizeof text);
  ck_assert_int_eq(tpt_context_set_progress(context, end_it, NULL, NULL), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_encode(t, text, LENGTH, NULL, 0, &count), TPT_E_CANCELLED);
  ck_assert_uint_eq(count, 5);
  ck_assert_int_eq(tpt_tokenizer_encode(t, text, 9, NULL, 0, &count), TPT_OK);
  tpt_context_destroy(context);
  tpt_tokenizer_destroy(t);
}
END_TEST

START_TEST(memory_is_the_context_s) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  for (size_t n = 1;; n++) {
    tpt_context *context;
    tpt_tokenizer *t = NULL;
    tpti_test_allocator_fail_at(&a, 0);
    ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
    ck_assert_int_eq(tpt_context_set_allocator(context, &a.allocator), TPT_OK);
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpt_tokenizer_words(context, "a b c", 5, 3, &t);
    ck_assert(status == TPT_OK || status == TPT_E_MEMORY);
    ck_assert_int_eq(t != NULL, status == TPT_OK);
    tpt_tokenizer_destroy(t);
    tpt_context_destroy(context);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
    if (status == TPT_OK) break;
  }
}
END_TEST

static void *encode_often(void *argument) {
  int32_t ids[64], first[64];
  size_t count = 0, wrong = 0;
  wrong += tpt_tokenizer_encode(argument, PROSE, strlen(PROSE), first, 64, &count) != TPT_OK;
  for (int i = 0; i < 100; i++) {
    wrong += tpt_tokenizer_encode(argument, PROSE, strlen(PROSE), ids, 64, &count) != TPT_OK;
    wrong += memcmp(ids, first, count * sizeof *ids) != 0;
  }
  return wrong ? argument : NULL;
}

START_TEST(threads_share_one) {
  tpt_tokenizer *t = trained(NULL);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, encode_often, t), 0);
  for (int i = 0; i < 3; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    ck_assert_ptr_null(wrong);
  }
  tpt_tokenizer_destroy(t);
}
END_TEST

static Suite *suite(void) {
  Suite *all = suite_create("tokenizer");
  TCase *tests = tcase_create("tokenizer");
  tcase_add_test(tests, every_kind_comes_back);
  tcase_add_test(tests, short_buffers);
  tcase_add_test(tests, tokens_and_ids);
  tcase_add_test(tests, save_and_load);
  tcase_add_test(tests, streaming);
  tcase_add_test(tests, arguments_are_named);
  tcase_add_test(tests, messages_of_long_words_and_paths);
  tcase_add_test(tests, cancelled);
  tcase_add_test(tests, one_long_word_can_be_ended);
  tcase_add_test(tests, memory_is_the_context_s);
  tcase_add_test(tests, threads_share_one);
  suite_add_tcase(all, tests);
  return all;
}

int main(void) { return tpti_test_main(suite()); }
