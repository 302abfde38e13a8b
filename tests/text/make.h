/* Small tokenizers for tests: JSON is written with ' for " and ids are told as text, "3 1 4". */
#ifndef TPTI_TESTS_TEXT_MAKE_H
#define TPTI_TESTS_TEXT_MAKE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/allocator.h"
#include "support/runner.h"
#include "text/tokenizer.h"

#define ck_assert_message(part)                                                                    \
  ck_assert_msg(strstr(tpti_error_text(), part) != NULL, "message \"%s\" lacks \"%s\"",            \
                tpti_error_text(), part)

/* A tokenizer.json of these parts; NULL is null (model: see MODEL). */
typedef struct parts {
  const char *added, *normalizer, *pre, *decoder, *model;
} parts;

/* a b c d, space, low line (U+2581), some merges. */
#define MODEL                                                                                      \
  "{'type':'BPE','vocab':{'a':0,'b':1,'c':2,'d':3,' ':4,'\xe2\x96\x81':5,'ab':6,'cd':7,'abcd':8,"  \
  "'bc':9,'\xe2\x96\x81"                                                                           \
  "a':10},'merges':[['a','b'],'c d',['ab','cd'],['b','c'],"                                        \
  "['\xe2\x96\x81','a']]}"

static inline const char *make_json(parts p) {
  static char text[8192];
  int length =
      snprintf(text, sizeof text,
               "{'version':'1.0','truncation':null,'padding':null,'added_tokens':[%s],"
               "'normalizer':%s,'pre_tokenizer':%s,'post_processor':null,'decoder':%s,"
               "'model':%s}",
               p.added ? p.added : "", p.normalizer ? p.normalizer : "null", p.pre ? p.pre : "null",
               p.decoder ? p.decoder : "null", p.model ? p.model : MODEL);
  ck_assert(length > 0 && (size_t)length < sizeof text);
  for (char *at = text; *at; at++)
    if (*at == '\'') *at = '"';
  return text;
}

static inline tpt_status try_parts(parts p, tpti_tokenizer **made) {
  tpti_run run = {0};
  const char *json = make_json(p);
  *made = NULL;
  return tpti_tokenizer_parse(&tpti_memory_default, &run, json, strlen(json), made);
}

static inline tpti_tokenizer *make_parts(parts p) {
  tpti_tokenizer *made;
  tpt_status status = try_parts(p, &made);
  ck_assert_msg(status == TPT_OK, "%s", tpti_error_text());
  return made;
}

static inline const char *ids_text(const int32_t *ids, size_t count) {
  static char text[4096];
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, i ? " %d" : "%d", ids[i]);
  return text;
}

static inline const char *encoded(const tpti_tokenizer *t, const char *text) {
  static int32_t ids[1024];
  tpti_run run = {0};
  tpti_ids out = {.ids = ids, .capacity = 1024};
  tpt_status status = tpti_tokenizer_encode(t, &run, text, strlen(text), false, &out);
  ck_assert_msg(status == TPT_OK, "%s", tpti_error_text());
  return ids_text(ids, out.count);
}

#define ck_assert_encodes(tokenizer, text, ids) ck_assert_str_eq(encoded(tokenizer, text), ids)

static inline const char *decoded(const tpti_tokenizer *t, const int32_t *ids, size_t count) {
  static char text[4096];
  tpti_run run = {0};
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  tpt_status status = tpti_tokenizer_decode(t, &run, ids, count, &out);
  ck_assert_msg(status == TPT_OK, "%s", tpti_error_text());
  ck_assert_uint_lt(out.used, sizeof text);
  if (out.used) memcpy(text, out.data, out.used);
  text[out.used] = 0;
  tpti_buffer_free(&out);
  return text;
}

#define ck_assert_decodes(tokenizer, text, ...)                                                    \
  do {                                                                                             \
    const int32_t ids_[] = {__VA_ARGS__};                                                          \
    ck_assert_str_eq(decoded(tokenizer, ids_, sizeof ids_ / sizeof *ids_), text);                  \
  } while (0)

/* A run whose progress function looks at what it is told; `ends`: at the call with this number. */
typedef struct watcher {
  int calls, ends;
  double last;
  bool back; /* done went back, or out of 0 to 1 */
} watcher;

static inline int32_t watch(void *user, const void *handle, double done) {
  watcher *w = user;
  (void)handle;
  if (done == done) { /* else NaN */
    w->back |= done < w->last || done < 0 || done > 1;
    w->last = done;
  }
  return ++w->calls == w->ends;
}

/* last_tick 0 is long ago: the first tick calls. */
static inline tpti_run watched(watcher *w) {
  return (tpti_run){.progress = watch, .progress_user = w, .done = (double)NAN, .to = 1};
}

static inline Suite *suite_of(const char *name, const TTest *const *tests, size_t count) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  for (size_t i = 0; i < count; i++) tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  return suite;
}

#define TEST_MAIN(name, ...)                                                                       \
  int main(void) {                                                                                 \
    const TTest *const tests_[] = {__VA_ARGS__};                                                   \
    return tpti_test_main(suite_of(name, tests_, sizeof tests_ / sizeof *tests_));                 \
  }

#endif
