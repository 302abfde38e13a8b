/* JSON by jansson: strict (duplicate keys, bad UTF-8 and trailing bytes are refused), with sizes
 * bounded before anything is parsed. json.c is the only file that includes jansson.h. A node is
 * borrowed from its document. */
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

/* TPT_E_FORMAT with line and column; white space at both ends is accepted. what names the source in
 * the message ("header"), NULL where the caller adds it. max_nodes bounds memory: more values than
 * that are refused before parsing (counted by a scan of the text). run is ticked: TPT_E_CANCELLED;
 * it may be NULL. */
tpt_status tpti_json_parse(tpti_run *run, const char *text, size_t length, size_t max_nodes,
                           const char *what, tpti_json **root);

/* Ticks run too, and frees all of it wherever that is stopped; both may be NULL. */
void tpti_json_free(tpti_run *run, tpti_json *root);

tpti_json_kind tpti_json_kind_of(const tpti_json *node); /* NULL: TPTI_JSON_NULL */
const char *tpti_json_kind_name(const tpti_json *node);  /* "a string", for messages */
bool tpti_json_bool(const tpti_json *node);
int64_t tpti_json_integer(const tpti_json *node);
double tpti_json_real(const tpti_json *node); /* of an integer too */
const char *tpti_json_string(const tpti_json *node, size_t *length);

size_t tpti_json_count(const tpti_json *node); /* of an array or object, else 0 */
const tpti_json *tpti_json_at(const tpti_json *array, size_t index);
const tpti_json *tpti_json_get(const tpti_json *object, const char *key); /* NULL where absent */

/* Members in the order of the text: start with cursor NULL; NULL is the end. */
void *tpti_json_next(const tpti_json *object, void *cursor);
const char *tpti_json_member_key(void *cursor);
const tpti_json *tpti_json_member_value(void *cursor);

/* Writing goes straight into a buffer: the text of one string with its quotes and escapes. */
bool tpti_json_write_string(tpti_buffer *out, const char *text, size_t length);

#endif
