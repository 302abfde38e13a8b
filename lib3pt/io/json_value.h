/* How a document lies in memory: json_read.c makes it, json.c shows it. */
#ifndef TPTI_IO_JSON_VALUE_H
#define TPTI_IO_JSON_VALUE_H

#include "io/json.h"

struct tpti_json {
  const char *key;  /* NULL but in an object */
  tpti_json *after; /* the next of the same array or object */
  union {
    tpti_json *first; /* member */
    const char *text;
    int64_t integer; /* also 0 or 1 */
    double real;
  } as;
  size_t count; /* members, or bytes of text */
  tpti_json_kind kind;
};

/* One block: this, the values in the order of the text, the strings. */
typedef struct tpti_json_document {
  const tpti_memory *memory;
  size_t bytes;
  tpti_json values[]; /* the first is the root */
} tpti_json_document;

#endif
