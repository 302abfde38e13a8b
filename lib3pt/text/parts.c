/* Reading the members of an object, and a part by its type. What is not known is refused by name
 * and place: a key that is passed over could mean another text. */
#include "text/parts.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "text/pattern.h"

enum { MAX_DEPTH = 4, SHOWN = 60 /* bytes of a foreign word in a message */ };

tpti_part tpti_part_of(const tpti_json *node, const char *path) {
  tpti_part part = {.node = node};
  snprintf(part.path, sizeof part.path, "%s", path);
  return part;
}

/* How messages call a part, and the start of a member's name. */
static const char *called(const tpti_part *part) {
  return *part->path ? part->path : "the outermost value";
}

#define INTO(part) (part)->path, *(part)->path ? "." : ""

tpti_part tpti_part_item(const tpti_part *parent, const char *key, size_t index,
                         const tpti_json *node) {
  tpti_part part = {.node = node};
  snprintf(part.path, sizeof part.path, "%.100s.%s[%zu]", parent->path, key, index);
  return part;
}

static bool is_listed(const char *keys, const char *key) {
  size_t length = strlen(key);
  for (const char *at = keys; length && (at = strstr(at, key)); at += length)
    if ((at == keys || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  return false;
}

tpt_status tpti_part_keys(const tpti_part *part, const char *keys) {
  if (tpti_json_kind_of(part->node) != TPTI_JSON_OBJECT)
    return tpti_fail(TPT_E_FORMAT, "%s: an object is wanted, not %s", called(part),
                     tpti_json_kind_name(part->node));
  for (const tpti_json *m = tpti_json_first(part->node); m; m = tpti_json_after(m))
    if (!is_listed(keys, tpti_json_key(m)))
      return tpti_fail(TPT_E_UNSUPPORTED, "%s: \"%.*s\" is not known; known: %s", called(part),
                       tpti_shown(tpti_json_key(m), SHOWN), tpti_json_key(m), keys);
  return TPT_OK;
}

static tpt_status wrong(const tpti_part *part, const char *key, const char *wanted) {
  const tpti_json *node = tpti_json_get(part->node, key);
  return tpti_fail(TPT_E_FORMAT, "%s%s%s: %s is wanted, not %s", INTO(part), key, wanted,
                   node ? tpti_json_kind_name(node) : "nothing");
}

tpt_status tpti_part_bool(const tpti_part *part, const char *key, const bool *absent, bool *value) {
  const tpti_json *node = tpti_json_get(part->node, key);
  if (!node && absent) {
    *value = *absent;
    return TPT_OK;
  }
  if (tpti_json_kind_of(node) != TPTI_JSON_BOOL) return wrong(part, key, "true or false");
  *value = tpti_json_bool(node);
  return TPT_OK;
}

tpt_status tpti_part_size(const tpti_part *part, const char *key, size_t most, size_t *value) {
  const tpti_json *node = tpti_json_get(part->node, key);
  if (tpti_json_kind_of(node) != TPTI_JSON_INTEGER) return wrong(part, key, "an integer");
  int64_t number = tpti_json_integer(node);
  if (number < 0 || (uint64_t)number > most)
    return tpti_fail(TPT_E_FORMAT, "%s%s%s is %lld; allowed: 0 to %zu", INTO(part), key,
                     (long long)number, most);
  *value = (size_t)number;
  return TPT_OK;
}

tpt_status tpti_part_string(const tpti_part *part, const char *key, const char *absent,
                            const char **text, size_t *length) {
  const tpti_json *node = tpti_json_get(part->node, key);
  if (tpti_json_kind_of(node) == TPTI_JSON_NULL && absent) {
    *text = absent;
    *length = strlen(absent);
    return TPT_OK;
  }
  if (tpti_json_kind_of(node) != TPTI_JSON_STRING) return wrong(part, key, "a string");
  *text = tpti_json_string(node, length);
  return TPT_OK;
}

/* ---- a part by its type ---- */

static tpt_status unknown_type(const tpti_part_types *types, const tpti_part *part,
                               const char *type) {
  char known[200];
  size_t used = 0;
  for (size_t i = 0; i < types->count && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", types->at[i].name);
  return tpti_fail(TPT_E_UNSUPPORTED, "%s: type %.*s is not supported; supported: %sSequence",
                   part->path, tpti_shown(type, SHOWN), type, known);
}

static tpt_status read_sequence(tpti_part_reader *reader, const tpti_part_types *types,
                                const tpti_part *part) {
  const tpti_json *list = tpti_json_get(part->node, types->list);
  char keys[64];
  snprintf(keys, sizeof keys, "type %s", types->list);
  tpt_status status = tpti_part_keys(part, keys);
  if (!status && tpti_json_kind_of(list) != TPTI_JSON_ARRAY)
    status = wrong(part, types->list, "an array");
  if (!status && reader->depth >= MAX_DEPTH)
    status = tpti_fail(TPT_E_UNSUPPORTED, "%s: more than %d Sequences in each other", part->path,
                       MAX_DEPTH);
  reader->depth++;
  const tpti_json *node = tpti_json_first(list);
  for (size_t i = 0; node && !status; node = tpti_json_after(node), i++) {
    tpti_part item = tpti_part_item(part, types->list, i, node);
    status = tpti_read_part(reader, types, &item);
  }
  reader->depth--;
  return status;
}

tpt_status tpti_read_part(tpti_part_reader *reader, const tpti_part_types *types,
                          const tpti_part *part) {
  const char *type;
  size_t length;
  if (tpti_json_kind_of(part->node) != TPTI_JSON_OBJECT)
    return tpti_fail(TPT_E_FORMAT, "%s: an object is wanted, not %s", called(part),
                     tpti_json_kind_name(part->node));
  tpt_status status = tpti_part_string(part, "type", NULL, &type, &length);
  if (status) return status;
  if (strcmp(type, "Sequence") == 0) return read_sequence(reader, types, part);
  for (size_t i = 0; i < types->count; i++) {
    if (strcmp(type, types->at[i].name) != 0) continue;
    char keys[128];
    snprintf(keys, sizeof keys, "type %s", types->at[i].keys);
    status = tpti_part_keys(part, keys);
    return status ? status : types->at[i].read(reader, part);
  }
  return unknown_type(types, part, type);
}

/* ---- steps ---- */

tpt_status tpti_add_step(tpti_part_reader *reader, tpti_step_kind kind, tpti_step **step) {
  tpti_steps *steps = reader->steps;
  if (steps->count == TPTI_MAX_STEPS)
    return tpti_fail(TPT_E_UNSUPPORTED, "a Sequence of more than %d steps", TPTI_MAX_STEPS);
  *step = steps->at + steps->count++;
  **step = (tpti_step){.kind = kind};
  tpti_buffer_init(&(*step)->content, reader->memory);
  return TPT_OK;
}

tpt_status tpti_step_content(tpti_step *step, const char *text, size_t length) {
  return tpti_buffer_append(&step->content, text, length) ? TPT_OK : tpti_fail_memory(length);
}

static tpt_status compile(tpti_part_reader *reader, const tpti_part *part, tpti_step *step,
                          bool is_regex) {
  const char *text;
  size_t length;
  tpt_status status = tpti_part_string(part, is_regex ? "Regex" : "String", NULL, &text, &length);
  if (status) return status;
  if (length == 0) return tpti_fail(TPT_E_UNSUPPORTED, "%s: an empty pattern", part->path);
  status = is_regex ? tpti_pattern_compile(reader->memory, text, length, &step->regex)
                    : tpti_pattern_literal(reader->memory, text, length, &step->regex);
  if (status != TPT_E_UNSUPPORTED) return status;
  return tpti_fail(status, "%s: %s", part->path, tpti_error_text());
}

tpt_status tpti_read_pattern(tpti_part_reader *reader, const tpti_part *part, tpti_step *step,
                             bool *is_regex) {
  tpti_part pattern = {.node = tpti_json_get(part->node, "pattern")};
  snprintf(pattern.path, sizeof pattern.path, "%.140s.pattern", part->path);
  tpt_status status = tpti_part_keys(&pattern, "String Regex");
  if (status) return status;
  if (tpti_json_count(pattern.node) != 1)
    return tpti_fail(TPT_E_FORMAT, "%s: one of String and Regex is wanted", pattern.path);
  *is_regex = tpti_json_get(pattern.node, "Regex") != NULL;
  return compile(reader, &pattern, step, *is_regex);
}

tpt_status tpti_read_replace(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  const char *content = "";
  size_t length;
  bool is_regex = false;
  tpt_status status = tpti_add_step(reader, TPTI_STEP_REPLACE, &step);
  if (!status) status = tpti_read_pattern(reader, part, step, &is_regex);
  if (!status) status = tpti_part_string(part, "content", NULL, &content, &length);
  if (status) return status;
  /* Versions of the package differ on whether "$1" names a group. */
  if (is_regex && memchr(content, '$', length))
    return tpti_fail(TPT_E_UNSUPPORTED, "%s.content: '$' beside a Regex", part->path);
  return tpti_step_content(step, content, length);
}
