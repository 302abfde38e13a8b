/* Merging the pairs of one word. */
#include "text/bpe.h"

#include "make.h"

START_TEST(lowest_rank_first_then_leftmost) {
  tpti_tokenizer *t = make_parts((parts){0});
  ck_assert_encodes(t, "abcd", "8");
  ck_assert_encodes(t, "bcd", "1 7"); /* c d has the lower rank than b c */
  ck_assert_encodes(t, "bca", "9 0");
  ck_assert_encodes(t, "abab", "6 6");
  ck_assert_encodes(t, "", "");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(equal_symbols_merge_from_the_left) {
  tpti_tokenizer *t = make_parts(
      (parts){.model = "{'type':'BPE','vocab':{'a':0,'aa':1,'aaaa':2},'merges':['a a','aa aa']}"});
  ck_assert_encodes(t, "aaa", "1 0");
  ck_assert_encodes(t, "aaaaaaa", "2 1 0");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(later_merge_of_a_pair_holds) {
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'BPE','vocab':{'a':0,'b':1,'c':2,'ab':3,'bc':4},"
                                  "'merges':['a b','b c','a b']}"});
  ck_assert_encodes(t, "abc", "0 4");
  tpti_tokenizer_free(t);
}
END_TEST

#define UNKNOWN(more)                                                                              \
  "{'type':'BPE','vocab':{'?':0,'a':1,'<0xC3>':2,'<0xA9>':3},'merges':[],'unk_token':'?'," more "}"

START_TEST(unknown_characters) {
  tpti_tokenizer *one = make_parts((parts){.model = UNKNOWN("'fuse_unk':false")});
  tpti_tokenizer *fused = make_parts((parts){.model = UNKNOWN("'fuse_unk':true")});
  ck_assert_encodes(one, "xya\xc3\xa9z", "0 0 1 0 0");
  ck_assert_encodes(fused, "xya\xc3\xa9z", "0 1 0");
  tpti_tokenizer_free(one);
  tpti_tokenizer_free(fused);
}
END_TEST

START_TEST(byte_fallback) {
  tpti_tokenizer *t = make_parts((parts){.model = UNKNOWN("'byte_fallback':true")});
  ck_assert_encodes(t, "\xc3\xa9", "2 3");
  ck_assert_encodes(t, "\xc3\xa8", "0");      /* <0xA8> is not there: none of its bytes */
  ck_assert_encodes(t, "x\xc3\xa9", "2 3 0"); /* the unknown waits, as in the package */
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(without_unknown_token) {
  tpti_run run = {0};
  tpti_ids out = {0};
  tpti_tokenizer *none = make_parts((parts){0});
  tpti_tokenizer *missing = make_parts(
      (parts){.model = "{'type':'BPE','vocab':{'a':0},'merges':[],'unk_token':'<unk>'}"});
  ck_assert_encodes(none, "axb", "6"); /* as if it were not there */
  ck_assert_encodes(missing, "aa", "0 0");
  ck_assert_int_eq(tpti_tokenizer_encode(missing, &run, "ax", 2, false, &out), TPT_E_ARGUMENT);
  ck_assert_message("\"x\"");
  ck_assert_message("<unk>");
  tpti_tokenizer_free(none);
  tpti_tokenizer_free(missing);
}
END_TEST

START_TEST(prefix_and_suffix) {
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'BPE','vocab':{'a':0,'##b':1,'##b.':2,'a.':3,'ab.':4},"
                                  "'merges':[['a','##b.']],'continuing_subword_prefix':'##',"
                                  "'end_of_word_suffix':'.'}"});
  ck_assert_encodes(t, "ab", "4");
  ck_assert_encodes(t, "abb", "0 1 2");
  ck_assert_encodes(t, "a", "3");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(ignore_merges_takes_whole_words) {
  tpti_tokenizer *t = make_parts((parts){
      .model = "{'type':'BPE','vocab':{'a':0,'b':1,'aba':2},'merges':[],'ignore_merges':true}"});
  ck_assert_encodes(t, "aba", "2");
  ck_assert_encodes(t, "abab", "0 1 0 1");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(a_long_word_takes_no_square_time) {
  enum { LENGTH = 200000 };
  static char text[LENGTH];
  tpti_run run = {0};
  tpti_ids out = {0};
  tpti_tokenizer *t = make_parts(
      (parts){.model = "{'type':'BPE','vocab':{'a':0,'aa':1,'aaaa':2},'merges':['a a','aa aa']}"});
  memset(text, 'a', sizeof text);
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, text, LENGTH, false, &out), TPT_OK);
  ck_assert_uint_eq(out.count, LENGTH / 4);
  tpti_tokenizer_free(t);
}
END_TEST

static tpt_status encode_long(watcher *w) {
  enum { LENGTH = 1 << 20 };
  static char text[LENGTH];
  tpti_run run = watched(w);
  tpti_ids out = {0};
  tpti_tokenizer *t = make_parts(
      (parts){.model = "{'type':'BPE','vocab':{'a':0,'aa':1,'aaaa':2},'merges':['a a','aa aa']}"});
  memset(text, 'a', sizeof text);
  tpt_status status = tpti_tokenizer_encode(t, &run, text, LENGTH, false, &out);
  tpti_tokenizer_free(t);
  if (!status) w->last = run.done; /* with a fast machine the last call is a while ago */
  return status;
}

START_TEST(a_long_word_tells_how_far_it_is) {
  watcher w = {0};
  ck_assert_int_eq(encode_long(&w), TPT_OK);
  ck_assert_int_gt(w.calls, 1);
  ck_assert(!w.back);
  ck_assert_double_gt(w.last, 0.5);
  ck_assert_double_le(w.last, 1);
}
END_TEST

START_TEST(a_long_word_can_be_ended_in_its_middle) {
  watcher w = {.ends = 3};
  ck_assert_int_eq(encode_long(&w), TPT_E_CANCELLED);
  ck_assert_int_eq(w.calls, 3);
  ck_assert_double_lt(w.last, 1);
}
END_TEST

TEST_MAIN("bpe", lowest_rank_first_then_leftmost, equal_symbols_merge_from_the_left,
          later_merge_of_a_pair_holds, unknown_characters, byte_fallback, without_unknown_token,
          prefix_and_suffix, ignore_merges_takes_whole_words, a_long_word_takes_no_square_time,
          a_long_word_tells_how_far_it_is, a_long_word_can_be_ended_in_its_middle)
