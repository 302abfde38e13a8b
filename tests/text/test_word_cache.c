/* The words of one call. */
#include "text/word_cache.h"

#include "make.h"

static tpti_word_cache cache;
static tpti_bpe_work work;

static const char *cached(const tpti_tokenizer *t, const char *word) {
  static int32_t ids[64];
  tpti_ids out = {.ids = ids, .capacity = 64};
  ck_assert_int_eq(
      tpti_word_cache_encode(&cache, &t->bpe, &t->vocab, &work, word, strlen(word), &out), TPT_OK);
  return ids_text(ids, out.count);
}

static void start(size_t text_length) {
  tpti_bpe_work_init(&work, &tpti_memory_default);
  ck_assert(tpti_word_cache_start(&cache, &tpti_memory_default, text_length));
}

static void end(tpti_tokenizer *t) {
  tpti_word_cache_end(&cache);
  tpti_bpe_work_free(&work);
  tpti_tokenizer_free(t);
}

START_TEST(the_same_the_second_time) {
  static const char *const words[] = {
      "abcd", "bcd", "", "abababababababab", "a", "bca", "abcdabcdabcdabcdabcdabcdabcdabcdabcd"};
  tpti_tokenizer *t = make_parts((parts){0});
  start(1 << 20);
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
      char want[4096];
      if (!words[i][0]) continue;
      snprintf(want, sizeof want, "%s", encoded(t, words[i]));
      ck_assert_str_eq(cached(t, words[i]), want);
    }
  end(t);
}
END_TEST

START_TEST(a_short_text_has_none) {
  tpti_tokenizer *t = make_parts((parts){0});
  start(100);
  ck_assert_uint_eq(cache.entries.used, 0);
  ck_assert_str_eq(cached(t, "abcd"), "8");
  end(t);
}
END_TEST

START_TEST(more_words_than_places) {
  tpti_tokenizer *t = make_parts((parts){.model = "{'type':'BPE','vocab':{'0':0,'1':1,'2':2,'3':3,"
                                                  "'4':4,'5':5,'6':6,'7':7,'8':8,'9':9},'merges':"
                                                  "[]}"});
  start(1 << 20);
  for (int round = 0; round < 2; round++)
    for (unsigned i = 10000; i < 30000; i++) {
      char word[16], want[32];
      snprintf(word, sizeof word, "%u", i);
      snprintf(want, sizeof want, "%u %u %u %u %u", i / 10000, i / 1000 % 10, i / 100 % 10,
               i / 10 % 10, i % 10);
      ck_assert_str_eq(cached(t, word), want);
    }
  end(t);
}
END_TEST

START_TEST(more_ids_than_bytes) {
  tpti_tokenizer *t = make_parts((parts){
      .model = "{'type':'BPE','vocab':{'<0x2B>':0,'<0x62>':1,'a':2},'merges':[],'byte_fallback':"
               "true,'continuing_subword_prefix':'+++'}"});
  start(1 << 20);
  ck_assert_str_eq(cached(t, "ab"), "2 0 0 0 1");
  ck_assert_str_eq(
      cached(t, "bbbbbbbbbbbbbbb"),
      "1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 "
      "1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1");
  end(t);
}
END_TEST

START_TEST(no_memory) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 1);
  ck_assert(!tpti_word_cache_start(&cache, &a.memory, 1 << 20));
  tpti_word_cache_end(&cache);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

TEST_MAIN("word cache", the_same_the_second_time, a_short_text_has_none, more_words_than_places,
          more_ids_than_bytes, no_memory)
