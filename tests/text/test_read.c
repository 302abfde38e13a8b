/* tokenizer.json: what is taken, and what is refused by name and place. */
#include "make.h"

static void refused(parts p, tpt_status status, const char *part) {
  tpti_tokenizer *t;
  ck_assert_int_eq(try_parts(p, &t), status);
  ck_assert_ptr_null(t);
  ck_assert_message(part);
}

START_TEST(types_are_refused_by_name_and_place) {
  refused((parts){.normalizer = "{'type':'NFC'}"}, TPT_E_UNSUPPORTED, "normalizer: type NFC");
  refused((parts){.normalizer =
                      "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'_'},"
                      "{'type':'Lowercase'}]}"},
          TPT_E_UNSUPPORTED,
          "normalizer.normalizers[1]: type Lowercase is not supported; supported: "
          "Prepend, Replace");
  refused((parts){.pre = "{'type':'Sequence','pretokenizers':[{'type':'BertPreTokenizer'}]}"},
          TPT_E_UNSUPPORTED, "pre_tokenizer.pretokenizers[0]: type BertPreTokenizer");
  refused((parts){.decoder = "{'type':'CTC'}"}, TPT_E_UNSUPPORTED, "decoder: type CTC");
  refused((parts){.model = "{'type':'Unigram','vocab':[]}"}, TPT_E_UNSUPPORTED, "type Unigram");
}
END_TEST

START_TEST(keys_that_are_not_known) {
  refused((parts){.pre = "{'type':'Digits','individual_digits':true,'more':1}"}, TPT_E_UNSUPPORTED,
          "pre_tokenizer: \"more\"");
  refused((parts){.model = "{'type':'BPE','vocab':{},'merges':[],'x':1}"}, TPT_E_UNSUPPORTED,
          "model: \"x\"");
  refused((parts){.model = "null,'extra':{}"}, TPT_E_UNSUPPORTED, "\"extra\"");
}
END_TEST

START_TEST(values_of_the_wrong_kind) {
  refused((parts){.pre = "[]"}, TPT_E_FORMAT, "pre_tokenizer: an object is wanted, not an array");
  refused((parts){.pre = "{'type':'Digits'}"}, TPT_E_FORMAT, "individual_digits: true or false");
  refused((parts){.pre = "{'type':'Split','pattern':{'String':'a'},'behavior':'Upward','invert':"
                         "false}"},
          TPT_E_FORMAT, "behavior is \"Upward\"");
  refused((parts){.decoder = "{'type':'Strip','content':'ab','start':0,'stop':0}"}, TPT_E_FORMAT,
          "one character");
  refused((parts){.decoder = "{'type':'Strip','content':'a','start':-1,'stop':0}"}, TPT_E_FORMAT,
          "decoder.start is -1");
  refused((parts){.model = "null"}, TPT_E_FORMAT, "model");
}
END_TEST

START_TEST(vocabularies_that_contradict_themselves) {
  refused((parts){.model = "{'type':'BPE','vocab':{'a':0,'b':0},'merges':[]}"}, TPT_E_FORMAT,
          "id 0 is given to both");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':-1},'merges':[]}"}, TPT_E_FORMAT, "\"a\"");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':2147483648},'merges':[]}"}, TPT_E_FORMAT,
          "must be 0 to 2147483647");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':1.0},'merges':[]}"}, TPT_E_FORMAT, "\"a\"");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':0,'b':1},'merges':['a b']}"}, TPT_E_FORMAT,
          "model.merges[0]");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':0},'merges':['a']}"}, TPT_E_FORMAT,
          "one space");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':0},'merges':[['a']]}"}, TPT_E_FORMAT,
          "model.merges[0]");
  refused((parts){.model = "{'type':'BPE','vocab':{'a':0},'merges':[],'dropout':0.5}"},
          TPT_E_UNSUPPORTED, "model.dropout is 0.5");
}
END_TEST

START_TEST(patterns_are_refused_with_their_place) {
  refused((parts){.pre = "{'type':'Split','pattern':{'Regex':'a(?i)b'},'behavior':'Isolated',"
                         "'invert':false}"},
          TPT_E_UNSUPPORTED,
          "pre_tokenizer.pattern: the regular expression \"a(?i)b\" has at byte 1");
  refused((parts){.pre = "{'type':'Split','pattern':{'String':''},'behavior':'Isolated','invert':"
                         "false}"},
          TPT_E_UNSUPPORTED, "empty pattern");
  refused((parts){.normalizer = "{'type':'Replace','pattern':{'Regex':'a'},'content':'$0'}"},
          TPT_E_UNSUPPORTED, "normalizer.content");
}
END_TEST

START_TEST(first_after_a_change_is_refused) {
  const char *first = "{'type':'Metaspace','replacement':'_','prepend_scheme':'first'}";
  refused((parts){.pre = first, .normalizer = "{'type':'Prepend','prepend':'_'}"},
          TPT_E_UNSUPPORTED, "prepend_scheme \"first\"");
}
END_TEST

START_TEST(files_of_the_first_versions) {
  tpti_tokenizer *t = make_parts(
      (parts){.pre = "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true}",
              .model = "{'dropout':null,'unk_token':null,'continuing_subword_prefix':'',"
                       "'end_of_word_suffix':'','fuse_unk':false,'vocab':{'a':0,'b':1,'ab':2},"
                       "'merges':['#version: 0.2','a b']}"});
  ck_assert_encodes(t, "aba", "2 0");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(not_json_and_too_much) {
  tpti_run run = {0};
  tpti_tokenizer *t = NULL;
  ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, "{", 1, &t), TPT_E_FORMAT);
  ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, "", 0, &t), TPT_E_FORMAT);
  ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, "[]", 2, &t), TPT_E_FORMAT);
  ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, "", (size_t)1 << 40, &t),
                   TPT_E_FORMAT);
  ck_assert_ptr_null(t);
}
END_TEST

START_TEST(other_json_is_no_tokenizer) {
  static const char *const texts[] = {"{\"a\":1}", "{}", "{\"version\":\"1.0\"}"};
  tpti_run run = {0};
  tpti_tokenizer *t = NULL;
  for (size_t i = 0; i < 3; i++) {
    const char *text = texts[i];
    ck_assert_int_eq(tpti_tokenizer_parse(&tpti_memory_default, &run, text, strlen(text), &t),
                     TPT_E_FORMAT);
    ck_assert_message("not a tokenizer.json: it has no model");
    ck_assert_ptr_null(t);
  }
}
END_TEST

/* Foreign words are cut at a character: in a message no '?' stands for a half. */
START_TEST(foreign_words_are_cut_at_a_character) {
  char word[100] = "", model[400], pre[400];
  for (size_t i = 0; i < 48; i++) strcat(word, "\xc3\xa9");
  for (size_t shift = 0; shift < 2; shift++) {
    const char *from = shift ? "" : "x";
    snprintf(model, sizeof model, "{'type':'%s%s'}", from, word);
    refused((parts){.model = model}, TPT_E_UNSUPPORTED, "\xc3\xa9 is not supported");
    snprintf(model, sizeof model, "{'type':'BPE','vocab':{'%s%s':-1},'merges':[]}", from, word);
    refused((parts){.model = model}, TPT_E_FORMAT, "\xc3\xa9\" must be");
    snprintf(model, sizeof model, "{'type':'BPE','vocab':{'a':0,'b':1},'merges':[['%s%s','b']]}",
             from, word);
    refused((parts){.model = model}, TPT_E_FORMAT, "\xc3\xa9\", \"b\"");
    snprintf(pre, sizeof pre, "{'type':'%s%s'}", from, word);
    refused((parts){.pre = pre}, TPT_E_UNSUPPORTED, "\xc3\xa9 is not supported");
    snprintf(pre, sizeof pre, "{'type':'Digits','individual_digits':true,'%s%s':1}", from, word);
    refused((parts){.pre = pre}, TPT_E_UNSUPPORTED, "\xc3\xa9\" is not known");
  }
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  tpti_test_allocator a;
  tpti_run run = {0};
  tpti_tokenizer *t = NULL;
  tpti_test_allocator_init(&a);
  const char *json = make_json((parts){
      .added = "{'id':11,'content':'x','single_word':true,'lstrip':false,'rstrip':false,"
               "'normalized':true,'special':false}",
      .normalizer = "{'type':'Prepend','prepend':' '}",
      .pre = "{'type':'Split','pattern':{'Regex':'\\\\s+|[a-z]'},'behavior':'Isolated','invert':"
             "false}",
      .decoder = "{'type':'ByteLevel'}"});
  for (size_t n = 1;; n++) {
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpti_tokenizer_parse(&a.memory, &run, json, strlen(json), &t);
    if (status == TPT_OK) break;
    ck_assert_int_eq(status, TPT_E_MEMORY);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
  tpti_tokenizer_free(t);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

TEST_MAIN("read", types_are_refused_by_name_and_place, keys_that_are_not_known,
          values_of_the_wrong_kind, vocabularies_that_contradict_themselves,
          patterns_are_refused_with_their_place, first_after_a_change_is_refused,
          files_of_the_first_versions, not_json_and_too_much, other_json_is_no_tokenizer,
          foreign_words_are_cut_at_a_character, memory_may_run_out_anywhere)
