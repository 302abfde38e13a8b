/* Descriptions: presets, keys set and read, the text of all of them, a rule that is broken. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

static json_t *preset_of(const char *name) {
  tpt_config *made;
  size_t count, inference, training;
  json_t *entry = json_object();
  check(tpt_config_preset(name, &made));
  check(tpt_config_parameter_count(made, &count));
  check(tpt_config_memory(made, TPT_MEMORY_INFERENCE, &inference));
  check(tpt_config_memory(made, TPT_MEMORY_TRAINING, &training));
  put(entry, "name", json_string(name));
  put(entry, "parameter_count", of_size(count));
  put(entry, "inference", of_size(inference));
  put(entry, "training", of_size(training));
  tpt_config_destroy(made);
  return entry;
}

static json_t *presets(void) {
  json_t *list = json_array();
  for (size_t i = 0; tpt_config_preset_name(i); i++)
    add(list, preset_of(tpt_config_preset_name(i)));
  return list;
}

/* To be freed. */
static char *formatted(const tpt_config *described) {
  size_t length;
  check(tpt_config_format(described, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_config_format(described, text, length + 1, &length));
  return text;
}

static json_t *got(const tpt_config *described, const char *key) {
  size_t length;
  check(tpt_config_get(described, key, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_config_get(described, key, text, length + 1, &length));
  json_t *made = of_text(text, length);
  free(text);
  return made;
}

static json_t *all_got(const tpt_config *described, const json_t *keys) {
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(keys); i++)
    add(list, got(described, json_string_value(json_array_get(keys, i))));
  return list;
}

/* Ends it. */
static json_t *last_text(tpt_config *described) {
  char *text = formatted(described);
  json_t *made = json_string(text);
  free(text);
  tpt_config_destroy(described);
  return made;
}

static void put_text(const tpt_config *described, const char *scratch, json_t *results) {
  char *text = formatted(described), *path = scratch_file(scratch, ".yaml");
  tpt_config *loaded;
  write_file(path, text);
  check(tpt_config_load(path, &loaded));
  put(results, "format", json_string(text));
  put(results, "parsed", last_text(config_of(text)));
  put(results, "loaded", last_text(loaded));
  drop_file(path);
  free(text);
}

static void set(tpt_config *described, const json_t *change) {
  check(tpt_config_set(described, text_at(change, "key"), text_at(change, "value")));
}

static json_t *broken(const tpt_config *described, const json_t *change) {
  tpt_config *copy;
  json_t *entry = json_object();
  check(tpt_config_copy(described, &copy));
  set(copy, change);
  put(entry, "status", json_integer(tpt_config_check(copy)));
  put(entry, "message", json_string(tpt_error_message()));
  tpt_config_destroy(copy);
  return entry;
}

void config(const json_t *inputs, json_t *results, const char *scratch) {
  tpt_config *described = config_of(text_at(inputs, "yaml"));
  const json_t *changes = at(inputs, "set");
  for (size_t i = 0; i < json_array_size(changes); i++) set(described, json_array_get(changes, i));
  put(results, "presets", presets());
  put_text(described, scratch, results);
  put(results, "get", all_got(described, at(inputs, "get")));
  put(results, "check", json_integer(tpt_config_check(described)));
  put(results, "broken", broken(described, at(inputs, "break")));
  put(results, "unbroken", json_integer(tpt_config_check(described)));
  tpt_config_destroy(described);
}
