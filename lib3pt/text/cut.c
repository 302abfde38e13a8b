/* The pre-tokenizer: each step hands its pieces to the next as they come, so that no list of pieces
 * is ever held. */
#include <string.h>

#include "text/alphabet.h"
#include "text/tokenizer.h"

enum { TICK_BYTES = 1 << 14 }; /* well under a millisecond of encoding */

typedef struct level {
  tpti_cutter *cutter;
  size_t step;
  const char *text;
  bool at_start;
  double from, scale; /* of the call that is done at the text's beginning, and a byte of it */
} level;

static tpt_status run_step(tpti_cutter *c, size_t step, const char *text, size_t length,
                           bool at_start);

static tpt_status hand_on(void *user, size_t start, size_t end) {
  level *l = user;
  tpti_run_span(l->cutter->run, l->from + l->scale * (double)start,
                l->from + l->scale * (double)end);
  return run_step(l->cutter, l->step + 1, l->text + start, end - start, l->at_start && start == 0);
}

static tpt_status give_word(tpti_cutter *c, const char *word, size_t length) {
  c->seen += length;
  if (c->seen >= TICK_BYTES) {
    c->seen = 0;
    tpti_advance(c->run, 0);
    tpt_status status = tpti_tick(c->run);
    if (status) return status;
  }
  return c->word(c->user, word, length);
}

static bool begins_with(const char *text, size_t length, const tpti_buffer *content) {
  return length >= content->used && memcmp(text, content->data, content->used) == 0;
}

static tpt_status to_bytes(tpti_cutter *c, size_t step, const char *text, size_t length,
                           bool at_start) {
  tpti_buffer *scratch = c->scratch + step;
  scratch->used = 0;
  tpt_status status = tpti_alphabet_write_all(c->run, scratch, text, length);
  if (status) return status;
  if (!tpti_pad(scratch)) return tpti_fail_memory(length);
  return run_step(c, step + 1, scratch->data, scratch->used, at_start);
}

static tpt_status prefix(tpti_cutter *c, size_t step, const char *text, size_t length,
                         bool at_start) {
  const tpti_step *how = c->tokenizer->pre_tokenizer.at + step;
  tpti_buffer *scratch = c->scratch + step;
  bool wanted = (at_start || !how->flag) && !begins_with(text, length, &how->content);
  if (!wanted) return run_step(c, step + 1, text, length, at_start);
  scratch->used = 0;
  tpti_buffer_append(scratch, how->content.data, how->content.used);
  tpti_buffer_append(scratch, text, length);
  if (!tpti_pad(scratch)) return tpti_fail_memory(length);
  return run_step(c, step + 1, scratch->data, scratch->used, at_start);
}

static tpt_status replace(tpti_cutter *c, size_t step, const char *text, size_t length,
                          bool at_start) {
  tpti_buffer *scratch = c->scratch + step;
  scratch->used = 0;
  tpt_status status = tpti_step_replace(c->tokenizer->pre_tokenizer.at + step, c->matchers.at[step],
                                        text, length, scratch);
  if (!status && !tpti_pad(scratch)) status = tpti_fail_memory(length);
  return status ? status : run_step(c, step + 1, scratch->data, scratch->used, at_start);
}

static tpt_status run_step(tpti_cutter *c, size_t step, const char *text, size_t length,
                           bool at_start) {
  if (step == c->tokenizer->pre_tokenizer.count) return give_word(c, text, length);
  const tpti_step *how = c->tokenizer->pre_tokenizer.at + step;
  level here = {.cutter = c, .step = step, .text = text, .at_start = at_start};
  here.from = c->run->from;
  here.scale = (c->run->to - c->run->from) / (double)length;
  switch (how->kind) {
  case TPTI_STEP_BYTES:
    return to_bytes(c, step, text, length, at_start);
  case TPTI_STEP_PREFIX:
    return prefix(c, step, text, length, at_start);
  case TPTI_STEP_REPLACE:
    return replace(c, step, text, length, at_start);
  default:
    return tpti_step_split(how, c->matchers.at[step], text, length, hand_on, &here);
  }
}

tpt_status tpti_cutter_start(tpti_cutter *cutter, const tpti_tokenizer *tokenizer, tpti_run *run,
                             tpti_word_fn word, void *user) {
  *cutter = (tpti_cutter){.tokenizer = tokenizer, .run = run, .word = word, .user = user};
  for (size_t i = 0; i < TPTI_MAX_STEPS; i++)
    tpti_buffer_init(&cutter->scratch[i], tokenizer->memory);
  return tpti_matchers_create(&tokenizer->pre_tokenizer, run, &cutter->matchers);
}

tpt_status tpti_cutter_cut(tpti_cutter *cutter, const char *text, size_t length, bool at_start) {
  return length ? run_step(cutter, 0, text, length, at_start) : TPT_OK;
}

void tpti_cutter_end(tpti_cutter *cutter) {
  tpti_matchers_free(&cutter->matchers);
  for (size_t i = 0; i < TPTI_MAX_STEPS; i++) tpti_buffer_free(&cutter->scratch[i]);
}
