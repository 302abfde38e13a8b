/* Counts values and levels by brackets and commas: every comma outside of strings, and everything
 * but a bracket's other half behind a bracket, begins one. */
#include "io/json_count.h"

#include <stdio.h>

#include "io/json_chars.h"

enum { MAX_DEPTH = 64 }; /* a tokenizer.json has about 8 */

tpt_status tpti_json_wrong(const tpti_json_source *source, size_t at, const char *reason) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < at; i++) {
    bool continues = (source->text[i] & 0xc0) == 0x80; /* a character of UTF-8 */
    column = source->text[i] == '\n' ? 1 : column + !continues;
    line += source->text[i] == '\n';
  }
  return tpti_fail(TPT_E_FORMAT, "%s%sline %zu, column %zu: not JSON as it must be: %s",
                   source->what ? source->what : "", source->what ? ": " : "", line, column,
                   reason);
}

typedef struct counter {
  size_t at, values, depth;
  bool opened; /* a bracket, and nothing since */
} counter;

/* From the opening quote to the closing one, or the end of the text. */
static void skip_string(counter *c, const tpti_json_source *source) {
  for (c->at++; c->at < source->length && source->text[c->at] != '"'; c->at++)
    if (source->text[c->at] == '\\') c->at++;
}

static void step(counter *c, const tpti_json_source *source) {
  char byte = source->text[c->at];
  if (tpti_json_space(byte)) return;
  bool closes = byte == ']' || byte == '}';
  c->values += (c->opened && !closes) || byte == ',';
  c->opened = byte == '[' || byte == '{';
  c->depth += c->opened;
  c->depth -= closes && c->depth > 0;
  if (byte == '"') skip_string(c, source);
}

static tpt_status refuse(const counter *c, const tpti_json_source *source, const char *what,
                         size_t most) {
  char text[80];
  snprintf(text, sizeof text, "too many %s; at most %zu are allowed", what, most);
  return tpti_json_wrong(source, c->at, text);
}

tpt_status tpti_json_count_values(tpti_run *run, const tpti_json_source *source, size_t *values) {
  counter c = {.values = 1};
  for (size_t ticked = 0; c.at < source->length; c.at++) {
    step(&c, source);
    if (c.depth > MAX_DEPTH) return refuse(&c, source, "nested levels", MAX_DEPTH);
    if (c.values > source->max_values) return refuse(&c, source, "values", source->max_values);
    if (!run || c.at - ticked < TPTI_JSON_PIECE) continue;
    if (!tpti_run_tick(run)) return tpti_run_status(run);
    ticked = c.at;
  }
  *values = c.values;
  return TPT_OK;
}
