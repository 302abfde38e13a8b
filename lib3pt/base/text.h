/* Text and numbers, the same in every locale. */
#ifndef TPTI_BASE_TEXT_H
#define TPTI_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TPTI_NUMBER_TEXT = 32 }; /* room for any number below, with its NUL */

/* A public text result: *length is the full length; at most capacity bytes are written,
 * NUL-terminated where capacity > 0. */
void tpti_text_result(const char *source, size_t size, char *text, size_t capacity, size_t *length);

/* The first byte that is not UTF-8 (RFC 3629: no surrogates, no overlong forms), or `size`. */
size_t tpti_utf8_valid(const char *text, size_t size);

/* The longest beginning of `text` that does not end inside a character: where to cut a text. */
size_t tpti_utf8_cut(const char *text, size_t size);

/* For "%.*s": the bytes to show of a text with a NUL, at most `most`, whole characters. */
int tpti_shown(const char *text, size_t most);

/* Decodes one character of valid UTF-8 at text; its length in bytes is the result, 1 to 4. */
size_t tpti_utf8_read(const char *text, uint32_t *code_point);

/* Writes one character; its length in bytes is the result. */
size_t tpti_utf8_write(uint32_t code_point, char text[4]);

/* The whole text is one number of the C locale (no white space, no hex, no inf or nan unless
 * written ".inf",
 * ".nan" as YAML does) within a double's range. false: it is not, or has over 1023 bytes. Integers:
 * decimal digits with an optional sign, in range.
 */
bool tpti_parse_double(const char *text, size_t size, double *value);
bool tpti_parse_int64(const char *text, size_t size, int64_t *value);
bool tpti_parse_uint64(const char *text, size_t size, uint64_t *value);

/* The fewest digits that read back as the same double, as %g writes them; whole numbers below 1e15
 * without an exponent; ".nan", ".inf", "-.inf". The length is the result. */
size_t tpti_format_double(double value, char text[TPTI_NUMBER_TEXT]);

/* vsnprintf in the C locale, for this thread and this call only. */
int tpti_vsnprintf(char *text, size_t capacity, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
