/* What the tests of refusals share: one handle of each kind, places for results that must stay as
 * they are, and the two forms in which most refusals come. */
#ifndef TPTI_TESTS_API_HOSTILE_H
#define TPTI_TESTS_API_HOSTILE_H

#include "api/session.h"

#define BAD TPT_E_ARGUMENT

/* One of each kind, and places for results. */
typedef struct cast {
  session s;
  tpt_decoder *decoder;
  tpt_dataset *dataset;
  tpt_tokenizer *tokenizer;
  void *stranger; /* a handle of another kind than any that is asked for */
} cast;

/* Results that must stay as they are. */
static float floats[D * V];
static double doubles[64];
static size_t size;
static int32_t number;
static char text[64];
static tpt_tensor_info info;
static tpt_drift drift;
static tpt_evaluation evaluation;

static inline void mark_results(void) {
  memset(floats, 0x5a, sizeof floats);
  memset(doubles, 0x5a, sizeof doubles);
  memset(text, 0x5a, sizeof text);
  memset(&info, 0x5a, sizeof info);
  memset(&drift, 0x5a, sizeof drift);
  memset(&evaluation, 0x5a, sizeof evaluation);
  info.size = sizeof info, drift.size = sizeof drift, evaluation.size = sizeof evaluation;
  size = 12345;
  number = 12345;
}

static inline void all_marked(const void *from, size_t skipped, size_t bytes) {
  ck_assert_uint_eq(others((const char *)from + skipped, bytes - skipped, 0x5a), 0);
}

static inline void nothing_moved(void) {
  all_marked(floats, 0, sizeof floats);
  all_marked(doubles, 0, sizeof doubles);
  all_marked(text, 0, sizeof text);
  all_marked(&info, sizeof info.size, sizeof info);
  all_marked(&drift, sizeof drift.size, sizeof drift);
  all_marked(&evaluation, sizeof evaluation.size, sizeof evaluation);
  ck_assert(size == 12345 && number == 12345);
}

static inline cast gather(void) {
  cast c = {.s = start("")};
  ok(tpt_decoder_create(c.s.model, 0, &c.decoder));
  ok(tpt_dataset_from_tokens(c.s.context, c.s.tokens, ROWS, &c.dataset));
  ok(tpt_tokenizer_bytes(c.s.context, &c.tokenizer));
  c.stranger = c.s.config;
  mark_results();
  return c;
}

static inline void part(cast *c) {
  nothing_moved();
  tpt_decoder_destroy(c->decoder);
  tpt_dataset_destroy(c->dataset);
  tpt_tokenizer_destroy(c->tokenizer);
  end(&c->s);
}

/* A handle of the wrong kind, and NULL, as the first argument. */
#define FIRST(call, kind, name, ...)                                                               \
  do {                                                                                             \
    refused(NULL, call((kind *)NULL, __VA_ARGS__), BAD, name);                                     \
    refused(NULL, call((kind *)c.stranger, __VA_ARGS__), BAD, name);                               \
  } while (0)

/* A call that makes a handle: its result is NULL after the failure. */
#define MAKES(handle, kind, want, word, call)                                                      \
  do {                                                                                             \
    kind *made = (kind *)c.stranger;                                                               \
    refused(handle, call, want, word);                                                             \
    ck_assert_ptr_null(made);                                                                      \
  } while (0)

#endif
