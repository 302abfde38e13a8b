/* Bytes that should be UTF-8 and may not be. */
#include <stdint.h>

#include "base/text.h"
#include "text/decode_step.h"

static bool within(uint8_t byte, uint8_t low, uint8_t high) { return byte >= low && byte <= high; }

/* Bytes of the character that this first byte begins; 0: it begins none. */
static size_t wanted_bytes(uint8_t first) {
  if (first < 0x80) return 1;
  if (within(first, 0xc2, 0xdf)) return 2;
  if (within(first, 0xe0, 0xef)) return 3;
  return within(first, 0xf0, 0xf4) ? 4 : 0;
}

/* The second byte shuts out overlong forms, surrogates and what lies beyond U+10FFFF. */
static bool fits_second(uint8_t first, uint8_t second) {
  uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return within(second, low, high);
}

/* How many bytes from here are the beginning of a character; at least 1. *whole: all of it. */
static size_t longest_beginning(const char *bytes, size_t length, bool *whole) {
  const uint8_t *b = (const uint8_t *)bytes;
  size_t wanted = wanted_bytes(b[0]), have = 1;
  while (have < wanted && have < length &&
         (have == 1 ? fits_second(b[0], b[1]) : within(b[have], 0x80, 0xbf)))
    have++;
  *whole = have == wanted;
  return have;
}

tpt_status tpti_lossy_append(tpti_run *run, tpti_buffer *out, const char *bytes, size_t length) {
  enum { STRIDE = 1 << 20 };
  size_t seen = 0, next = STRIDE;
  static const char replacement[] = "\xef\xbf\xbd";
  for (size_t i = 0; i < length;) {
    size_t left = length - i, some = left > STRIDE ? tpti_utf8_cut(bytes + i, STRIDE) : left;
    size_t valid = tpti_utf8_valid(bytes + i, some);
    bool asks = i >= next;
    if (asks) next = i + STRIDE;
    tpt_status status = asks || (++seen % TPTI_TICK_ITEMS == 0) ? tpti_tick(run) : TPT_OK;
    if (status) return status;
    tpti_buffer_append(out, bytes + i, valid);
    i += valid;
    if (i == length) break;
    if (valid == some) continue;
    bool whole;
    i += longest_beginning(bytes + i, length - i, &whole);
    tpti_buffer_append(out, replacement, sizeof replacement - 1);
  }
  return TPT_OK;
}

size_t tpti_incomplete_bytes(const char *bytes, size_t length) {
  for (size_t back = 1; back <= 3 && back <= length; back++) {
    uint8_t first = (uint8_t)bytes[length - back];
    bool whole;
    if (within(first, 0x80, 0xbf)) continue;
    if (longest_beginning(bytes + length - back, back, &whole) < back) return 0;
    return whole || wanted_bytes(first) == 0 ? 0 : back;
  }
  return 0;
}
