/* Normalizers and the cutting of texts. */
#include "text/step.h"

#include "make.h"

#define BYTES(prefix) "{'type':'ByteLevel','add_prefix_space':" prefix ",'use_regex':false}"

/* The pieces that a pre-tokenizer makes, with | between them. */
static char pieces[512];

static tpt_status note_piece(void *user, const char *word, size_t length) {
  (void)user;
  ck_assert_uint_lt(strlen(pieces) + length + 2, sizeof pieces);
  if (pieces[0]) strcat(pieces, "|");
  strncat(pieces, word, length);
  return TPT_OK;
}

static const char *cut(const char *pre, const char *text) {
  tpti_tokenizer *t = make_parts((parts){.pre = pre});
  tpti_run run = {0};
  tpti_cutter cutter;
  pieces[0] = 0;
  ck_assert_int_eq(tpti_cutter_start(&cutter, t, &run, note_piece, NULL), TPT_OK);
  ck_assert_int_eq(tpti_cutter_cut(&cutter, text, strlen(text), true), TPT_OK);
  tpti_cutter_end(&cutter);
  tpti_tokenizer_free(t);
  return pieces;
}

#define SPLIT(pattern, behavior, invert)                                                           \
  "{'type':'Split','pattern':{'Regex':'" pattern "'},'behavior':'" behavior "','invert':" invert "}"

START_TEST(behaviors) {
  ck_assert_str_eq(cut(SPLIT(" ", "Isolated", "false"), "a  b "), "a| | |b| ");
  ck_assert_str_eq(cut(SPLIT(" ", "Removed", "false"), "a  b "), "a|b");
  ck_assert_str_eq(cut(SPLIT(" ", "MergedWithPrevious", "false"), "a  b "), "a | |b ");
  ck_assert_str_eq(cut(SPLIT(" ", "MergedWithNext", "false"), "a  b "), "a| | b| ");
  ck_assert_str_eq(cut(SPLIT(" ", "Contiguous", "false"), "a  b "), "a|  |b| ");
  ck_assert_str_eq(cut(SPLIT(" ", "MergedWithPrevious", "false"), "  a"), " | |a");
}
END_TEST

START_TEST(inverted) {
  ck_assert_str_eq(cut(SPLIT("[a-z]+", "Removed", "true"), "ab 1cd"), "ab|cd");
  ck_assert_str_eq(cut(SPLIT("[a-z]", "Contiguous", "true"), "ab 1cd"), "ab| 1|cd");
  ck_assert_str_eq(cut(SPLIT("[a-z]+", "MergedWithNext", "true"), "ab 1cd"), "ab| 1cd");
}
END_TEST

START_TEST(byte_level) {
  ck_assert_str_eq(cut("{'type':'ByteLevel','add_prefix_space':false}", "don't  go\n"),
                   "don|'t|\xc4\xa0|\xc4\xa0go|\xc4\x8a");
  ck_assert_str_eq(cut(BYTES("true"), "a b"), "\xc4\xa0"
                                              "a\xc4\xa0"
                                              "b");
  ck_assert_str_eq(cut(BYTES("true"), " a"), "\xc4\xa0"
                                             "a");
  ck_assert_str_eq(cut(BYTES("false"), "\xc3\xa9"), "\xc3\x83\xc2\xa9");
}
END_TEST

START_TEST(sequence_of_steps) {
  ck_assert_str_eq(cut("{'type':'Sequence','pretokenizers':[{'type':'Digits','individual_digits':"
                       "true}," BYTES("true") "]}",
                       "a12"),
                   "\xc4\xa0"
                   "a|\xc4\xa0"
                   "1|\xc4\xa0"
                   "2");
}
END_TEST

START_TEST(named_splits) {
  ck_assert_str_eq(cut("{'type':'Whitespace'}", "It's a_b! \xe4\xbd\xa0?"),
                   "It|'|s|a_b|!|\xe4\xbd\xa0|?");
  ck_assert_str_eq(cut("{'type':'WhitespaceSplit'}", " It's\xe3\x80\x80"
                                                     "b\n"),
                   "It's|b");
  ck_assert_str_eq(cut("{'type':'Digits','individual_digits':false}", "a12b"), "a|12|b");
  ck_assert_str_eq(cut("{'type':'Punctuation'}", "a,$b"), "a|,|$|b");
  ck_assert_str_eq(cut("{'type':'Punctuation','behavior':'Contiguous'}", "a,$b"), "a|,$|b");
}
END_TEST

#define META(scheme, split)                                                                        \
  "{'type':'Metaspace','replacement':'_','prepend_scheme':'" scheme "','split':" split "}"

START_TEST(metaspace) {
  ck_assert_str_eq(cut(META("always", "true"), "a b"), "_a|_b");
  ck_assert_str_eq(cut(META("never", "true"), "a b"), "a|_b");
  ck_assert_str_eq(cut(META("first", "false"), "a b"), "_a_b");
  ck_assert_str_eq(cut(META("always", "false"), " a"), "_a");
  ck_assert_str_eq(cut("{'type':'Metaspace','replacement':'_','add_prefix_space':false}", "a"),
                   "a");
}
END_TEST

START_TEST(first_means_the_beginning_of_all) {
  const char *added = "{'id':11,'content':'!','single_word':false,'lstrip':false,'rstrip':false,"
                      "'normalized':false,'special':false}";
  tpti_tokenizer *t = make_parts(
      (parts){.added = added,
              .pre = "{'type':'Metaspace','replacement':'\xe2\x96\x81','prepend_scheme':'first'}"});
  ck_assert_encodes(t, "a!a", "10 11 0");
  ck_assert_encodes(t, "!a", "11 0");
  tpti_tokenizer_free(t);
}
END_TEST

static const char *normal(const char *normalizer, const char *text) {
  static char out[256];
  tpti_tokenizer *t = make_parts((parts){.normalizer = normalizer});
  tpti_matchers matchers;
  tpti_buffer result, scratch;
  tpti_buffer_init(&result, &tpti_memory_default);
  tpti_buffer_init(&scratch, &tpti_memory_default);
  ck_assert_int_eq(tpti_matchers_create(&t->normalizer, NULL, &matchers), TPT_OK);
  ck_assert_int_eq(
      tpti_steps_normalize(&t->normalizer, &matchers, text, strlen(text), &result, &scratch),
      TPT_OK);
  snprintf(out, sizeof out, "%.*s", (int)result.used, result.data);
  tpti_buffer_free(&result);
  tpti_buffer_free(&scratch);
  tpti_matchers_free(&matchers);
  tpti_tokenizer_free(t);
  return out;
}

START_TEST(normalizers) {
  const char *both = "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'_'},{'type':"
                     "'Replace','pattern':{'String':' '},'content':'_'}]}";
  ck_assert_str_eq(normal(both, "a b"), "_a_b");
  ck_assert_str_eq(normal(both, ""), "");
  ck_assert_str_eq(normal("{'type':'Replace','pattern':{'Regex':'x*'},'content':'-'}", "abx"),
                   "-a-b-");
  ck_assert_str_eq(
      normal("{'type':'Strip','strip_left':true,'strip_right':true}", "\xe3\x80\x80 a b\n"), "a b");
  ck_assert_str_eq(normal("{'type':'Strip','strip_left':false,'strip_right':true}", "   "), "");
  ck_assert_str_eq(normal("{'type':'ByteLevel'}", " a"), "\xc4\xa0"
                                                         "a");
}
END_TEST

TEST_MAIN("step", behaviors, inverted, byte_level, sequence_of_steps, named_splits, metaspace,
          first_means_the_beginning_of_all, normalizers)
