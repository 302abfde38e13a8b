/* JSON (RFC 8259), strict and bounded: of integers those of 64 bits, of texts UTF-8 alone, no key
 * twice in an object. json_read.c reads, json.c is what is read and how strings are written. All of
 * a document is one block of the caller's memory; a value is borrowed from it.
 *
 * Of our own because the libraries for it take an allocator for the whole process or none, and what
 * they do where malloc fails is the host's end or another text. tests/io/test_json.c compares it
 * with jansson. */
#ifndef TPTI_IO_JSON_H
#define TPTI_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/threads.h"

typedef struct tpti_json tpti_json; /* a value of any kind */

typedef enum tpti_json_kind {
  TPTI_JSON_NULL,
  TPTI_JSON_BOOL,
  TPTI_JSON_INTEGER,
  TPTI_JSON_REAL,
  TPTI_JSON_STRING,
  TPTI_JSON_ARRAY,
  TPTI_JSON_OBJECT
} tpti_json_kind;

/* The text of a document, and what it may hold. */
typedef struct tpti_json_source {
  const char *text;
  size_t length;
  size_t max_values; /* more are refused before memory is taken for them */
  const char *what;  /* names the text in messages ("header"); NULL where the caller adds it */
} tpti_json_source;

/* TPT_E_FORMAT with line and column, where also is said what is allowed; white space at both ends
 * is accepted. Ticks run, which may be NULL: TPT_E_CANCELLED. */
tpt_status tpti_json_parse(const tpti_memory *memory, tpti_run *run, const tpti_json_source *source,
                           tpti_json **root);
void tpti_json_free(tpti_json *root);

tpti_json_kind tpti_json_kind_of(const tpti_json *node); /* NULL: TPTI_JSON_NULL */
const char *tpti_json_kind_name(const tpti_json *node);  /* "a string", for messages */

/* 0, false or NULL of another kind. A string ends with a NUL, and may have others in it. */
bool tpti_json_bool(const tpti_json *node);
int64_t tpti_json_integer(const tpti_json *node);
double tpti_json_real(const tpti_json *node); /* of an integer too */
const char *tpti_json_string(const tpti_json *node, size_t *length);

/* Members of an array or an object, in the order of the text: NULL is the end. */
size_t tpti_json_count(const tpti_json *node); /* 0 for anything else */
const tpti_json *tpti_json_first(const tpti_json *node);
const tpti_json *tpti_json_after(const tpti_json *member);
const char *tpti_json_key(const tpti_json *member); /* without a NUL; NULL in an array */
const tpti_json *tpti_json_get(const tpti_json *object, const char *key); /* NULL where absent */

/* Writing goes straight into a buffer: the text of one string with its quotes and escapes. */
bool tpti_json_write_string(tpti_buffer *out, const char *text, size_t length);

#endif
