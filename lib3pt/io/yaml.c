/* YAML text to values, one libyaml event at a time. libyaml alone is no guard: it accepts keys
 * given twice, and its time grows with the square of the nesting and of the number of directives.
 * Events come with at most 1024 characters read ahead, so stopping at the first one that is too
 * deep bounds the nesting; directives are all read before the first event, so they are refused
 * before. */
#include "io/yaml.h"

#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "base/text.h"

enum { PATH = 256, LINE_TEXT = 40 };

typedef struct walk {
  yaml_parser_t parser;
  yaml_event_t event; /* the current one; type YAML_NO_EVENT where there is none */
  const char *text;
  size_t length;
  const char *lone; /* the key of a lone value, else NULL */
  tpti_yaml_visit visit;
  void *user;
  char path[PATH];
  size_t path_length;
  size_t key_line; /* of the key that path ends with */
  size_t keys;
  tpti_buffer seen;  /* the paths so far, each with its NUL */
  tpti_buffer bytes; /* the items of a list, each with its NUL */
  tpti_buffer items; /* pointers to them */
} walk;

const char *tpti_yaml_show(const char *text, char shown[TPTI_YAML_SHOWN]) {
  const size_t room = TPTI_YAML_SHOWN - sizeof "\"...\"";
  size_t size = strlen(text), kept = size;
  if (size > room)
    for (kept = room; kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80;) kept--;
  char *out = shown;
  *out++ = '"';
  for (size_t i = 0; i < kept; i++) {
    unsigned char c = (unsigned char)text[i];
    *out++ = (char)(c < 0x20 || c == 0x7f ? '?' : c);
  }
  if (kept < size)
    for (int i = 0; i < 3; i++) *out++ = '.';
  *out++ = '"';
  *out = '\0';
  return shown;
}

/* Where a fault is, as the start of its message. */
static const char *where(const walk *w, size_t line, char text[PATH + LINE_TEXT]) {
  if (w->lone)
    snprintf(text, PATH + LINE_TEXT, "%.*s: ", PATH, w->lone);
  else
    snprintf(text, PATH + LINE_TEXT, "line %zu: ", line);
  return text;
}

static tpt_status refuse(const walk *w, size_t line, const char *format, ...) TPTI_PRINTF(3, 4);

static tpt_status refuse(const walk *w, size_t line, const char *format, ...) {
  char place[PATH + LINE_TEXT], what[TPTI_ERROR_TEXT];
  va_list args;
  va_start(args, format);
  tpti_vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return tpti_fail(TPT_E_CONFIG, "%s%s", where(w, line, place), what);
}

static size_t line_of(const walk *w) { return w->event.start_mark.line + 1; }

/* The line that byte `offset` is on. */
static size_t line_at(const char *text, size_t offset) {
  size_t line = 1;
  for (size_t i = 0; i < offset; i++) line += text[i] == '\n';
  return line;
}

static size_t last_line(const walk *w) {
  return line_at(w->text, w->length > 0 ? w->length - 1 : 0);
}

/* Is there a tab in the blanks that begin this line? */
static bool tab_begins(const walk *w, size_t line) {
  const char *at = w->text, *end = w->text + w->length;
  for (; line > 1 && at < end; at++) line -= *at == '\n';
  while (at < end && *at == ' ') at++;
  return at < end && *at == '\t';
}

static tpt_status parser_failure(const walk *w) {
  const yaml_parser_t *p = &w->parser;
  if (p->error == YAML_MEMORY_ERROR) return tpti_fail(TPT_E_MEMORY, "no memory for reading YAML");
  size_t line = p->problem_mark.line + 1, last = last_line(w);
  if (line > last) line = last; /* the end of the text lies behind its last line */
  if (p->error == YAML_READER_ERROR)
    return refuse(w, line_at(w->text, p->problem_offset),
                  "a control character is not allowed in YAML");
  if (tab_begins(w, line)) return refuse(w, line, "a tab indents the line, spaces are allowed");
  return refuse(w, line, "this is not YAML: %s", p->problem ? p->problem : "of unknown reason");
}

static bool has_anchor_or_tag(const yaml_event_t *event) {
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    return event->data.scalar.anchor || event->data.scalar.tag;
  case YAML_SEQUENCE_START_EVENT:
    return event->data.sequence_start.anchor || event->data.sequence_start.tag;
  case YAML_MAPPING_START_EVENT:
    return event->data.mapping_start.anchor || event->data.mapping_start.tag;
  default:
    return event->type == YAML_ALIAS_EVENT;
  }
}

/* Replaces the current event by the next. */
static tpt_status next(walk *w) {
  if (w->event.type != YAML_NO_EVENT) yaml_event_delete(&w->event);
  memset(&w->event, 0, sizeof w->event);
  if (!yaml_parser_parse(&w->parser, &w->event)) return parser_failure(w);
  if (has_anchor_or_tag(&w->event))
    return refuse(w, line_of(w), "anchors, aliases and tags are not allowed");
  if (w->event.type == YAML_SCALAR_EVENT &&
      memchr(w->event.data.scalar.value, '\0', w->event.data.scalar.length))
    return refuse(w, line_of(w), "a NUL character is not allowed");
  return TPT_OK;
}

static const char *scalar(const walk *w) { return (const char *)w->event.data.scalar.value; }

static bool is_plain(const walk *w) {
  return w->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static tpt_status tell(walk *w, tpti_yaml_node *node) {
  node->key = w->path;
  node->line = w->key_line;
  return w->visit(w->user, node);
}

static tpt_status scalar_value(walk *w) {
  const char *item = scalar(w);
  tpti_yaml_node node = {.plain = is_plain(w), .count = 1, .items = &item};
  return tell(w, &node);
}

static tpt_status append_item(walk *w, tpti_yaml_node *node) {
  if (w->event.type != YAML_SCALAR_EVENT)
    return refuse(w, line_of(w), "a list may hold plain values only");
  if (node->count == TPTI_YAML_ITEMS)
    return refuse(w, line_of(w), "a list of more than %d items", (int)TPTI_YAML_ITEMS);
  node->plain = node->plain && is_plain(w);
  node->count++;
  if (!tpti_buffer_append(&w->bytes, scalar(w), w->event.data.scalar.length + 1))
    return tpti_fail_memory_for(w->bytes.used, "a list of YAML");
  return TPT_OK;
}

/* The pointers are made last: bytes moves while it grows. */
static tpt_status tell_list(walk *w, tpti_yaml_node *node) {
  const char **items = NULL;
  if (node->count > 0) {
    items = tpti_buffer_reserve(&w->items, node->count * sizeof *items);
    if (!items) return tpti_fail_memory(node->count * sizeof *items);
    const char *at = w->bytes.data;
    for (size_t i = 0; i < node->count; i++, at += strlen(at) + 1) items[i] = at;
  }
  node->items = items;
  return tell(w, node);
}

static tpt_status list_value(walk *w) {
  tpti_yaml_node node = {.kind = TPTI_YAML_LIST, .plain = true};
  w->bytes.used = 0;
  for (;;) {
    tpt_status status = next(w);
    if (status) return status;
    if (w->event.type == YAML_SEQUENCE_END_EVENT) return tell_list(w, &node);
    status = append_item(w, &node);
    if (status) return status;
  }
}

static bool was_seen(const walk *w) {
  for (size_t at = 0; at < w->seen.used; at += strlen(w->seen.data + at) + 1)
    if (strcmp(w->seen.data + at, w->path) == 0) return true;
  return false;
}

/* Is the current event a key that may stand here? `path` is then its path. */
static tpt_status enter_key(walk *w) {
  size_t line = line_of(w), before = w->path_length;
  if (w->event.type != YAML_SCALAR_EVENT) return refuse(w, line, "a key must be a single word");
  const char *key = scalar(w);
  char shown[TPTI_YAML_SHOWN];
  if (strchr(key, '.'))
    return refuse(w, line, "unknown key %s: each part of a key stands on its own level",
                  tpti_yaml_show(key, shown));
  if (!*key || before + strlen(key) + 2 > sizeof w->path)
    return refuse(w, line, "unknown key %s", tpti_yaml_show(key, shown));
  w->path_length +=
      (size_t)snprintf(w->path + before, sizeof w->path - before, "%s%s", before ? "." : "", key);
  if (was_seen(w))
    return refuse(w, line, "the key %s is given twice", tpti_yaml_show(w->path, shown));
  if (++w->keys > TPTI_YAML_KEYS) return refuse(w, line, "more than %d keys", (int)TPTI_YAML_KEYS);
  w->key_line = line;
  if (!tpti_buffer_append(&w->seen, w->path, w->path_length + 1))
    return tpti_fail_memory(w->path_length + 1);
  return TPT_OK;
}

static tpt_status value(walk *w, size_t depth);

static tpt_status mapping_value(walk *w, size_t depth) {
  tpti_yaml_node node = {.kind = TPTI_YAML_MAPPING, .plain = true};
  tpt_status status = w->path_length > 0 ? tell(w, &node) : TPT_OK;
  size_t before = w->path_length;
  while (!status) {
    status = next(w);
    if (status || w->event.type == YAML_MAPPING_END_EVENT) return status;
    status = enter_key(w);
    if (!status) status = next(w);
    if (!status) status = value(w, depth + 1);
    w->path_length = before;
    w->path[before] = '\0';
  }
  return status;
}

/* The current event begins a value; the last event of the value is current afterwards. */
static tpt_status value(walk *w, size_t depth) {
  if (w->event.type == YAML_SCALAR_EVENT) return scalar_value(w);
  if (depth > TPTI_YAML_DEPTH)
    return refuse(w, line_of(w), "nesting deeper than %d is not allowed", (int)TPTI_YAML_DEPTH);
  return w->event.type == YAML_SEQUENCE_START_EVENT ? list_value(w) : mapping_value(w, depth);
}

/* The outermost value of a text that is not a lone one. */
static tpt_status root(walk *w) {
  if (w->event.type == YAML_MAPPING_START_EVENT) return value(w, 1);
  bool empty = w->event.type == YAML_SCALAR_EVENT && is_plain(w) && *scalar(w) == '\0';
  return empty ? TPT_OK : refuse(w, line_of(w), "keys with values are allowed here, nothing else");
}

static tpt_status nothing(walk *w) {
  const char *item = "";
  tpti_yaml_node node = {.plain = true, .count = 1, .items = &item};
  return w->lone ? tell(w, &node) : TPT_OK;
}

static tpt_status stream(walk *w) {
  tpt_status status = next(w);   /* the stream's start */
  if (!status) status = next(w); /* the document's */
  if (status) return status;
  if (w->event.type == YAML_STREAM_END_EVENT) return nothing(w);
  status = next(w);
  if (!status) status = w->lone ? value(w, TPTI_YAML_DEPTH) : root(w);
  if (!status) status = next(w); /* the document's end */
  if (!status) status = next(w);
  if (!status && w->event.type != YAML_STREAM_END_EVENT)
    status = refuse(w, line_of(w), "a second document is not allowed");
  return status;
}

/* Does a line, as YAML counts lines, begin at byte `at`? Its breaks are LF, CR, NEL, LS and PS; a
 * byte order mark may stand before the first line. */
static bool begins_line(const char *text, size_t at) {
  static const char *const before[] = {"\n",           "\r",           "\xc2\x85",
                                       "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"};
  if (at == 0) return true;
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    size_t size = strlen(before[i]);
    if (at >= size && memcmp(text + at - size, before[i], size) == 0) return true;
  }
  return false;
}

static tpt_status refuse_directives(const walk *w) {
  const char *end = w->text + w->length, *at = w->text;
  while (at < end && (at = memchr(at, '%', (size_t)(end - at)))) {
    size_t offset = (size_t)(at++ - w->text);
    if (begins_line(w->text, offset))
      return refuse(w, line_at(w->text, offset), "a line that begins with %% is not allowed");
  }
  return TPT_OK;
}

/* What must hold before libyaml sees the text. */
static tpt_status screen(const walk *w) {
  if (w->length > TPTI_YAML_BYTES)
    return tpti_fail(TPT_E_CONFIG, "a YAML text of %zu bytes, at most %d are allowed", w->length,
                     (int)TPTI_YAML_BYTES);
  size_t bad = tpti_utf8_valid(w->text, w->length);
  if (bad < w->length)
    return tpti_fail(TPT_E_ARGUMENT, "line %zu: byte %zu is not UTF-8", line_at(w->text, bad), bad);
  return refuse_directives(w);
}

static tpt_status run(walk *w) {
  tpt_status status = screen(w);
  if (status) return status;
  if (!yaml_parser_initialize(&w->parser)) return tpti_fail(TPT_E_MEMORY, "no memory for YAML");
  yaml_parser_set_input_string(&w->parser, (const unsigned char *)w->text, w->length);
  tpti_buffer_init(&w->seen, &tpti_memory_default);
  tpti_buffer_init(&w->bytes, &tpti_memory_default);
  tpti_buffer_init(&w->items, &tpti_memory_default);
  status = stream(w);
  yaml_event_delete(&w->event);
  yaml_parser_delete(&w->parser);
  tpti_buffer_free(&w->seen);
  tpti_buffer_free(&w->bytes);
  tpti_buffer_free(&w->items);
  return status;
}

tpt_status tpti_yaml_walk(const char *text, size_t length, tpti_yaml_visit visit, void *user) {
  walk w = {.text = text, .length = length, .visit = visit, .user = user};
  return run(&w);
}

tpt_status tpti_yaml_value(const char *text, const char *key, tpti_yaml_visit visit, void *user) {
  walk w = {.text = text, .length = strlen(text), .lone = key, .visit = visit, .user = user};
  w.path_length = strlen(key);
  if (w.path_length >= sizeof w.path)
    return tpti_fail(TPT_E_CONFIG, "a key of %zu bytes", w.path_length);
  memcpy(w.path, key, w.path_length);
  return run(&w);
}
