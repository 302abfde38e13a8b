/* Ids to text: the tokens' texts as a list of strings, which the decoder's steps turn into other
 * lists; the strings that are left, end to end, are the text. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "text/alphabet.h"
#include "text/decode_step.h"
#include "text/tokenizer.h"

/* Looking an added token up may take TPTI_MAX_ADDED steps. */
enum { TICK_TOKENS = 1 << 8 };

static bool is_left_out(const tpti_tokenizer *t, uint32_t id, const char **text, size_t *length) {
  const tpti_added_token *added = tpti_added_token_of(&t->added, id);
  const tpti_token *token = added ? NULL : tpti_vocab_token(&t->vocab, id);
  if (added) {
    *text = tpti_added_spoken(&t->added, added);
    *length = added->spoken_length;
    return added->special;
  }
  *text = token ? tpti_vocab_text(&t->vocab, token) : NULL;
  *length = token ? token->length : 0;
  return !token;
}

static tpt_status collect(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids, size_t count,
                          tpti_strings *list) {
  tpt_status status = TPT_OK;
  size_t room;
  if (!tpti_mul(&room, count, sizeof(size_t)) || !tpti_buffer_reserve(&list->ends, room))
    return tpti_fail_memory(count);
  for (size_t i = 0; i < count && !status; i++) {
    const char *text;
    size_t length;
    if (i % TICK_TOKENS == 0) {
      tpti_advance(run, (double)i / (double)count);
      status = tpti_tick(run);
    }
    if (status || is_left_out(t, (uint32_t)ids[i], &text, &length)) continue;
    tpti_buffer_append(&list->text, text, length);
    tpti_strings_end(list);
  }
  return status;
}

static tpt_status check_ids(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids,
                            size_t count) {
  size_t size = tpti_tokenizer_size(t);
  for (size_t i = 0; i < count; i++) {
    if (!tpti_tick_some(run, i)) return tpti_tick(run);
    if (ids[i] >= 0 && (size_t)ids[i] < size) continue;
    char name[TPTI_NUMBER_TEXT + 8];
    snprintf(name, sizeof name, "ids[%zu]", i);
    return tpti_fail_token_id(name, ids[i], size);
  }
  return TPT_OK;
}

/* The text of a part of the ids: `middle` where others stand before it, `hold` where a character
 * that is not complete is kept back. */
static tpt_status decode_part(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids,
                              size_t count, tpti_decode_mode mode, tpti_buffer *out) {
  tpti_strings one, two;
  tpti_strings_init(&one, t->memory);
  tpti_strings_init(&two, t->memory);
  tpti_matchers matchers;
  tpt_status status = tpti_matchers_create(&t->decoder, run, &matchers);
  double middle = (mode.from + mode.to) / 2;
  tpti_run_span(run, mode.from, middle);
  if (!status) status = collect(t, run, ids, count, &one);
  tpti_pad(&one.text);
  mode.raw = t->raw_bytes;
  mode.run = run;
  mode.from = middle;
  if (!status) status = tpti_decode_steps(&t->decoder, &matchers, mode, &one, &two);
  if (!status) tpti_buffer_append(out, one.text.data, one.text.used);
  if (!status && (one.text.failed || one.ends.failed || out->failed))
    status = tpti_fail_memory(one.text.used);
  tpti_matchers_free(&matchers);
  tpti_strings_free(&one);
  tpti_strings_free(&two);
  return status;
}

tpt_status tpti_tokenizer_decode(const tpti_tokenizer *tokenizer, tpti_run *run, const int32_t *ids,
                                 size_t count, tpti_buffer *out) {
  tpt_status status = check_ids(tokenizer, run, ids, count);
  if (status) return status;
  return decode_part(tokenizer, run, ids, count, (tpti_decode_mode){.to = 1}, out);
}

/* ---- the tail ---- */

/* Is the decoder such that a text can be decoded from the middle on, at a place where a character
 * ends and something was written before? Then a stream costs no more than its own tokens. */
static bool can_begin_anywhere(const tpti_tokenizer *t) {
  bool fused = false;
  for (size_t i = 0; i < t->decoder.count; i++) {
    const tpti_step *step = t->decoder.at + i;
    if (step->kind == TPTI_STEP_WORDS || (i > 0 && step->kind == TPTI_STEP_UNBYTES)) return false;
    if (fused && (step->kind == TPTI_STEP_REPLACE || step->kind == TPTI_STEP_FALLBACK))
      return false;
    if (step->kind == TPTI_STEP_TRIM && step->stop) return false;
    if (step->kind == TPTI_STEP_FUSE || step->kind == TPTI_STEP_UNBYTES) fused = true;
  }
  return true;
}

/* Does this token end with a complete character, whatever comes after? */
static bool ends_character(const tpti_tokenizer *t, const char *text, size_t length,
                           tpti_buffer *bytes) {
  bool level = t->decoder.count && t->decoder.at[0].kind == TPTI_STEP_UNBYTES;
  if (length == 0) return false;
  if (!level) return tpti_fallback_byte(text, length) < 0;
  bytes->used = 0;
  tpti_alphabet_read(bytes, text, length);
  size_t at = bytes->used;
  while (at > 0 && ((uint8_t)bytes->data[at - 1] & 0xc0) == 0x80) at--;
  if (at == 0) return false;
  return tpti_utf8_valid(bytes->data + at - 1, bytes->used - at + 1) == bytes->used - at + 1;
}

/* The last place at or before `done` to begin at; 0: the beginning. */
static size_t place_before(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids,
                           size_t done) {
  tpti_buffer bytes;
  tpti_buffer_init(&bytes, t->memory);
  for (; done > 0; done--) {
    const char *text;
    size_t length;
    if (done % TICK_TOKENS == 0 && tpti_tick(run)) break;
    if (is_left_out(t, (uint32_t)ids[done - 1], &text, &length)) continue;
    if (ends_character(t, text, length, &bytes)) break;
  }
  tpti_buffer_free(&bytes);
  return done;
}

/* The beginning may lose characters (a leading space): decode so much of it that some text is left,
 * after which nothing more is lost.
 *   first     result; 0: there is no such place before `most` */
static tpt_status first_written(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids,
                                size_t most, tpti_buffer *scratch, size_t *first) {
  tpt_status status = TPT_OK;
  *first = 0;
  for (size_t count = 1; count <= most && !*first && !status; count *= 2) {
    scratch->used = 0;
    status = decode_part(t, run, ids, count, (tpti_decode_mode){.hold = true}, scratch);
    if (!status && scratch->used) *first = count;
  }
  return status;
}

static bool continues(char byte) { return ((uint8_t)byte & 0xc0) == 0x80; }

static tpt_status tail_from(const tpti_tokenizer *t, tpti_run *run, const int32_t *ids,
                            size_t count, size_t done, size_t from, tpti_buffer *before,
                            tpti_buffer *out) {
  tpti_decode_mode mode = {.hold = true, .middle = from > 0, .to = 0.5};
  before->used = 0;
  tpt_status status = decode_part(t, run, ids + from, done - from, mode, before);
  size_t start = out->used, known = before->used;
  mode.from = 0.5;
  mode.to = 1;
  if (!status) status = decode_part(t, run, ids + from, count - from, mode, out);
  if (status) return status;
  size_t all = out->used - start;
  if (known > all) known = all;
  /* A run of bytes that was good so far and then is not becomes other characters. */
  while (!t->raw_bytes && known < all && continues(out->data[start + known])) known++;
  memmove(out->data + start, out->data + start + known, all - known);
  out->used = start + all - known;
  return TPT_OK;
}

tpt_status tpti_tokenizer_decode_tail(const tpti_tokenizer *tokenizer, tpti_run *run,
                                      const int32_t *ids, size_t count, size_t done,
                                      tpti_buffer *out) {
  if (done > count)
    return tpti_fail(TPT_E_ARGUMENT, "done is %zu; allowed: 0 to count, %zu", done, count);
  tpt_status status = check_ids(tokenizer, run, ids, count);
  if (status) return status;
  tpti_buffer before;
  tpti_buffer_init(&before, tokenizer->memory);
  size_t from = can_begin_anywhere(tokenizer) ? place_before(tokenizer, run, ids, done) : 0;
  size_t first = 0;
  if (from) status = first_written(tokenizer, run, ids, from, &before, &first);
  if (first == 0 || first > from) from = 0;
  if (!status) status = tail_from(tokenizer, run, ids, count, done, from, &before, out);
  tpti_buffer_free(&before);
  return status;
}
