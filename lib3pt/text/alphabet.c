/* The byte-level alphabet, both ways, without a table: three ranges stand for themselves. */
#include "text/alphabet.h"

#include "base/text.h"

/* The hidden bytes, in their order: 0x00-0x20 (33 of them), 0x7f-0xa0 (34), 0xad. */
enum { FIRST_RUN = 33, SECOND_RUN = 34, SECOND_START = 0x7f, LAST_HIDDEN = 0xad };

static bool visible(uint32_t c) {
  return (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xff && c != LAST_HIDDEN);
}

uint32_t tpti_alphabet_char(uint8_t byte) {
  if (visible(byte)) return byte;
  if (byte < FIRST_RUN) return 0x100u + byte;
  if (byte != LAST_HIDDEN) return 0x100u + FIRST_RUN + (byte - (uint32_t)SECOND_START);
  return 0x100u + FIRST_RUN + SECOND_RUN;
}

int tpti_alphabet_byte(uint32_t c) {
  if (c < 0x100) return visible(c) ? (int)c : -1;
  c -= 0x100;
  if (c < FIRST_RUN) return (int)c;
  if (c < FIRST_RUN + SECOND_RUN) return (int)c - FIRST_RUN + SECOND_START;
  return c == FIRST_RUN + SECOND_RUN ? LAST_HIDDEN : -1;
}

bool tpti_alphabet_write(tpti_buffer *out, const char *bytes, size_t length) {
  size_t room;
  if (!tpti_mul(&room, length, 2)) room = SIZE_MAX;
  char *to = tpti_buffer_reserve(out, room); /* every character has at most two bytes */
  if (!to) return false;
  char *start = to;
  for (size_t i = 0; i < length; i++) {
    uint8_t byte = (uint8_t)bytes[i];
    if (byte > ' ' && byte < SECOND_START)
      *to++ = (char)byte;
    else
      to += tpti_utf8_write(tpti_alphabet_char(byte), to);
  }
  out->used += (size_t)(to - start);
  return true;
}

bool tpti_alphabet_read(tpti_buffer *out, const char *text, size_t length) {
  char *to = tpti_buffer_reserve(out, length);
  if (!to) return false;
  size_t made = 0;
  for (size_t i = 0; i < length;) {
    uint32_t c;
    i += tpti_utf8_read(text + i, &c);
    int byte = tpti_alphabet_byte(c);
    if (byte < 0) return tpti_buffer_append(out, text, length);
    to[made++] = (char)byte;
  }
  out->used += made;
  return true;
}
