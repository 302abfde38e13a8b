/* Ids to text, whole and in parts. */
#include "make.h"
#include "text/decode_step.h"

#define BYTES_MODEL                                                                                \
  "{'type':'BPE','vocab':{'a':0,'<0xE4>':1,'<0xBD>':2,'<0xA0>':3,'<0x41>':4,'\xe2\x96\x81"         \
  "b':5,"                                                                                          \
  "'\xe2\x96\x81':6},'merges':[]}"
#define FALLBACK                                                                                   \
  "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{'String':'\xe2\x96\x81'},"          \
  "'content':' '},{'type':'ByteFallback'},{'type':'Fuse'},{'type':'Strip','content':' ',"          \
  "'start':1,'stop':0}]}"
#define LEVEL_MODEL                                                                                \
  "{'type':'BPE','vocab':{'a':0,'\xc3\xa4':1,'\xc2\xbd':2,'\xc5\x82':3,'\xc4\xa0"                  \
  "b':4,"                                                                                          \
  "'\xe4\xbd\xa0':5},'merges':[]}"
#define LEVEL "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':true}"
#define BAD   "\xef\xbf\xbd"

START_TEST(byte_fallback) {
  tpti_tokenizer *t = make_parts((parts){.decoder = FALLBACK, .model = BYTES_MODEL});
  ck_assert_decodes(t, "b b", 5, 5);
  ck_assert_decodes(t, " b", 6, 5);
  ck_assert_decodes(t,
                    "a\xe4\xbd\xa0"
                    "Aa",
                    0, 1, 2, 3, 4, 0);
  ck_assert_decodes(t, BAD BAD BAD "a", 4, 1, 2, 0); /* one bad spoils the whole run */
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(byte_level) {
  tpti_tokenizer *t = make_parts((parts){.decoder = LEVEL, .model = LEVEL_MODEL});
  ck_assert_decodes(t, "a b", 0, 4);
  ck_assert_decodes(t, "\xe4\xbd\xa0", 1, 2, 3);
  ck_assert_decodes(t, BAD "a" BAD, 1, 2, 0, 3);
  ck_assert_decodes(t, "\xe4\xbd\xa0", 5); /* not of the alphabet: as it is */
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(others) {
  tpti_tokenizer *t = make_parts((parts){0});
  ck_assert_decodes(t, "ab cd \xe2\x96\x81", 6, 7, 5);
  tpti_tokenizer_free(t);
  t = make_parts((parts){.decoder = "{'type':'Metaspace','replacement':'\xe2\x96\x81',"
                                    "'prepend_scheme':'always'}"});
  ck_assert_decodes(t, "a ab", 10, 5, 6);
  tpti_tokenizer_free(t);
  t = make_parts((parts){.decoder = "{'type':'Strip','content':'a','start':1,'stop':1}"});
  ck_assert_decodes(t, "bbcd", 6, 9, 0, 3);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(ids_out_of_range_are_named) {
  static const int32_t ids[] = {0, -1}, high[] = {0, 0, 11};
  tpti_run run = {0};
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  tpti_tokenizer *t = make_parts((parts){0});
  ck_assert_int_eq(tpti_tokenizer_decode(t, &run, ids, 2, &out), TPT_E_ARGUMENT);
  ck_assert_message("ids[1] is -1");
  ck_assert_int_eq(tpti_tokenizer_decode(t, &run, high, 3, &out), TPT_E_ARGUMENT);
  ck_assert_message(
      "ids[2] is 11; ids from 0 to below the tokenizer's vocabulary size (11) are allowed");
  ck_assert_int_eq(tpti_tokenizer_decode_tail(t, &run, ids, 1, 2, &out), TPT_E_ARGUMENT);
  ck_assert_message("done is 2");
  tpti_buffer_free(&out);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(a_tokenizer_without_ids) {
  static const int32_t id = 0;
  tpti_run run = {0};
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  tpti_tokenizer *t = make_parts((parts){.model = "{'type':'BPE','vocab':{},'merges':[]}"});
  ck_assert_int_eq(tpti_tokenizer_decode(t, &run, &id, 1, &out), TPT_E_ARGUMENT);
  ck_assert_message("ids[0] is 0; the tokenizer has no ids");
  ck_assert_int_eq(tpti_tokenizer_decode(t, &run, &id, 0, &out), TPT_OK);
  tpti_buffer_free(&out);
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(gaps_are_passed_over) {
  tpti_tokenizer *t =
      make_parts((parts){.model = "{'type':'BPE','vocab':{'a':0,'b':5},'merges':[]}"});
  ck_assert_decodes(t, "a b", 0, 3, 5);
  tpti_tokenizer_free(t);
}
END_TEST

static const char *tail(const tpti_tokenizer *t, const int32_t *ids, size_t count, size_t done) {
  static char text[256];
  tpti_run run = {0};
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  ck_assert_int_eq(tpti_tokenizer_decode_tail(t, &run, ids, count, done, &out), TPT_OK);
  snprintf(text, sizeof text, "%.*s", (int)out.used, out.used ? out.data : "");
  tpti_buffer_free(&out);
  return text;
}

START_TEST(tails_hold_an_incomplete_character) {
  static const int32_t ids[] = {0, 1, 2, 3, 4, 1, 0};
  tpti_tokenizer *t = make_parts((parts){.decoder = LEVEL, .model = LEVEL_MODEL});
  ck_assert_str_eq(tail(t, ids, 1, 0), "a");
  ck_assert_str_eq(tail(t, ids, 2, 1), "");
  ck_assert_str_eq(tail(t, ids, 3, 2), "");
  ck_assert_str_eq(tail(t, ids, 4, 3), "\xe4\xbd\xa0");
  ck_assert_str_eq(tail(t, ids, 5, 4), " b");
  ck_assert_str_eq(tail(t, ids, 6, 5), "");
  ck_assert_str_eq(tail(t, ids, 7, 6), BAD "a"); /* it will never be complete */
  ck_assert_str_eq(tail(t, ids, 7, 0), "a\xe4\xbd\xa0 b" BAD "a");
  ck_assert_str_eq(tail(t, ids, 7, 7), "");
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(tails_of_byte_fallback) {
  static const int32_t ids[] = {6, 5, 1, 2, 3, 4, 0, 5};
  static const char *const want[] = {"", " b", "", "", "\xe4\xbd\xa0", "A", "a", " b"};
  tpti_tokenizer *t = make_parts((parts){.decoder = FALLBACK, .model = BYTES_MODEL});
  for (size_t i = 0; i < 8; i++) ck_assert_str_eq(tail(t, ids, i + 1, i), want[i]);
  for (size_t i = 0; i <= 8; i++) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s", tail(t, ids, i, 0));
    strncat(whole, tail(t, ids, 8, i), 32);
    ck_assert_str_eq(whole, decoded(t, ids, 8));
  }
  tpti_tokenizer_free(t);
}
END_TEST

START_TEST(lossy_text) {
  static const struct {
    const char *bytes, *text;
  } rows[] = {{"a\x80z", "a" BAD "z"},
              {"\xe4\xbdz", BAD "z"},
              {"\xe4z", BAD "z"},
              {"\xf0\x9f\x98", BAD},
              {"\xed\xa0\x80", BAD BAD BAD},
              {"\xc0\x80", BAD BAD},
              {"\xf4\x90\x80\x80", BAD BAD BAD BAD},
              {"\xf0\x80\x80", BAD BAD BAD},
              {"", ""}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tpti_buffer out;
    tpti_buffer_init(&out, &tpti_memory_default);
    tpti_lossy_append(NULL, &out, rows[i].bytes, strlen(rows[i].bytes));
    ck_assert_uint_eq(out.used, strlen(rows[i].text));
    if (out.used) ck_assert_mem_eq(out.data, rows[i].text, out.used);
    tpti_buffer_free(&out);
  }
}
END_TEST

START_TEST(incomplete_ends) {
  static const struct {
    const char *bytes;
    size_t held;
  } rows[] = {{"", 0},
              {"a", 0},
              {"a\xe4", 1},
              {"a\xe4\xbd", 2},
              {"\xe4\xbd\xa0", 0},
              {"\xf0\x9f\x98", 3},
              {"\xe4z", 0},
              {"\x80", 0},
              {"\xed\xa0", 0},
              {"\xf0\x80", 0},
              {"\xf5", 0},
              {"\xc3\xa9\xa9", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_uint_eq(tpti_incomplete_bytes(rows[i].bytes, strlen(rows[i].bytes)), rows[i].held);
}
END_TEST

START_TEST(memory_may_run_out_anywhere) {
  static const int32_t ids[] = {5, 1, 2, 3, 0, 4};
  tpti_test_allocator a;
  tpti_run run = {0};
  tpti_tokenizer *t;
  const char *json = make_json((parts){.decoder = FALLBACK, .model = BYTES_MODEL});
  tpti_test_allocator_init(&a);
  ck_assert_int_eq(tpti_tokenizer_parse(&a.memory, &run, json, strlen(json), &t), TPT_OK);
  size_t held = tpti_test_allocator_live(&a);
  for (size_t n = 1;; n++) {
    tpti_buffer out;
    tpti_buffer_init(&out, &tpti_memory_default);
    tpti_test_allocator_fail_at(&a, n);
    tpt_status status = tpti_tokenizer_decode_tail(t, &run, ids, 6, 4, &out);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), held);
    tpti_buffer_free(&out);
    if (status == TPT_OK) break;
    ck_assert_int_eq(status, TPT_E_MEMORY);
  }
  tpti_tokenizer_free(t);
}
END_TEST

static tpt_status decode_long(watcher *w, bool tail, tpti_run *run) {
  enum { COUNT = 1 << 18 };
  static int32_t ids[COUNT]; /* all "a" */
  tpti_buffer out;
  tpti_tokenizer *t = make_parts((parts){.decoder = "{'type':'ByteLevel'}"});
  tpti_buffer_init(&out, &tpti_memory_default);
  *run = watched(w);
  tpt_status status = tail ? tpti_tokenizer_decode_tail(t, run, ids, COUNT, COUNT / 2, &out)
                           : tpti_tokenizer_decode(t, run, ids, COUNT, &out);
  if (!status) ck_assert_uint_eq(out.used, tail ? COUNT / 2 : COUNT);
  tpti_buffer_free(&out);
  tpti_tokenizer_free(t);
  return status;
}

START_TEST(it_tells_how_far_it_is) {
  for (int tail = 0; tail < 2; tail++) {
    watcher w = {0};
    tpti_run run;
    ck_assert_int_eq(decode_long(&w, tail, &run), TPT_OK);
    ck_assert_int_gt(w.calls, 0);
    ck_assert(!w.back);
    ck_assert_double_gt(run.done, 0.5);
    ck_assert_double_le(run.done, 1);
  }
}
END_TEST

START_TEST(the_progress_function_ends_it) {
  watcher w = {.ends = 1};
  tpti_run run;
  ck_assert_int_eq(decode_long(&w, false, &run), TPT_E_CANCELLED);
  ck_assert_int_eq(w.calls, 1);
}
END_TEST

TEST_MAIN("decode", byte_fallback, byte_level, others, ids_out_of_range_are_named,
          a_tokenizer_without_ids, gaps_are_passed_over, tails_hold_an_incomplete_character,
          tails_of_byte_fallback, lossy_text, incomplete_ends, memory_may_run_out_anywhere,
          it_tells_how_far_it_is, the_progress_function_ends_it)
