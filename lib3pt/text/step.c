/* Steps from text to text: a normalizer, and what a decoder shares with it. */
#include "text/step.h"

#include <string.h>

#include "base/text.h"
#include "text/alphabet.h"

void tpti_steps_free(tpti_steps *steps) {
  for (size_t i = 0; i < steps->count; i++) {
    tpti_buffer_free(&steps->at[i].content);
    tpti_regex_free(steps->at[i].regex);
  }
  steps->count = 0;
}

tpt_status tpti_matchers_create(const tpti_steps *steps, tpti_run *run, tpti_matchers *matchers) {
  *matchers = (tpti_matchers){.run = run};
  tpt_status status = TPT_OK;
  for (size_t i = 0; i < steps->count && !status; i++)
    if (steps->at[i].regex) {
      status = tpti_matcher_create(steps->at[i].regex, matchers->at + i);
      if (!status) tpti_matcher_watch(matchers->at[i], run);
    }
  if (status) tpti_matchers_free(matchers);
  return status;
}

void tpti_matchers_free(tpti_matchers *matchers) {
  for (size_t i = 0; i < TPTI_MAX_STEPS; i++) tpti_matcher_free(matchers->at[i]);
  *matchers = (tpti_matchers){0};
}

enum { WIDEST_VECTOR = 64 };

bool tpti_pad(tpti_buffer *text) {
  char *end = tpti_buffer_reserve(text, WIDEST_VECTOR);
  if (end) memset(end, 0, WIDEST_VECTOR);
  return end != NULL;
}

tpt_status tpti_copy_padded(tpti_run *run, tpti_buffer *copy, const char *text, size_t length) {
  enum { STRIDE = 1 << 20 };
  size_t room;
  copy->used = 0;
  if (!tpti_add(&room, length, WIDEST_VECTOR) || !tpti_buffer_reserve(copy, room))
    return tpti_fail_memory(length);
  for (size_t i = 0; i < length; i += STRIDE) {
    tpt_status status = i ? tpti_tick(run) : TPT_OK;
    if (status) return status;
    tpti_buffer_append(copy, text + i, length - i < STRIDE ? length - i : STRIDE);
  }
  return tpti_pad(copy) ? TPT_OK : tpti_fail_memory(length);
}

tpt_status tpti_alphabet_write_all(tpti_run *run, tpti_buffer *out, const char *text,
                                   size_t length) {
  enum { STRIDE = 1 << 18 };
  size_t room;
  if (!tpti_mul(&room, length, 2) || !tpti_buffer_reserve(out, room))
    return tpti_fail_memory(length);
  for (size_t i = 0; i < length; i += STRIDE) {
    tpt_status status = i ? tpti_tick(run) : TPT_OK;
    if (status) return status;
    tpti_alphabet_write(out, text + i, length - i < STRIDE ? length - i : STRIDE);
  }
  return TPT_OK;
}

bool tpti_is_space(uint32_t c) {
  return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

tpt_status tpti_matches_next(tpti_matches *m, bool *found, size_t *start, size_t *end) {
  while (m->from <= m->size) {
    tpt_status status = tpti_matcher_find(m->matcher, m->text, m->size, m->from, found, start, end);
    if (status || !*found) return status;
    bool repeated = *start == *end && m->any && m->last_end == *end;
    if (!repeated) {
      m->any = true;
      m->from = m->last_end = *end;
      return TPT_OK;
    }
    uint32_t c;
    m->from += m->from < m->size ? tpti_utf8_read(m->text + m->from, &c) : 1;
  }
  *found = false;
  return TPT_OK;
}

tpt_status tpti_step_replace(const tpti_step *step, tpti_matcher *matcher, const char *text,
                             size_t length, tpti_buffer *out) {
  tpti_matches matches = {.matcher = matcher, .text = text, .size = length};
  size_t done = 0, start, end;
  bool found = length > 0; /* an empty text is left alone, whatever the expression */
  while (found) {
    tpt_status status = tpti_matches_next(&matches, &found, &start, &end);
    if (status) return status;
    if (!found) break;
    tpti_buffer_append(out, text + done, start - done);
    tpti_buffer_append(out, step->content.data, step->content.used);
    done = end;
  }
  tpti_buffer_append(out, text + done, length - done);
  return out->failed ? tpti_fail_memory(length) : TPT_OK;
}

static size_t spaces_before(tpti_run *run, const char *text, size_t length) {
  size_t at = 0, seen = 0;
  for (uint32_t c; at < length && tpti_tick_some(run, seen++);) {
    size_t bytes = tpti_utf8_read(text + at, &c);
    if (!tpti_is_space(c)) break;
    at += bytes;
  }
  return at;
}

/* Where the white space at the end begins. */
static size_t end_of_text(tpti_run *run, const char *text, size_t start, size_t length) {
  size_t seen = 0;
  while (length > start && tpti_tick_some(run, seen++)) {
    size_t last = length - 1;
    uint32_t c;
    while (((uint8_t)text[last] & 0xc0) == 0x80) last--;
    tpti_utf8_read(text + last, &c);
    if (!tpti_is_space(c)) break;
    length = last;
  }
  return length;
}

static tpt_status strip(const tpti_step *step, tpti_run *run, const char *text, size_t length,
                        tpti_buffer *out) {
  size_t start = step->start ? spaces_before(run, text, length) : 0;
  size_t end = step->stop ? end_of_text(run, text, start, length) : length;
  tpti_buffer_append(out, text + start, end - start);
  return run && run->stopped ? tpti_tick(run) : TPT_OK;
}

static tpt_status normalize_one(const tpti_step *step, tpti_matcher *matcher, tpti_run *run,
                                const char *text, size_t length, tpti_buffer *out) {
  switch (step->kind) {
  case TPTI_STEP_REPLACE:
    return tpti_step_replace(step, matcher, text, length, out);
  case TPTI_STEP_STRIP:
    return strip(step, run, text, length, out);
  case TPTI_STEP_BYTES:
    return tpti_alphabet_write_all(run, out, text, length);
  default:
    if (length) tpti_buffer_append(out, step->content.data, step->content.used);
    tpti_buffer_append(out, text, length);
    return TPT_OK;
  }
}

tpt_status tpti_steps_normalize(const tpti_steps *steps, const tpti_matchers *matchers,
                                const char *text, size_t length, tpti_buffer *out,
                                tpti_buffer *scratch) {
  tpti_buffer *from = scratch, *to = out;
  tpt_status status = tpti_copy_padded(matchers->run, out, text, length);
  for (size_t i = 0; i < steps->count && !status; i++) {
    tpti_buffer *full = to;
    to = from;
    from = full;
    to->used = 0;
    status =
        normalize_one(steps->at + i, matchers->at[i], matchers->run, from->data, from->used, to);
    tpti_pad(to);
  }
  if (to != out && !status) status = tpti_copy_padded(matchers->run, out, to->data, to->used);
  if (!status && (out->failed || scratch->failed)) return tpti_fail_memory(length);
  return status;
}
