/* Text results, UTF-8, and numbers that read and print alike in every locale. */
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double needs at most 767 significant digits to be told from its neighbours; longer texts are
 * refused. */
enum { LONGEST_NUMBER = 1024 };

/* The C library's own constant object: nothing is allocated, nothing need be freed. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

void tpti_text_result(const char *source, size_t size, char *text, size_t capacity,
                      size_t *length) {
  *length = size;
  if (capacity == 0) return;
  size_t fits = size < capacity ? size : capacity - 1;
  if (fits) memcpy(text, source, fits);
  text[fits] = '\0';
}

/* ---- UTF-8 ---- */

/* Bytes of the character that begins with `lead`; 0 where none does. */
static size_t character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* RFC 3629's table of the second byte: after E0 and F0 smaller ones would be overlong, after ED
 * they would be surrogates, after F4 beyond U+10FFFF. */
static bool second_byte_fits(unsigned char lead, unsigned char second) {
  unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= most;
}

static bool character_is_valid(const unsigned char *at, size_t length, size_t left) {
  if (length == 0 || length > left) return false;
  if (length > 1 && !second_byte_fits(at[0], at[1])) return false;
  for (size_t i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return false;
  return true;
}

size_t tpti_utf8_valid(const char *text, size_t size) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t at = 0;
  while (at < size) {
    size_t length = character_length(bytes[at]);
    if (!character_is_valid(bytes + at, length, size - at)) return at;
    at += length;
  }
  return size;
}

size_t tpti_utf8_cut(const char *text, size_t size) {
  size_t tail = 0; /* continuation bytes at the end */
  while (tail < 3 && tail < size && ((unsigned char)text[size - 1 - tail] & 0xc0) == 0x80) tail++;
  if (tail == size) return size;
  size_t length = character_length((unsigned char)text[size - 1 - tail]);
  return length > tail + 1 ? size - 1 - tail : size;
}

int tpti_shown(const char *text, size_t most) {
  return (int)tpti_utf8_cut(text, strnlen(text, most));
}

size_t tpti_utf8_read(const char *text, uint32_t *code_point) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t length = character_length(bytes[0]);
  uint32_t value = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) value = value << 6 | (bytes[i] & 0x3fu);
  *code_point = value;
  return length;
}

size_t tpti_utf8_write(uint32_t code_point, char text[4]) {
  if (code_point < 0x80) {
    text[0] = (char)code_point;
    return 1;
  }
  size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--) {
    text[i] = (char)(0x80 | (code_point & 0x3f));
    code_point >>= 6;
  }
  text[0] = (char)((0xf00u >> length & 0xff) | code_point);
  return length;
}

/* ---- numbers ---- */

static size_t digits_at(const char *text, size_t size, size_t at) {
  size_t start = at;
  while (at < size && text[at] >= '0' && text[at] <= '9') at++;
  return at - start;
}

static size_t sign_at(const char *text, size_t size, size_t at) {
  return at < size && (text[at] == '-' || text[at] == '+') ? 1 : 0;
}

/* sign? (digits [. digits?] | . digits) ([eE] sign? digits)? and nothing else */
static bool looks_like_double(const char *text, size_t size) {
  size_t at = sign_at(text, size, 0);
  size_t whole = digits_at(text, size, at), part = 0;
  at += whole;
  if (at < size && text[at] == '.') {
    part = digits_at(text, size, ++at);
    at += part;
  }
  if (whole + part == 0) return false;
  if (at == size || (text[at] != 'e' && text[at] != 'E')) return at == size;
  at++;
  at += sign_at(text, size, at);
  size_t exponent = digits_at(text, size, at);
  return exponent > 0 && at + exponent == size;
}

static bool text_is(const char *text, size_t size, const char *word) {
  return size == strlen(word) && memcmp(text, word, size) == 0;
}

/* The spellings of YAML 1.2's core schema. */
static bool parse_special(const char *text, size_t size, double *value) {
  static const char *const infinities[] = {".inf", ".Inf", ".INF"};
  static const char *const nans[] = {".nan", ".NaN", ".NAN"};
  size_t sign = sign_at(text, size, 0);
  for (size_t i = 0; i < 3; i++) {
    if (text_is(text, size, nans[i])) return *value = (double)NAN, true;
    if (!text_is(text + sign, size - sign, infinities[i])) continue;
    *value = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  return false;
}

bool tpti_parse_double(const char *text, size_t size, double *value) {
  char copy[LONGEST_NUMBER];
  if (size == 0 || size >= sizeof copy) return false;
  if (parse_special(text, size, value)) return true;
  if (!looks_like_double(text, size)) return false;
  memcpy(copy, text, size);
  copy[size] = '\0';
  double number = strtod_l(copy, NULL, c_locale());
  if (!isfinite(number)) return false; /* beyond DBL_MAX; what is too small becomes 0 */
  *value = number;
  return true;
}

/* The digits at text + at to the end; false on anything else and beyond 64 bits. */
static bool parse_magnitude(const char *text, size_t size, size_t at, uint64_t *magnitude) {
  if (at == size || digits_at(text, size, at) != size - at) return false;
  uint64_t sum = 0;
  for (; at < size; at++) {
    uint64_t digit = (uint64_t)(text[at] - '0');
    if (sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *magnitude = sum;
  return true;
}

bool tpti_parse_int64(const char *text, size_t size, int64_t *value) {
  size_t sign = sign_at(text, size, 0);
  uint64_t magnitude;
  if (!parse_magnitude(text, size, sign, &magnitude)) return false;
  if (sign && text[0] == '-') {
    if (magnitude > (uint64_t)INT64_MAX + 1) return false;
    *value = magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
    return true;
  }
  if (magnitude > (uint64_t)INT64_MAX) return false;
  *value = (int64_t)magnitude;
  return true;
}

bool tpti_parse_uint64(const char *text, size_t size, uint64_t *value) {
  size_t sign = sign_at(text, size, 0);
  uint64_t magnitude;
  if (!parse_magnitude(text, size, sign, &magnitude)) return false;
  if (sign && text[0] == '-' && magnitude > 0) return false;
  *value = magnitude;
  return true;
}

static size_t copy_word(char text[TPTI_NUMBER_TEXT], const char *word) {
  size_t size = strlen(word);
  memcpy(text, word, size + 1);
  return size;
}

static int print_number(char text[TPTI_NUMBER_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int print_number(char text[TPTI_NUMBER_TEXT], const char *format, ...) {
  va_list args;
  va_start(args, format);
  int size = tpti_vsnprintf(text, TPTI_NUMBER_TEXT, format, args);
  va_end(args);
  return size;
}

/* 1e-06 becomes 1.0e-06: YAML 1.1 takes it for a text without the point. */
static size_t add_point(char text[TPTI_NUMBER_TEXT], size_t size) {
  char *e = memchr(text, 'e', size);
  if (!e || memchr(text, '.', size)) return size;
  memmove(e + 2, e, size - (size_t)(e - text) + 1);
  memcpy(e, ".0", 2);
  return size + 2;
}

size_t tpti_format_double(double value, char text[TPTI_NUMBER_TEXT]) {
  if (isnan(value)) return copy_word(text, ".nan");
  if (isinf(value)) return copy_word(text, value > 0 ? ".inf" : "-.inf");
  /* Whole numbers that people count with stay whole: 10000, not 1e+04. */
  if (fabs(value) < 1e15 && value == floor(value)) return (size_t)print_number(text, "%.0f", value);
  int size = 0;
  for (int digits = 1; digits <= 17; digits++) { /* 17 always suffice for 53 bits */
    size = print_number(text, "%.*g", digits, value);
    if (strtod_l(text, NULL, c_locale()) == value) break;
  }
  return add_point(text, (size_t)size);
}

int tpti_vsnprintf(char *text, size_t capacity, const char *format, va_list args) {
  locale_t before = uselocale(c_locale());
  int size = vsnprintf(text, capacity, format, args);
  uselocale(before);
  return size;
}
