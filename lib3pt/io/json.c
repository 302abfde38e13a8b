/* JSON that was read, and strings of it that are written. */
#include "io/json.h"

#include <string.h>

#include "io/json_chars.h"
#include "io/json_value.h"

void tpti_json_free(tpti_json *root) {
  if (!root) return;
  char *block = (char *)root - offsetof(tpti_json_document, values);
  const tpti_json_document *document = (const void *)block;
  tpti_give(document->memory, block, document->bytes);
}

static bool is(const tpti_json *node, tpti_json_kind kind) { return node && node->kind == kind; }

tpti_json_kind tpti_json_kind_of(const tpti_json *node) {
  return node ? node->kind : TPTI_JSON_NULL;
}

const char *tpti_json_kind_name(const tpti_json *node) {
  static const char *const names[] = {
      [TPTI_JSON_NULL] = "null",          [TPTI_JSON_BOOL] = "true or false",
      [TPTI_JSON_INTEGER] = "an integer", [TPTI_JSON_REAL] = "a number with a fraction or exponent",
      [TPTI_JSON_STRING] = "a string",    [TPTI_JSON_ARRAY] = "an array",
      [TPTI_JSON_OBJECT] = "an object"};
  return node ? names[node->kind] : "absent";
}

bool tpti_json_bool(const tpti_json *node) { return is(node, TPTI_JSON_BOOL) && node->as.integer; }

int64_t tpti_json_integer(const tpti_json *node) {
  return is(node, TPTI_JSON_INTEGER) ? node->as.integer : 0;
}

double tpti_json_real(const tpti_json *node) {
  return is(node, TPTI_JSON_REAL) ? node->as.real : (double)tpti_json_integer(node);
}

const char *tpti_json_string(const tpti_json *node, size_t *length) {
  bool string = is(node, TPTI_JSON_STRING);
  if (length) *length = string ? node->count : 0;
  return string ? node->as.text : NULL;
}

static bool has_members(const tpti_json *node) {
  return is(node, TPTI_JSON_ARRAY) || is(node, TPTI_JSON_OBJECT);
}

size_t tpti_json_count(const tpti_json *node) { return has_members(node) ? node->count : 0; }

const tpti_json *tpti_json_first(const tpti_json *node) {
  return has_members(node) ? node->as.first : NULL;
}

const tpti_json *tpti_json_after(const tpti_json *member) { return member->after; }

const char *tpti_json_key(const tpti_json *member) { return member->key; }

const tpti_json *tpti_json_get(const tpti_json *object, const char *key) {
  if (!is(object, TPTI_JSON_OBJECT)) return NULL;
  const tpti_json *member = object->as.first;
  while (member && strcmp(member->key, key) != 0) member = member->after;
  return member;
}

/* ---- writing ---- */

/* The two-character escape of c, or 0. */
static char short_escape(char c) {
  switch (c) {
  case '"':
    return '"';
  case '\\':
    return '\\';
  case '\b':
    return 'b';
  case '\f':
    return 'f';
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  case '\t':
    return 't';
  default:
    return 0;
  }
}

bool tpti_json_write_string(tpti_buffer *out, const char *text, size_t length) {
  tpti_buffer_append(out, "\"", 1);
  for (size_t i = 0; i < length;) {
    size_t run = 0;
    while (i + run < length && tpti_json_plain(text[i + run])) run++;
    if (run) tpti_buffer_append(out, text + i, run);
    i += run;
    if (i == length) break;
    char c = text[i++];
    char escape[2] = {'\\', short_escape(c)};
    if (escape[1]) {
      tpti_buffer_append(out, escape, 2);
    } else {
      tpti_buffer_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
  }
  tpti_buffer_append(out, "\"", 1);
  return !out->failed;
}
