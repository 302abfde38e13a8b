/* Characters of JSON. */
#ifndef TPTI_IO_JSON_CHARS_H
#define TPTI_IO_JSON_CHARS_H

#include <stdbool.h>

static inline bool tpti_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Stands for itself in a string; of longer characters of UTF-8 every byte does. */
static inline bool tpti_json_plain(char c) {
  return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

#endif
