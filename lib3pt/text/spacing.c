/* Rules of English prose: no space before what closes, none after what opens, quotes in turn, one
 * word across apostrophes and hyphens, one number across points. */
#include "text/spacing.h"

#include <string.h>

#include "base/text.h"

static const char CLOSERS[] = ".,;:!?)]}%\u2019\u201d\u00bb\u2026\u00b0\u3001\u3002";
static const char OPENERS[] = "([{$#@\u2018\u201c\u00ab\u00bf\u00a1\u00a3\u20ac";
static const char JOINERS[] = "-/\\\u2010\u2011\u2013\u2014"; /* hyphens and dashes: both sides */

/* What an apostrophe joins to the word before it. */
static const char *const ENDINGS[] = {"s", "t", "d", "m", "re", "ve", "ll", "em", "clock"};

static bool is_in(const char *set, const char *character, size_t bytes) {
  for (size_t i = 0, step; set[i]; i += step) {
    uint32_t c;
    step = tpti_utf8_read(set + i, &c);
    if (step == bytes && memcmp(set + i, character, bytes) == 0) return true;
  }
  return false;
}

static bool is_word(const char *token) {
  uint8_t c = (uint8_t)token[0];
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* Beyond ASCII a token is a word unless its first character is one of the punctuation above or of
 * the block of general punctuation. */
static bool is_wide_word(const char *token) {
  uint32_t c;
  tpti_utf8_read(token, &c);
  return c >= 0xc0 && c != 0xd7 && c != 0xf7 && (c < 0x2010 || c > 0x206f) &&
         (c < 0x3000 || c > 0x3004);
}

static bool is_number(const char *token, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (token[i] < '0' || token[i] > '9') return false;
  return true;
}

static bool is_ending(const char *token, size_t length) {
  for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
    size_t j = 0;
    while (j < length && ENDINGS[i][j] && (token[j] | 32) == ENDINGS[i][j]) j++;
    if (j == length && !ENDINGS[i][j]) return true;
  }
  return false;
}

static bool space_before_word(const tpti_spacing *s, const char *token, size_t length) {
  bool number = is_number(token, length);
  if (s->apostrophe) return !is_ending(token, length);
  if (s->point && number) return false;
  if (s->separator && number) return length != 3; /* 1,000 but 1, 2 */
  return !s->glue;
}

static bool space_before_mark(const tpti_spacing *s, const char *token) {
  uint32_t c;
  size_t bytes = tpti_utf8_read(token, &c);
  if (s->glue || is_in(CLOSERS, token, bytes) || is_in(JOINERS, token, bytes)) return false;
  if (c == '"') return !s->quoted;
  if (c == '\'') return !s->word;
  return true;
}

static void after_word(tpti_spacing *s, const char *token, size_t length) {
  bool quoted = s->quoted;
  *s = (tpti_spacing){.begun = true, .quoted = quoted, .word = true};
  s->number = is_number(token, length);
}

static size_t last_character(const char *token, size_t length) {
  size_t at = length - 1;
  while (at > 0 && ((uint8_t)token[at] & 0xc0) == 0x80) at--;
  return at;
}

static void after_mark(tpti_spacing *s, const char *token, size_t length) {
  tpti_spacing next = {.begun = true, .quoted = s->quoted};
  for (size_t i = 0; i < length; i++) next.quoted ^= token[i] == '"';
  size_t last = last_character(token, length), bytes = length - last;
  bool quote = token[last] == '\'';
  next.apostrophe = length == 1 && quote && s->word;
  next.point = length == 1 && s->number && (*token == '.' || *token == ':');
  next.separator = length == 1 && s->number && *token == ',';
  next.glue = is_in(OPENERS, token + last, bytes) || is_in(JOINERS, token + last, bytes) ||
              (token[last] == '"' && next.quoted) || (quote && length == 1 && !s->word);
  *s = next;
}

bool tpti_spacing_next(tpti_spacing *s, const char *token, size_t length) {
  bool word = is_word(token) || is_wide_word(token);
  bool space = word ? space_before_word(s, token, length) : space_before_mark(s, token);
  space = space && s->begun;
  if (word)
    after_word(s, token, length);
  else
    after_mark(s, token, length);
  return space;
}
