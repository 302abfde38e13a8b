/* What each step of a decoder does to a list of strings. */
#include "text/decode_step.h"

#include <string.h>

#include "base/text.h"
#include "text/alphabet.h"
#include "text/spacing.h"

void tpti_strings_init(tpti_strings *list, const tpti_memory *memory) {
  tpti_buffer_init(&list->text, memory);
  tpti_buffer_init(&list->ends, memory);
}

void tpti_strings_free(tpti_strings *list) {
  tpti_buffer_free(&list->text);
  tpti_buffer_free(&list->ends);
}

void tpti_strings_end(tpti_strings *list) {
  tpti_buffer_append(&list->ends, &list->text.used, sizeof list->text.used);
}

size_t tpti_strings_count(const tpti_strings *list) { return list->ends.used / sizeof(size_t); }

const char *tpti_strings_at(const tpti_strings *list, size_t index, size_t *length) {
  const size_t *ends = (const size_t *)(const void *)list->ends.data;
  size_t start = index ? ends[index - 1] : 0;
  *length = ends[index] - start;
  return tpti_buffer_at(&list->text, start);
}

/* ---- steps that make one string of all ---- */

static void fuse(const tpti_strings *in, tpti_strings *out) {
  tpti_buffer_append(&out->text, in->text.data, in->text.used);
  tpti_strings_end(out);
}

static tpt_status unbytes(const tpti_strings *in, tpti_decode_mode mode, tpti_strings *out) {
  tpti_buffer bytes;
  tpti_buffer_init(&bytes, in->text.memory);
  tpti_buffer_reserve(&bytes, in->text.used); /* failed is looked at below */
  for (size_t i = 0, length; i < tpti_strings_count(in); i++) {
    const char *text = tpti_strings_at(in, i, &length);
    if (!tpti_tick_item(mode.run, i, tpti_strings_count(in))) break;
    tpti_alphabet_read(&bytes, text, length);
  }
  tpt_status status = tpti_tick(mode.run);
  size_t used = bytes.used;
  if (mode.hold) used -= tpti_incomplete_bytes(bytes.data, used);
  if (mode.raw)
    tpti_buffer_append(&out->text, bytes.data, used);
  else if (!status)
    status = tpti_lossy_append(mode.run, &out->text, bytes.data, used);
  out->text.failed |= bytes.failed;
  tpti_strings_end(out);
  tpti_buffer_free(&bytes);
  return status;
}

/* ---- byte fallback ---- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int tpti_fallback_byte(const char *text, size_t length) {
  if (length != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>') return -1;
  int high = text[3] == '+' ? 0 : hex_digit(text[3]); /* the package takes "<0x+A>" too */
  int low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* The end of a run of bytes: its characters if they are all good, else one U+FFFD a byte. */
static void end_run(tpti_buffer *run, bool hold, tpti_strings *out) {
  static const char replacement[] = "\xef\xbf\xbd";
  size_t used = run->used;
  if (used == 0) return;
  run->used = 0;
  size_t kept = hold ? tpti_incomplete_bytes(run->data, used) : 0;
  if (tpti_utf8_valid(run->data, used - kept) == used - kept) {
    tpti_buffer_append(&out->text, run->data, used - kept);
    tpti_strings_end(out);
    return;
  }
  for (size_t i = 0; i < used; i++) {
    tpti_buffer_append(&out->text, replacement, sizeof replacement - 1);
    tpti_strings_end(out);
  }
}

static tpt_status fallback(const tpti_strings *in, tpti_decode_mode mode, tpti_strings *out) {
  tpti_buffer run;
  tpti_buffer_init(&run, in->text.memory);
  for (size_t i = 0, length; i < tpti_strings_count(in); i++) {
    const char *text = tpti_strings_at(in, i, &length);
    if (!tpti_tick_item(mode.run, i, tpti_strings_count(in))) break;
    int byte = tpti_fallback_byte(text, length);
    char one = (char)byte;
    if (byte >= 0) {
      tpti_buffer_append(&run, &one, 1);
      continue;
    }
    end_run(&run, false, out);
    tpti_buffer_append(&out->text, text, length);
    tpti_strings_end(out);
  }
  end_run(&run, mode.hold, out);
  out->text.failed |= run.failed;
  tpti_buffer_free(&run);
  return tpti_tick(mode.run);
}

/* ---- steps on every string by itself ---- */

static void trim(const tpti_step *step, bool keep_start, const char *text, size_t length,
                 tpti_strings *out) {
  const tpti_buffer *c = &step->content; /* one character */
  size_t start = 0, end = length;
  for (size_t i = 0; i < step->start && !keep_start; i++) {
    if (end - start < c->used || memcmp(text + start, c->data, c->used) != 0) break;
    start += c->used;
  }
  for (size_t i = 0; i < step->stop; i++) {
    if (end - start < c->used || memcmp(text + end - c->used, c->data, c->used) != 0) break;
    end -= c->used;
  }
  tpti_buffer_append(&out->text, text + start, end - start);
}

static void unmeta(const tpti_step *step, bool first, tpti_run *run, const char *text,
                   size_t length, tpti_strings *out) {
  const tpti_buffer *c = &step->content;
  size_t seen = 0;
  for (size_t i = 0; i < length && tpti_tick_some(run, seen++);) {
    bool here = length - i >= c->used && memcmp(text + i, c->data, c->used) == 0;
    if (!here) tpti_buffer_append(&out->text, text + i, 1);
    if (here && !(first && step->flag)) tpti_buffer_append(&out->text, " ", 1);
    i += here ? c->used : 1;
  }
}

typedef struct stage {
  const tpti_step *step;
  tpti_matcher *matcher;
  tpti_decode_mode mode;
  bool fused;
} stage;

static tpt_status each(const stage *s, const tpti_strings *in, tpti_strings *out) {
  tpti_spacing spacing = {0};
  tpt_status status = TPT_OK;
  for (size_t i = 0, length; i < tpti_strings_count(in) && !status; i++) {
    const char *text = tpti_strings_at(in, i, &length);
    if (!tpti_tick_item(s->mode.run, i, tpti_strings_count(in))) break;
    bool first = i == 0 && !s->mode.middle, space = s->step->kind == TPTI_STEP_SPACES && !first;
    if (s->step->kind == TPTI_STEP_WORDS && length)
      space = tpti_spacing_next(&spacing, text, length);
    if (space) tpti_buffer_append(&out->text, " ", 1);
    switch (s->step->kind) {
    case TPTI_STEP_REPLACE:
      status = tpti_step_replace(s->step, s->matcher, text, length, &out->text);
      break;
    case TPTI_STEP_TRIM:
      trim(s->step, s->fused && s->mode.middle, text, length, out);
      break;
    case TPTI_STEP_UNMETA:
      unmeta(s->step, first, s->mode.run, text, length, out);
      break;
    default:
      tpti_buffer_append(&out->text, text, length);
      break;
    }
    tpti_strings_end(out);
  }
  return status ? status : tpti_tick(s->mode.run);
}

static tpt_status run_stage(const stage *s, const tpti_strings *in, tpti_strings *out) {
  switch (s->step->kind) {
  case TPTI_STEP_UNBYTES:
    return unbytes(in, s->mode, out);
  case TPTI_STEP_FUSE:
    fuse(in, out);
    return TPT_OK;
  case TPTI_STEP_FALLBACK:
    return fallback(in, s->mode, out);
  default:
    return each(s, in, out);
  }
}

tpt_status tpti_decode_steps(const tpti_steps *steps, const tpti_matchers *matchers,
                             tpti_decode_mode mode, tpti_strings *list, tpti_strings *other) {
  stage s = {.mode = mode};
  tpt_status status = TPT_OK;
  for (size_t i = 0; i < steps->count && !status; i++) {
    s.step = steps->at + i;
    s.matcher = matchers->at[i];
    other->text.used = other->ends.used = 0;
    double share = (mode.to - mode.from) / (double)steps->count;
    if (mode.run)
      tpti_run_span(mode.run, mode.from + share * (double)i, mode.from + share * (double)(i + 1));
    status = run_stage(&s, list, other);
    tpti_pad(&other->text);
    tpti_strings swap = *list;
    *list = *other;
    *other = swap;
    s.fused |= s.step->kind == TPTI_STEP_FUSE || s.step->kind == TPTI_STEP_UNBYTES;
    if (!status && (list->text.failed || list->ends.failed || other->text.failed))
      status = tpti_fail_memory(list->text.used);
  }
  return status;
}
