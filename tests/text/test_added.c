/* Added tokens and their flags. */
#include "text/added.h"

#include "make.h"
#include "text/trie.h"

#define TOKEN(id, content, single, left, right, normalized, special)                               \
  "{'id':" id ",'content':'" content "','single_word':" single ",'lstrip':" left                   \
  ",'rstrip':" right ",'normalized':" normalized ",'special':" special "}"
#define PLAIN(id, content) TOKEN(id, content, "false", "false", "false", "false", "false")

START_TEST(leftmost_then_longest) {
  tpti_tokenizer *t =
      make_parts((parts){.added = PLAIN("11", "a") "," PLAIN("12", "abc") "," PLAIN("13", "bcd")});
  ck_assert_encodes(t, "abcd", "11 3");
  ck_assert_encodes(t, "abd", "0 1 3"); /* "a" has its id in the model */
  ck_assert_encodes(t, "bcdab", "12 0 1");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(ids_are_the_model_s_or_the_next) {
  tpti_tokenizer *t =
      make_parts((parts){.added = PLAIN("77", "x") "," PLAIN("99", "b") "," PLAIN("5", "y")});
  uint32_t id = 0;
  ck_assert(tpti_tokenizer_find(t, "x", 1, &id) && id == 11);
  ck_assert(tpti_tokenizer_find(t, "b", 1, &id) && id == 1);
  ck_assert(tpti_tokenizer_find(t, "y", 1, &id) && id == 12);
  ck_assert_uint_eq(tpti_tokenizer_size(t), 13);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(single_words) {
  tpti_tokenizer *t =
      make_parts((parts){.added = TOKEN("11", "ab", "true", "false", "false", "false", "false")});
  ck_assert_encodes(t, "ab ab", "6 4 6");
  ck_assert_encodes(t, "abc", "6 2"); /* by the model's merge */
  tpti_tokenizer_free(t);
  t = make_parts((parts){
      .added = TOKEN("11", "b", "true", "false", "false", "false", "false") "," PLAIN("12", "bb")});
  ck_assert_encodes(t, "bb", "11"); /* the longest, which is no single word's affair */
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(white_space_taken) {
  tpti_tokenizer *left =
      make_parts((parts){.added = TOKEN("11", "x", "false", "true", "false", "false", "false")});
  tpti_tokenizer *right =
      make_parts((parts){.added = TOKEN("11", "x", "false", "false", "true", "false", "false")});
  ck_assert_encodes(left, "a \n x a", "0 11 4 0");
  ck_assert_encodes(right, "a x \xe3\x80\x80 a", "0 4 11 0");
  ck_assert_encodes(right, "x  ", "11");
  tpti_tokenizer_free(left);
  tpti_tokenizer_free(right);
}
END_TEST

START_TEST(normalized_ones_see_the_normalized_text) {
  const char *normalizer = "{'type':'Replace','pattern':{'String':'d'},'content':'c'}";
  tpti_tokenizer *t =
      make_parts((parts){.added = TOKEN("11", "ad", "false", "false", "false", "true", "false"),
                         .normalizer = normalizer});
  ck_assert_encodes(t, "ad ac", "11 4 11");
  ck_assert_decodes(t, "ac", 11); /* as it is seen */
  tpti_tokenizer_free(t);
  t = make_parts((parts){.added = PLAIN("11", "ad"), .normalizer = normalizer});
  ck_assert_encodes(t, "ad ac", "11 4 0 2");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(special_ones_may_be_text) {
  tpti_run run = {0};
  int32_t ids[8];
  tpti_ids out = {.ids = ids, .capacity = 8};
  tpti_tokenizer *t = make_parts((parts){
      .added = TOKEN("11", "ab", "false", "false", "false", "false", "true") "," PLAIN("12", "c")});
  ck_assert_encodes(t, "abc", "6 2");
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, "ac", 2, true, &out), TPT_OK);
  ck_assert_str_eq(ids_text(ids, out.count), "0 2");
  ck_assert_decodes(t, "c", 6, 2);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(bad_ones_are_refused) {
  tpti_tokenizer *t;
  ck_assert_int_eq(try_parts((parts){.added = PLAIN("11", "x") "," PLAIN("12", "x")}, &t),
                   TPT_E_FORMAT);
  ck_assert_message("added_tokens[1].content: \"x\" is given twice");
  ck_assert_int_eq(try_parts((parts){.added = "{'id':1,'content':'x'}"}, &t), TPT_E_FORMAT);
  ck_assert_message("added_tokens[0].single_word");
  ck_assert_int_eq(try_parts((parts){.added = PLAIN("-1", "x")}, &t), TPT_E_FORMAT);
  ck_assert_message("added_tokens[0].id");
  ck_assert_int_eq(
      try_parts((parts){.added = TOKEN("11", " ", "false", "false", "false", "true", "false"),
                        .normalizer = "{'type':'Strip','strip_left':true,'strip_right':true}"},
                &t),
      TPT_E_UNSUPPORTED);
}
END_TEST

START_TEST(trie_finds_the_longest) {
  tpti_trie trie;
  uint32_t value = 9;
  tpti_trie_init(&trie, &tpti_memory_default);
  ck_assert_uint_eq(tpti_trie_longest(&trie, "a", 1, &value), 0);
  ck_assert(tpti_trie_insert(&trie, "ab", 2, 1) && tpti_trie_insert(&trie, "abcd", 4, 2));
  ck_assert(tpti_trie_insert(&trie, "ab", 2, 3)); /* the first stays */
  ck_assert_uint_eq(tpti_trie_longest(&trie, "abc", 3, &value), 2);
  ck_assert_uint_eq(value, 1);
  ck_assert_uint_eq(tpti_trie_longest(&trie, "abcde", 5, &value), 4);
  ck_assert_uint_eq(value, 2);
  ck_assert_uint_eq(tpti_trie_longest(&trie, "b", 1, &value), 0);
  tpti_buffer_free(&trie.nodes);
}
END_TEST

TEST_MAIN("added", leftmost_then_longest, ids_are_the_model_s_or_the_next, single_words,
          white_space_taken, normalized_ones_see_the_normalized_text, special_ones_may_be_text,
          bad_ones_are_refused, trie_finds_the_longest)
