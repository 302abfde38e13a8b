/* tpt_config: a description behind its handle. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "io/file.h"
#include "io/yaml.h"

tpt_config *tpti_config_wrap(tpti_spec *spec) {
  tpt_config *config = malloc(sizeof *config);
  if (!config) return NULL;
  tpti_handle_init(&config->head, TPTI_CONFIG);
  config->spec = *spec;
  memset(spec, 0, sizeof *spec);
  return config;
}

/* Ends a function that made `spec`: wraps it, or gives it back. */
static tpt_status finish(tpti_spec *spec, tpt_config **config) {
  *config = tpti_config_wrap(spec);
  if (*config) return TPT_OK;
  tpti_spec_free(spec);
  return tpti_fail_memory(sizeof **config);
}

static tpt_status need_utf8(const char *text, const char *name) {
  size_t size = strlen(text), bad = tpti_utf8_valid(text, size);
  if (bad == size) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "%s is not UTF-8 (byte %zu)", name, bad);
}

tpt_status tpt_config_create(tpt_config **config) {
  TPTI_NEED(config);
  tpti_spec spec;
  tpti_spec_init(&spec);
  return finish(&spec, config);
}

tpt_status tpt_config_preset(const char *name, tpt_config **config) {
  TPTI_NEED(config);
  *config = NULL;
  TPTI_NEED(name);
  tpti_spec spec;
  tpt_status status = need_utf8(name, "name");
  if (!status) status = tpti_spec_preset(name, &spec);
  return status ? status : finish(&spec, config);
}

const char *tpt_config_preset_name(size_t index) { return tpti_spec_preset_name(index); }

static tpt_status parse_file(const char *path, const tpti_buffer *text, tpti_spec *spec) {
  const char *yaml = text->used > 0 ? text->data : "";
  size_t bad = tpti_utf8_valid(yaml, text->used);
  tpt_status status = bad < text->used ? tpti_fail(TPT_E_FORMAT, "byte %zu is not UTF-8", bad)
                                       : tpti_spec_parse(yaml, text->used, spec);
  if (status == TPT_OK || status == TPT_E_MEMORY) return status;
  tpti_fail_looks(status, TPTI_WANT_DESCRIPTION, yaml, text->used);
  return tpti_fail_in(status, path);
}

tpt_status tpt_config_load(const char *path, tpt_config **config) {
  TPTI_NEED(config);
  *config = NULL;
  TPTI_NEED(path);
  tpti_buffer text;
  tpti_spec spec;
  tpti_buffer_init(&text, &tpti_memory_default);
  tpt_status status = tpti_file_slurp(path, TPTI_YAML_BYTES, TPTI_WANT_DESCRIPTION, &text);
  if (!status) status = parse_file(path, &text, &spec);
  tpti_buffer_free(&text);
  return status ? status : finish(&spec, config);
}

tpt_status tpt_config_parse(const char *yaml, size_t length, tpt_config **config) {
  TPTI_NEED(config);
  *config = NULL;
  if (length > 0) TPTI_NEED(yaml);
  tpti_spec spec;
  tpt_status status = tpti_spec_parse(length > 0 ? yaml : "", length, &spec);
  if (!status) return finish(&spec, config);
  return status == TPT_E_MEMORY ? status
                                : tpti_fail_looks(status, TPTI_WANT_DESCRIPTION, yaml, length);
}

static tpt_status copy_of(const tpt_config *config, tpt_config **copy) {
  TPTI_NEED(copy);
  tpti_spec spec;
  tpt_status status = tpti_spec_copy(&config->spec, &spec);
  return status ? status : finish(&spec, copy);
}

tpt_status tpt_config_copy(const tpt_config *config, tpt_config **copy) {
  if (copy) *copy = NULL;
  return TPTI_CALL(config, TPTI_CONFIG, copy_of(config, copy));
}

void tpt_config_destroy(tpt_config *config) {
  if (!config || !tpti_handle_is(config, TPTI_CONFIG, "config")) return;
  if (!tpti_handle_release(&config->head)) return;
  tpti_spec_free(&config->spec);
  free(config);
}

static tpt_status set(tpt_config *config, const char *key, const char *value) {
  TPTI_NEED(key);
  TPTI_NEED(value);
  tpt_status status = need_utf8(key, "key");
  if (!status) status = need_utf8(value, "value");
  return status ? status : tpti_spec_set(&config->spec, key, value);
}

tpt_status tpt_config_set(tpt_config *config, const char *key, const char *value) {
  return TPTI_CALL(config, TPTI_CONFIG, set(config, key, value));
}

/* Hands a text that was built to the caller, and gives it back. */
static tpt_status give_text(tpt_status status, tpti_buffer *built, char *text, size_t capacity,
                            size_t *length) {
  if (!status) tpti_text_result(built->data, built->used, text, capacity, length);
  tpti_buffer_free(built);
  return status;
}

static tpt_status need_room(const char *text, size_t capacity, const size_t *length) {
  TPTI_NEED(length);
  if (capacity > 0) TPTI_NEED(text);
  return TPT_OK;
}

static tpt_status get(const tpt_config *config, const char *key, tpti_buffer *built) {
  TPTI_NEED(key);
  tpt_status status = need_utf8(key, "key");
  return status ? status : tpti_spec_get(&config->spec, key, built);
}

static tpt_status get_text(const tpt_config *config, const char *key, char *text, size_t capacity,
                           size_t *length) {
  tpti_buffer built;
  tpti_buffer_init(&built, &tpti_memory_default);
  tpt_status status = need_room(text, capacity, length);
  if (!status) status = get(config, key, &built);
  return give_text(status, &built, text, capacity, length);
}

tpt_status tpt_config_get(const tpt_config *config, const char *key, char *text, size_t capacity,
                          size_t *length) {
  return TPTI_CALL(config, TPTI_CONFIG, get_text(config, key, text, capacity, length));
}

static tpt_status format(const tpt_config *config, char *text, size_t capacity, size_t *length) {
  tpti_buffer built;
  tpti_buffer_init(&built, &tpti_memory_default);
  tpt_status status = need_room(text, capacity, length);
  if (!status) status = tpti_spec_format(&config->spec, &built);
  return give_text(status, &built, text, capacity, length);
}

tpt_status tpt_config_format(const tpt_config *config, char *text, size_t capacity,
                             size_t *length) {
  return TPTI_CALL(config, TPTI_CONFIG, format(config, text, capacity, length));
}

tpt_status tpt_config_check(const tpt_config *config) {
  return TPTI_CALL(config, TPTI_CONFIG, tpti_spec_check(&config->spec));
}

/* The check makes sure that the count does not overflow. */
static tpt_status parameter_count(const tpt_config *config, size_t *count) {
  TPTI_NEED(count);
  size_t parameters;
  tpt_status status = tpti_spec_check(&config->spec);
  if (!status && tpti_count_parameters(&config->spec.model, &parameters)) *count = parameters;
  return status;
}

tpt_status tpt_config_parameter_count(const tpt_config *config, size_t *count) {
  return TPTI_CALL(config, TPTI_CONFIG, parameter_count(config, count));
}
