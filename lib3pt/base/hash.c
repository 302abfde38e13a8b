/* A multiplicative hash of eight bytes at a time. */
#include "base/hash.h"

#include <string.h>

uint64_t tpti_hash(uint64_t seed, const char *text, size_t length) {
  const uint64_t odd = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: spreads every bit upward */
  uint64_t hash = (length ^ seed) * odd, word;
  for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
    memcpy(&word, text, sizeof word);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
  }
  word = 0;
  memcpy(&word, text, length);
  hash = (hash ^ word) * odd;
  return hash ^ hash >> 32;
}

size_t tpti_table_mask(size_t count) {
  size_t places = 16;
  while (places / 2 < count) places *= 2;
  return places - 1;
}
