/* Classes, properties and escapes of a regular expression, from Oniguruma's spelling to PCRE2's. */
#include "text/pattern_class.h"

#include <string.h>

#include "base/text.h"
#include "text/pattern.h"

bool tpti_class_refuse(tpti_class_reader *in, const char *what) {
  in->refused = what;
  return false;
}

bool tpti_class_sees(const tpti_class_reader *in, const char *text) {
  size_t bytes = strlen(text);
  return in->length - in->at >= bytes && memcmp(in->text + in->at, text, bytes) == 0;
}

void tpti_class_emit(tpti_class_reader *in, const char *text) {
  tpti_buffer_append(&in->out, text, strlen(text));
}

void tpti_class_write(tpti_class_reader *in, uint32_t c) {
  tpti_buffer_printf(&in->out, "\\x{%x}", c);
}

/* ---- escapes of one character ---- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t read_hex(tpti_class_reader *in, size_t most, uint32_t *value) {
  size_t digits = 0;
  *value = 0;
  for (; digits < most && in->at < in->length; digits++, in->at++) {
    int digit = hex_digit(in->text[in->at]);
    if (digit < 0) break;
    *value = *value * 16 + (uint32_t)digit;
  }
  return digits;
}

static bool is_scalar(uint32_t c) { return c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff); }

/* \x41 (ASCII: above it Oniguruma means a byte), \x{1f600}, \u00e9. */
static bool read_number_escape(tpti_class_reader *in, char kind, uint32_t *c) {
  in->at += 2;
  bool braces = kind == 'x' && tpti_class_sees(in, "{");
  in->at += braces;
  size_t digits = read_hex(in, braces ? 6 : kind == 'x' ? 2 : 4, c);
  bool fine = braces ? digits > 0 && tpti_class_sees(in, "}") : digits == (kind == 'x' ? 2u : 4u);
  fine = fine && is_scalar(*c) && (kind != 'x' || braces || *c < 0x80);
  if (!fine) return tpti_class_refuse(in, "this character by number");
  in->at += braces;
  return true;
}

bool tpti_class_escape(tpti_class_reader *in, uint32_t *code_point) {
  static const char names[] = "ntrfve",
                    values[] = "\n\t\r\f\v\x1b"; /* \v is one character to Ruby */
  static const char marks[] = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  char c = in->at + 1 < in->length ? in->text[in->at + 1] : 0;
  if (c == 'x' || c == 'u') return read_number_escape(in, c, code_point);
  const char *name = c ? strchr(names, c) : NULL;
  if (!name && !(c && strchr(marks, c))) return tpti_class_refuse(in, "this escape");
  *code_point = (uint32_t)(uint8_t)(name ? values[name - names] : c);
  in->at += 2;
  return true;
}

/* ---- properties ---- */

/* General categories, of which PCRE2 and Oniguruma differ only in the age of their tables. */
static const char *const CATEGORIES[] = {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc",
                                         "Me", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps",
                                         "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So",
                                         "Z",  "Zs", "Zl", "Zp", "Cc", "Cf"};

/* Scripts: the character's own one; PCRE2's short form means its extensions too. */
static const char *const SCRIPTS[] = {"Arabic",   "Armenian", "Bengali", "Cyrillic", "Devanagari",
                                      "Georgian", "Greek",    "Han",     "Hangul",   "Hebrew",
                                      "Hiragana", "Katakana", "Khmer",   "Lao",      "Latin",
                                      "Tamil",    "Telugu",   "Thai"};

static bool is_listed(const char *const *list, size_t count, const char *name, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (strlen(list[i]) == length && memcmp(list[i], name, length) == 0) return true;
  return false;
}

bool tpti_class_property(tpti_class_reader *in) {
  bool negated = in->text[in->at + 1] == 'P';
  const char *name = in->text + in->at + 3, *end = in->text + in->length;
  if (in->length - in->at < 4 || name[-1] != '{') return tpti_class_refuse(in, "this property");
  if (*name == '^') {
    negated = !negated;
    name++;
  }
  const char *close = memchr(name, '}', (size_t)(end - name));
  size_t length = close ? (size_t)(close - name) : 0;
  bool category = is_listed(CATEGORIES, sizeof CATEGORIES / sizeof *CATEGORIES, name, length);
  bool script = is_listed(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS, name, length);
  if (!category && !script) return tpti_class_refuse(in, "this property");
  tpti_buffer_printf(&in->out, "\\%c{%s%.*s}", negated ? 'P' : 'p', script ? "sc:" : "",
                     (int)length, name);
  in->at = (size_t)(close + 1 - in->text);
  return true;
}

/* ---- classes ---- */

/* What is not white space, as ranges: a class cannot hold the complement of another. */
#define NOT_SPACE                                                                                  \
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"  \
  "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-"         \
  "\\x{10ffff}"

static const struct {
  char escape;
  const char *written;
} SETS[] = {{'s', TPTI_SPACE},
            {'S', NOT_SPACE},
            {'d', "\\p{Nd}"},
            {'D', "\\P{Nd}"},
            {'w', TPTI_ONIG_CLASS_WORD}};

/* A set inside a class; *found false where the escape is none. */
static bool read_set(tpti_class_reader *in, bool *found) {
  char c = in->at + 1 < in->length ? in->text[in->at + 1] : 0;
  *found = c == 'p' || c == 'P';
  if (*found) return tpti_class_property(in);
  for (size_t i = 0; i < sizeof SETS / sizeof *SETS; i++) {
    if (SETS[i].escape != c) continue;
    *found = true;
    tpti_class_emit(in, SETS[i].written);
    in->at += 2;
  }
  return true;
}

static bool read_member(tpti_class_reader *in, uint32_t *c) {
  if (in->at >= in->length) return tpti_class_refuse(in, "'[' without ']'");
  if (tpti_class_sees(in, "[")) return tpti_class_refuse(in, "a class in a class");
  if (tpti_class_sees(in, "&&")) return tpti_class_refuse(in, "the intersection of classes");
  if (tpti_class_sees(in, "\\")) return tpti_class_escape(in, c);
  in->at += tpti_utf8_read(in->text + in->at, c);
  return true;
}

/* A hyphen stands for itself where the class begins or ends. */
static bool begins_range(const tpti_class_reader *in) {
  return tpti_class_sees(in, "-") && !tpti_class_sees(in, "-]");
}

static bool read_item(tpti_class_reader *in, bool caseless) {
  uint32_t low, high;
  bool set = false;
  if (tpti_class_sees(in, "\\") && !read_set(in, &set)) return false;
  if (set && (caseless || begins_range(in)))
    return tpti_class_refuse(in, caseless ? "a set where case is ignored" : "a range of sets");
  if (set) return true;
  if (!read_member(in, &low)) return false;
  high = low;
  if (begins_range(in)) {
    in->at++;
    if (!read_member(in, &high)) return false;
    if (high < low || begins_range(in)) return tpti_class_refuse(in, "this range");
  }
  if (caseless && high >= 0x80) return tpti_class_refuse(in, "this where case is ignored");
  tpti_class_write(in, low);
  if (high != low) {
    tpti_class_emit(in, "-");
    tpti_class_write(in, high);
  }
  return true;
}

bool tpti_class_read(tpti_class_reader *in, bool caseless) {
  in->at++;
  tpti_class_emit(in, "[");
  if (tpti_class_sees(in, "^")) {
    if (caseless) return tpti_class_refuse(in, "a negated class where case is ignored");
    tpti_class_emit(in, "^");
    in->at++;
  }
  if (tpti_class_sees(in, "]")) return tpti_class_refuse(in, "']' first in a class");
  while (in->at < in->length && !tpti_class_sees(in, "]"))
    if (!read_item(in, caseless)) return false;
  if (in->at >= in->length) return tpti_class_refuse(in, "'[' without ']'");
  tpti_class_emit(in, "]");
  in->at++;
  return true;
}
