/* Vocabularies made from text. */
#include "text/train.h"

#include "make.h"
#include "text/pairs.h"
#include "text/sort.h"

static tpti_tokenizer *bpe_of(const char *text, size_t vocab) {
  tpti_run run = {0};
  tpti_tokenizer *t;
  ck_assert_int_eq(tpti_tokenizer_bpe(&tpti_memory_default, &run, text, strlen(text), vocab, &t),
                   TPT_OK);
  return t;
}

static const char *token(const tpti_tokenizer *t, uint32_t id) {
  static char text[64];
  size_t length = 0;
  const char *there = tpti_tokenizer_text(t, id, &length);
  ck_assert_ptr_nonnull(there);
  snprintf(text, sizeof text, "%.*s", (int)length, there);
  return text;
}

START_TEST(commonest_pair_first) {
  tpti_tokenizer *t = bpe_of("xy xy xyz xyz xyz", 259);
  ck_assert_uint_eq(tpti_tokenizer_size(t), 259);
  ck_assert_str_eq(token(t, 256), "xy");
  ck_assert_str_eq(token(t, 257), "\xc4\xa0xy");
  ck_assert_str_eq(token(t, 258), "\xc4\xa0xyz");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(equal_counts_go_by_ids) {
  tpti_tokenizer *t = bpe_of("zz ab", 257); /* "ab" of 2 letters, "zz", " a": once each */
  ck_assert_str_eq(token(t, 256), "ab");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(runs_of_one_letter) {
  tpti_tokenizer *t = bpe_of("aaaaaaa", 300);
  ck_assert_str_eq(token(t, 256), "aa");
  ck_assert_encodes(t, "aaaaaaa", "259");
  ck_assert_uint_eq(tpti_tokenizer_size(t), 260); /* exhausted: aa, aaaa, aaa, all of it */
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(an_empty_text_leaves_the_bytes) {
  tpti_tokenizer *t = bpe_of("", 1000);
  ck_assert_uint_eq(tpti_tokenizer_size(t), 256);
  ck_assert_str_eq(token(t, 0), "!");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(vocabulary_sizes_are_checked) {
  tpti_run run = {0};
  tpti_tokenizer *t = NULL;
  ck_assert_int_eq(tpti_tokenizer_bpe(&tpti_memory_default, &run, "a", 1, 255, &t), TPT_E_ARGUMENT);
  ck_assert_message("vocab is 255; allowed: 256");
  ck_assert_int_eq(tpti_tokenizer_words(&tpti_memory_default, &run, "a", 1, 0, &t), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpti_tokenizer_bpe(&tpti_memory_default, &run, "a\xff", 2, 300, &t),
                   TPT_E_ARGUMENT);
  ck_assert_message("at byte 1");
}
END_TEST

START_TEST(words_by_frequency_then_first_appearance) {
  tpti_run run = {0};
  tpti_tokenizer *t;
  const char *text = "b a, c a, b d";
  ck_assert_int_eq(tpti_tokenizer_words(&tpti_memory_default, &run, text, strlen(text), 5, &t),
                   TPT_OK);
  ck_assert_uint_eq(tpti_tokenizer_size(t), 5);
  ck_assert_str_eq(token(t, 0), "<unk>");
  ck_assert_str_eq(token(t, 1), "b");
  ck_assert_str_eq(token(t, 2), "a");
  ck_assert_str_eq(token(t, 3), ",");
  ck_assert_str_eq(token(t, 4), "c");
  ck_assert_encodes(t, "d a B", "0 2 0");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(counting) {
  tpti_counts counts;
  size_t index = 9;
  tpti_counts_init(&counts, &tpti_memory_default);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 1000; i++) {
      char text[16];
      int length = snprintf(text, sizeof text, "w%d", i);
      ck_assert(tpti_counts_add(&counts, text, (size_t)length, &index));
      ck_assert_uint_eq(index, (size_t)i);
    }
  ck_assert_uint_eq(counts.count, 1000);
  ck_assert_uint_eq(tpti_counts_at(&counts, 999)->seen, 3);
  tpti_counts_free(&counts);
}
END_TEST

/* While a table of many words grows it is asked whether to go on, after some hundred words. */
START_TEST(growing_can_be_ended) {
  tpti_counts counts;
  atomic_int cancel = 0;
  tpti_run run = {.cancel = &cancel};
  size_t index, before = 0, entered = 0;
  tpti_counts_init(&counts, &tpti_memory_default);
  counts.run = &run;
  for (int i = 0; before < 20000 || counts.mask == before; i++) {
    char text[16];
    int length = snprintf(text, sizeof text, "w%d", i);
    before = counts.mask;
    atomic_store(&cancel, before >= 20000);
    if (!tpti_counts_add(&counts, text, (size_t)length, &index)) ck_abort();
  }
  ck_assert(run.stopped);
  for (size_t i = 0; i <= counts.mask; i++)
    entered += ((const size_t *)(const void *)counts.slots.data)[i] != 0;
  ck_assert(entered > 0 && entered <= 1000);
  tpti_counts_free(&counts);
}
END_TEST

/* Long buffers move in pieces; what they hold, and no more than that, is kept. */
START_TEST(appending_keeps_all) {
  tpti_buffer buffer;
  tpti_run run = {0};
  atomic_int cancel = 0;
  tpti_buffer_init(&buffer, &tpti_memory_default);
  bool fine = true;
  for (uint32_t i = 0; i < 3000000; i++) fine = tpti_append(&run, &buffer, &i, sizeof i) && fine;
  ck_assert_uint_eq(buffer.used, 3000000 * sizeof(uint32_t));
  for (uint32_t i = 0; i < 3000000; i++)
    if (((const uint32_t *)(const void *)buffer.data)[i] != i) ck_abort_msg("value %u", i);
  run.cancel = &cancel;
  atomic_store(&cancel, 1);
  size_t capacity = buffer.capacity;
  for (uint32_t i = 0; buffer.capacity == capacity && fine; i++)
    fine = tpti_append(&run, &buffer, &i, sizeof i);
  ck_assert(fine && run.stopped && !buffer.failed);
  ck_assert_uint_eq(buffer.used, capacity + sizeof(uint32_t));
  tpti_buffer_free(&buffer);
}
END_TEST

START_TEST(pairs_come_by_count) {
  tpti_pairs pairs;
  tpti_pair pair = {0};
  tpti_buffer places;
  tpti_pairs_init(&pairs, &tpti_memory_default);
  tpti_buffer_init(&places, &tpti_memory_default);
  ck_assert(tpti_pairs_add(&pairs, 2, 1, 5, 10) && tpti_pairs_add(&pairs, 1, 2, 5, 20));
  ck_assert(tpti_pairs_add(&pairs, 3, 3, 9, 30) && tpti_pairs_settle(&pairs));
  ck_assert(tpti_pairs_add(&pairs, 3, 3, -8, TPTI_NO_NODE)); /* the heap learns it late */
  ck_assert(tpti_pairs_pop(&pairs, &pair, &places) && pair.left == 1 && pair.count == 5);
  ck_assert_uint_eq(*(uint32_t *)(void *)places.data, 20);
  ck_assert(tpti_pairs_pop(&pairs, &pair, &places) && pair.left == 2);
  ck_assert(tpti_pairs_pop(&pairs, &pair, &places) && pair.left == 3 && pair.count == 1);
  ck_assert(!tpti_pairs_pop(&pairs, &pair, &places));
  tpti_pairs_free(&pairs);
  tpti_buffer_free(&places);
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  static const char text[] = "to be or not to be, that is the question: whether 't is nobler";
  tpti_test_allocator a;
  tpti_run run = {0};
  tpti_tokenizer *t = NULL;
  tpti_test_allocator_init(&a);
  for (size_t n = 1, words = 0; words < 2; n++) {
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = words ? tpti_tokenizer_words(&a.memory, &run, text, sizeof text - 1, 10, &t)
                              : tpti_tokenizer_bpe(&a.memory, &run, text, sizeof text - 1, 280, &t);
    if (status == TPT_OK) {
      tpti_tokenizer_free(t);
      words++;
      n = 0;
    }
    ck_assert(status == TPT_OK || status == TPT_E_MEMORY);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
}
END_TEST

/* Distinct words, each once or twice. */
static const char *many_words(size_t *length) {
  enum { COUNT = 20000 };
  static char text[COUNT * 8];
  size_t used = 0;
  for (unsigned i = 0; i < COUNT; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "w%u ", i * 7919u % 15000u);
  *length = used;
  return text;
}

START_TEST(training_tells_how_far_it_is) {
  size_t length;
  const char *text = many_words(&length);
  for (int words = 0; words < 2; words++) {
    watcher w = {0};
    tpti_run run = watched(&w);
    tpti_tokenizer *t = NULL;
    tpt_status status = words
                            ? tpti_tokenizer_words(&tpti_memory_default, &run, text, length, 9, &t)
                            : tpti_tokenizer_bpe(&tpti_memory_default, &run, text, length, 300, &t);
    ck_assert_int_eq(status, TPT_OK);
    ck_assert_int_gt(w.calls, 0);
    ck_assert(!w.back);
    ck_assert_double_gt(run.done, 0.5);
    ck_assert_double_le(run.done, 1);
    tpti_tokenizer_free(t);
  }
}
END_TEST

static int by_value(const void *a, const void *b) {
  uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
  return (one > two) - (one < two);
}

START_TEST(sorting) {
  enum { MOST = 10000 };
  static const size_t counts[] = {0, 1, 2047, 2048, 2049, 4096, 6143, MOST};
  static uint32_t values[MOST];
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    uint64_t sum = 0, after = 0;
    for (size_t i = 0; i < counts[c]; i++) sum += values[i] = (uint32_t)i * 2654435761u % 5000;
    tpti_items items = {.at = values, .count = counts[c], .size = sizeof *values};
    ck_assert_int_eq(tpti_sort(&tpti_memory_default, NULL, items, by_value), TPT_OK);
    for (size_t i = 0; i < counts[c]; i++) after += values[i];
    for (size_t i = 1; i < counts[c]; i++) ck_assert_uint_le(values[i - 1], values[i]);
    ck_assert_uint_eq(sum, after);
  }
}
END_TEST

TEST_MAIN("train", commonest_pair_first, equal_counts_go_by_ids, runs_of_one_letter,
          an_empty_text_leaves_the_bytes, vocabulary_sizes_are_checked,
          words_by_frequency_then_first_appearance, counting, growing_can_be_ended,
          appending_keeps_all, pairs_come_by_count, memory_may_run_out_anywhere,
          training_tells_how_far_it_is, sorting)
