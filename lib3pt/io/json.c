/* JSON by jansson. jansson takes up to 75 bytes of memory for a byte of text and recurses for every
 * level, so a scan of the text bounds the number of values and the depth before it is called. It
 * allocates with malloc: its allocator can only be changed for the whole process, which is the
 * host's to decide. */
#include "io/json.h"

#include <string.h>

#include <jansson.h>

#include "base/random.h"
#include "base/size.h"

/* Levels of nesting; a tokenizer.json has about 8. One bit each in the scan below. */
enum { MAX_DEPTH = 64 };

typedef struct scan {
  const char *text;
  size_t length, at;
  size_t nodes;
  size_t depth;
  uint64_t arrays; /* bit d - 1: the container open at depth d is an array */
  bool pending;    /* the next thing to begin, if any, is a value */
} scan;

static void place_of(const char *text, size_t offset, size_t *line, size_t *column) {
  *line = 1;
  *column = 1;
  for (size_t i = 0; i < offset; i++) {
    *column += 1;
    if (text[i] != '\n') continue;
    *line += 1;
    *column = 1;
  }
}

/* The start of a message: "header: ", or nothing. */
#define SAID(what) (what) ? (what) : "", (what) ? ": " : ""

static tpt_status refuse(const scan *s, const char *what, const char *rule, size_t limit) {
  size_t line, column;
  place_of(s->text, s->at, &line, &column);
  return tpti_fail(TPT_E_FORMAT, "%s%sline %zu, column %zu: %s; at most %zu are allowed",
                   SAID(what), line, column, rule, limit);
}

/* From the opening quote to the closing one (or the end of the text). */
static void skip_string(scan *s) {
  for (s->at++; s->at < s->length && s->text[s->at] != '"'; s->at++) {
    if (s->text[s->at] == '\\') s->at++;
  }
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* One character outside strings. Exact for correct JSON; where the text is wrong, jansson stops
 * there too, and what was counted before bounds what it took. */
static void step(scan *s, char c) {
  if (is_space(c)) return;
  if (s->pending && c != ']') {
    s->nodes++;
    s->pending = false;
  }
  if (c == '"') {
    skip_string(s);
  } else if (c == '[' || c == '{') {
    uint64_t bit = s->depth < MAX_DEPTH ? UINT64_C(1) << s->depth : 0;
    s->arrays = c == '[' ? s->arrays | bit : s->arrays & ~bit;
    s->pending = c == '[';
    s->depth++;
  } else if (c == ']' || c == '}') {
    s->pending = false;
    if (s->depth > 0) s->depth--;
  } else if (c == ',') {
    s->pending = s->depth > 0 && (s->arrays >> (s->depth - 1) & 1);
  } else if (c == ':') {
    s->pending = true;
  }
}

/* The bytes that `at` has come past since it was `before`: now and then the run is asked. false: it
 * was stopped. */
enum { TICK_BYTES = 1 << 15 }; /* some 1 ms of parsing */
static bool go_on(tpti_run *run, size_t before, size_t at) {
  return before / TICK_BYTES == at / TICK_BYTES || !run || tpti_run_tick(run);
}

static tpt_status check_size(tpti_run *run, const char *text, size_t length, size_t max_nodes,
                             const char *what) {
  scan s = {.text = text, .length = length, .pending = true};
  for (size_t before = 0; s.at < length; before = s.at++) {
    step(&s, text[s.at]);
    if (s.depth > MAX_DEPTH) return refuse(&s, what, "too many nested levels", MAX_DEPTH);
    if (s.nodes > max_nodes) return refuse(&s, what, "too many values", max_nodes);
    if (!go_on(run, before, s.at)) return tpti_run_status(run);
  }
  return TPT_OK;
}

/* ---- parsing ---- */

/* What jansson asks for, a kilobyte at a time. */
typedef struct feed {
  tpti_run *run;
  const char *text;
  size_t length, at;
} feed;

static size_t more(void *to, size_t room, void *argument) {
  feed *f = argument;
  size_t bytes = tpti_least(room, f->length - f->at);
  if (!go_on(f->run, f->at, f->at + bytes)) return (size_t)-1;
  memcpy(to, f->text + f->at, bytes);
  f->at += bytes;
  return bytes;
}

/* jansson's tables have one seed a process, of the first who asks for it; by itself it would read
 * /dev/urandom, a file that nobody asked for. 0 would be "by itself". */
static void seed_tables(void) { json_object_seed((size_t)tpti_random_system() | 1); }

tpt_status tpti_json_parse(tpti_run *run, const char *text, size_t length, size_t max_nodes,
                           const char *what, tpti_json **root) {
  *root = NULL;
  tpt_status status = check_size(run, text, length, max_nodes, what);
  if (status) return status;
  json_error_t error = {0};
  feed f = {.run = run, .text = text, .length = length};
  seed_tables();
  json_t *parsed = json_load_callback(
      more, &f, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
  if (parsed) {
    *root = (tpti_json *)parsed;
    return TPT_OK;
  }
  if (run && run->stopped) return tpti_run_status(run);
  /* jansson leaves the text empty where an allocation failed. */
  if (!error.text[0] || json_error_code(&error) == json_error_out_of_memory) {
    return tpti_fail(TPT_E_MEMORY, "%s%sno memory to parse %zu bytes of JSON", SAID(what), length);
  }
  return tpti_fail(TPT_E_FORMAT, "%s%sline %d, column %d: not JSON as it must be: %s", SAID(what),
                   error.line, error.column, error.text);
}

/* ---- freeing: a long list or table is taken apart, member by member ---- */

enum { LONG = 1 << 10, TICK_MEMBERS = 1 << 12 /* some 1 ms */ };

static void take_apart(tpti_run *run, json_t *node) {
  for (size_t left = json_array_size(node); left > LONG; left--) {
    json_array_remove(node, left - 1);
    if (left % TICK_MEMBERS == 0) tpti_run_tick(run);
  }
  for (size_t left = json_object_size(node); left > LONG; left--) {
    json_object_del(node, json_object_iter_key(json_object_iter(node)));
    if (left % TICK_MEMBERS == 0) tpti_run_tick(run);
  }
}

/* The long ones stand at most as deep as model.vocab in a tokenizer.json. */
static void take_members_apart(tpti_run *run, json_t *object, int levels) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (levels > 1) take_members_apart(run, value, levels - 1);
    take_apart(run, value);
  }
}

void tpti_json_free(tpti_run *run, tpti_json *root) {
  if (run) take_members_apart(run, (json_t *)root, 2);
  json_decref((json_t *)root);
}

tpti_json_kind tpti_json_kind_of(const tpti_json *node) {
  if (!node) return TPTI_JSON_NULL;
  switch (json_typeof((const json_t *)node)) {
  case JSON_OBJECT:
    return TPTI_JSON_OBJECT;
  case JSON_ARRAY:
    return TPTI_JSON_ARRAY;
  case JSON_STRING:
    return TPTI_JSON_STRING;
  case JSON_INTEGER:
    return TPTI_JSON_INTEGER;
  case JSON_REAL:
    return TPTI_JSON_REAL;
  case JSON_TRUE:
  case JSON_FALSE:
    return TPTI_JSON_BOOL;
  case JSON_NULL:
    break;
  }
  return TPTI_JSON_NULL;
}

const char *tpti_json_kind_name(const tpti_json *node) {
  static const char *const names[] = {
      [TPTI_JSON_NULL] = "null",          [TPTI_JSON_BOOL] = "true or false",
      [TPTI_JSON_INTEGER] = "an integer", [TPTI_JSON_REAL] = "a number with a fraction or exponent",
      [TPTI_JSON_STRING] = "a string",    [TPTI_JSON_ARRAY] = "an array",
      [TPTI_JSON_OBJECT] = "an object"};
  return node ? names[tpti_json_kind_of(node)] : "absent";
}

bool tpti_json_bool(const tpti_json *node) { return json_is_true((const json_t *)node); }

int64_t tpti_json_integer(const tpti_json *node) {
  return json_integer_value((const json_t *)node);
}

double tpti_json_real(const tpti_json *node) { return json_number_value((const json_t *)node); }

const char *tpti_json_string(const tpti_json *node, size_t *length) {
  const json_t *string = (const json_t *)node;
  if (length) *length = json_string_length(string);
  return json_string_value(string);
}

size_t tpti_json_count(const tpti_json *node) {
  const json_t *container = (const json_t *)node;
  if (json_is_array(container)) return json_array_size(container);
  return json_object_size(container); /* 0 for anything else */
}

const tpti_json *tpti_json_at(const tpti_json *array, size_t index) {
  return (const tpti_json *)json_array_get((const json_t *)array, index);
}

const tpti_json *tpti_json_get(const tpti_json *object, const char *key) {
  return (const tpti_json *)json_object_get((const json_t *)object, key);
}

/* jansson's iterators take a pointer to a value that may change, though they change nothing. */
void *tpti_json_next(const tpti_json *object, void *cursor) {
  json_t *container = (json_t *)object;
  return cursor ? json_object_iter_next(container, cursor) : json_object_iter(container);
}

const char *tpti_json_member_key(void *cursor) { return json_object_iter_key(cursor); }

const tpti_json *tpti_json_member_value(void *cursor) {
  return (const tpti_json *)json_object_iter_value(cursor);
}

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

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

bool tpti_json_write_string(tpti_buffer *out, const char *text, size_t length) {
  tpti_buffer_append(out, "\"", 1);
  for (size_t i = 0; i < length;) {
    size_t run = 0;
    while (i + run < length && is_plain(text[i + run])) run++;
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
