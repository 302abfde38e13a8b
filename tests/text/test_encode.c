/* Text to ids as a whole. */
#include "make.h"

START_TEST(llama_2_s_kind) {
  tpti_tokenizer *t = make_parts((parts){
      .normalizer = "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'\xe2\x96\x81'},"
                    "{'type':'Replace','pattern':{'String':' '},'content':'\xe2\x96\x81'}]}"});
  ck_assert_encodes(t, "a", "10");
  ck_assert_encodes(t, "ab  a", "5 6 5 10");
  ck_assert_encodes(t, "", "");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(word_level) {
  tpti_tokenizer *t = make_parts((parts){
      .pre = "{'type':'Whitespace'}",
      .model = "{'type':'WordLevel','vocab':{'[UNK]':7,'a':1,'b!':2},'unk_token':'[UNK]'}"});
  ck_assert_encodes(t, "a b! a", "1 7 7 1");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(word_level_without_its_unknown) {
  tpti_run run = {0};
  tpti_ids out = {0};
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'WordLevel','vocab':{'a':1},'unk_token':'[UNK]'}"});
  ck_assert_encodes(t, "a", "1");
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, "b", 1, false, &out), TPT_E_ARGUMENT);
  ck_assert_message("[UNK]");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(a_short_buffer_gets_the_beginning) {
  tpti_run run = {0};
  int32_t ids[3] = {-7, -7, -7};
  tpti_ids out = {.ids = ids, .capacity = 2};
  tpti_tokenizer *t = make_parts((parts){0});
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, "acad", 4, false, &out), TPT_OK);
  ck_assert_uint_eq(out.count, 4);
  ck_assert_str_eq(ids_text(ids, 3), "0 2 -7");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(bad_utf8_is_named) {
  static const char *const bad[] = {"ab\xff", "ab\xc3", "ab\xed\xa0\x80", "ab\xc0\x80"};
  tpti_run run = {0};
  tpti_ids out = {0};
  tpti_tokenizer *t = make_parts((parts){0});
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_int_eq(tpti_tokenizer_encode(t, &run, bad[i], strlen(bad[i]), false, &out),
                     TPT_E_ARGUMENT);
    ck_assert_message("at byte 2");
  }
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(nul_is_a_character) {
  tpti_run run = {0};
  int32_t ids[8];
  tpti_ids out = {.ids = ids, .capacity = 8};
  tpti_tokenizer *t;
  ck_assert_int_eq(tpti_tokenizer_bpe(&tpti_memory_default, &run, "", 0, 256, &t), TPT_OK);
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, "a\0b", 3, false, &out), TPT_OK);
  ck_assert_uint_eq(out.count, 3);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(bytes_take_anything) {
  tpti_run run = {0};
  int32_t ids[256];
  char bytes[256];
  tpti_ids out = {.ids = ids, .capacity = 256};
  tpti_tokenizer *t;
  for (int i = 0; i < 256; i++) bytes[i] = (char)(255 - i);
  ck_assert_int_eq(tpti_tokenizer_bytes(&tpti_memory_default, &run, &t), TPT_OK);
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, bytes, 256, false, &out), TPT_OK);
  for (int i = 0; i < 256; i++) ck_assert_int_eq(ids[i], 255 - i);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(a_stopped_run_ends_it) {
  atomic_int stop = 1;
  tpti_run run = {.cancel = &stop};
  tpti_ids out = {0};
  tpti_tokenizer *t = make_parts((parts){0});
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, "a", 1, false, &out), TPT_E_CANCELLED);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  tpti_test_allocator a;
  tpti_run run = {0};
  tpti_tokenizer *t;
  const char *json = make_json((parts){
      .normalizer = "{'type':'Prepend','prepend':' '}",
      .pre = "{'type':'Sequence','pretokenizers':[{'type':'Digits','individual_digits':true},"
             "{'type':'ByteLevel','add_prefix_space':true}]}"});
  tpti_test_allocator_init(&a);
  ck_assert_int_eq(tpti_tokenizer_parse(&a.memory, &run, json, strlen(json), &t), TPT_OK);
  size_t held = tpti_test_allocator_live(&a);
  for (size_t n = 1;; n++) {
    tpti_ids out = {0};
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpti_tokenizer_encode(t, &run, "ab 1 cd", 7, false, &out);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), held);
    if (status == TPT_OK) break;
    ck_assert_int_eq(status, TPT_E_MEMORY);
  }
  tpti_tokenizer_free(t);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

TEST_MAIN("encode", llama_2_s_kind, word_level, word_level_without_its_unknown,
          a_short_buffer_gets_the_beginning, bad_utf8_is_named, nul_is_a_character,
          bytes_take_anything, a_stopped_run_ends_it, memory_may_run_out_anywhere)
