/* The byte-level alphabet of GPT-2: every byte as one visible character. Bytes that are visible in
 * Latin-1 stand for themselves; the others, in order, are U+0100 and up. */
#ifndef TPTI_TEXT_ALPHABET_H
#define TPTI_TEXT_ALPHABET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { TPTI_BYTES = 256, TPTI_ALPHABET_END = 0x144 }; /* code points from there on are not in it */

/* The character of a byte. */
uint32_t tpti_alphabet_char(uint8_t byte);

/* The byte of a character, or -1. */
int tpti_alphabet_byte(uint32_t code_point);

/* Appends the characters of the bytes. */
bool tpti_alphabet_write(tpti_buffer *out, const char *bytes, size_t length);

/* Appends the bytes of valid UTF-8 text; where one character is not of the alphabet, the text as
 * it is. */
bool tpti_alphabet_read(tpti_buffer *out, const char *text, size_t length);

#endif
