/* tokenizer.json written. */
#include "text/write.h"

#include "make.h"

static const char *formatted(const tpti_tokenizer *t) {
  static char text[65536];
  tpti_run run = {0};
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  ck_assert_int_eq(tpti_tokenizer_format(t, &run, &out), TPT_OK);
  ck_assert_uint_lt(out.used, sizeof text);
  memcpy(text, out.data, out.used);
  text[out.used] = 0;
  tpti_buffer_free(&out);
  return text;
}

static void same_after_parsing(tpti_tokenizer *t) {
  static char first[65536];
  tpti_run run = {0};
  tpti_tokenizer *again;
  strcpy(first, formatted(t));
  ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, first, strlen(first), &again),
                   TPT_OK);
  ck_assert_str_eq(formatted(again), first);
  tpti_tokenizer_free(again);
  tpti_tokenizer_free(t);
}

START_TEST(format_parse_format) {
  tpti_run run = {0};
  tpti_tokenizer *t;
  same_after_parsing(make_parts((parts){0}));
  same_after_parsing(make_parts((parts){
      .added = "{'id':1,'content':'\\\"\\u0001\xc3\xa9','single_word':true,'lstrip':false,'rstrip':"
               "true,'normalized':false,'special':true}",
      .normalizer = "{'type':'Prepend','prepend':'_'}",
      .pre = "{'type':'Punctuation','behavior':'Contiguous'}",
      .decoder = "{'type':'Fuse'}",
      .model = "{'type':'BPE','vocab':{'a':3,'##b':9,'ab':1},'merges':['a ##b'],'unk_token':'a',"
               "'continuing_subword_prefix':'##','fuse_unk':true,'byte_fallback':true,"
               "'ignore_merges':true}"}));
  ck_assert_int_eq(tpti_tokenizer_bytes(&tpti_memory_default, &run, &t), TPT_OK);
  same_after_parsing(t);
  ck_assert_int_eq(tpti_tokenizer_words(&tpti_memory_default, &run, "a b", 3, 9, &t), TPT_OK);
  same_after_parsing(t);
  ck_assert_int_eq(tpti_tokenizer_bpe(&tpti_memory_default, &run, "a ab ab", 7, 260, &t), TPT_OK);
  same_after_parsing(t);
}
END_TEST

START_TEST(what_is_written) {
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'BPE','vocab':{'b':1,'a':0,'ab':2},'merges':['a b']}"});
  ck_assert_str_eq(
      formatted(t),
      "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
      "\"normalizer\":null,\"pre_tokenizer\":null,\"post_processor\":null,\"decoder\":"
      "null,\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
      "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"fuse_unk\":"
      "false,\"byte_fallback\":false,\"ignore_merges\":false,\"vocab\":{\"a\":0,\"b\":1,"
      "\"ab\":2},\"merges\":[[\"a\",\"b\"]]}}\n");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(a_pair_given_twice_is_written_once) {
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'BPE','vocab':{'a':0,'b':1,'c':2,'ab':3,'bc':4},"
                                  "'merges':['a b','b c','a b']}"});
  ck_assert_ptr_nonnull(strstr(formatted(t), "\"merges\":[[\"b\",\"c\"],[\"a\",\"b\"]]"));
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(values_of_every_kind) {
  static const char text[] = "{\"a\":[1,-2,1.0,2.5e-07,true,false,null,\"x\\n\"],\"b\":{}}";
  tpti_json *root;
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  const tpti_json_source source = {.text = text, .length = strlen(text), .max_values = 100};
  ck_assert_int_eq(tpti_json_parse(&tpti_memory_default, NULL, &source, &root), TPT_OK);
  tpti_write_json(&out, root);
  ck_assert_msg(out.used == strlen(text) && memcmp(out.data, text, out.used) == 0, "%.*s",
                (int)out.used, out.data);
  tpti_json_free(root);
  tpti_buffer_free(&out);
}
END_TEST

START_TEST(a_stopped_run_ends_it) {
  atomic_int stop = 1;
  tpti_run run = {.cancel = &stop};
  tpti_buffer out;
  tpti_tokenizer *t = make_parts((parts){0});
  tpti_buffer_init(&out, &tpti_memory_default);
  ck_assert_int_eq(tpti_tokenizer_format(t, &run, &out), TPT_E_CANCELLED);
  tpti_buffer_free(&out);
  tpti_tokenizer_free(t);
}
END_TEST

TEST_MAIN("write", format_parse_format, what_is_written, a_pair_given_twice_is_written_once,
          values_of_every_kind, a_stopped_run_ends_it)
