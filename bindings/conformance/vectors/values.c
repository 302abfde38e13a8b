#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *what, const char *name) {
  fprintf(stderr, "vectors: %s: %s\n", what, name);
  exit(1);
}

void check(tpt_status status) {
  if (status != TPT_OK) die(tpt_status_name(status), tpt_error_message());
}

void *take(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  if (!memory) die("no memory", "");
  return memory;
}

/* ---- in ---- */

const json_t *at(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!value) die("there is no key", key);
  return value;
}

const char *text_at(const json_t *object, const char *key) {
  const char *text = json_string_value(at(object, key));
  if (!text) die("must be a text", key);
  return text;
}

int64_t int_at(const json_t *object, const char *key) {
  const json_t *value = at(object, key);
  if (!json_is_integer(value)) die("must be a whole number", key);
  return json_integer_value(value);
}

size_t size_at(const json_t *object, const char *key) {
  int64_t value = int_at(object, key);
  if (value < 0) die("must be 0 or more", key);
  return (size_t)value;
}

uint64_t u64_at(const json_t *object, const char *key) {
  return strtoull(text_at(object, key), NULL, 10);
}

double number_at(const json_t *object, const char *key) {
  return strtod(text_at(object, key), NULL);
}

ids ids_at(const json_t *object, const char *key) {
  const json_t *list = at(object, key);
  ids made = {NULL, json_array_size(list)};
  made.values = take(made.count, sizeof *made.values);
  for (size_t i = 0; i < made.count; i++)
    made.values[i] = (int32_t)json_integer_value(json_array_get(list, i));
  return made;
}

ids ids_of(const tpt_tokenizer *tokenizer, const char *text) {
  ids made;
  size_t length = strlen(text);
  check(tpt_tokenizer_encode(tokenizer, text, length, NULL, 0, &made.count));
  made.values = take(made.count, sizeof *made.values);
  check(tpt_tokenizer_encode(tokenizer, text, length, made.values, made.count, &made.count));
  return made;
}

/* ---- out ---- */

void put(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value)) die("cannot be written", key);
}

void add(json_t *array, json_t *value) {
  if (json_array_append_new(array, value)) die("cannot be written", "an element");
}

json_t *of_size(size_t value) { return json_integer((json_int_t)value); }

json_t *of_u64(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  return json_string(text);
}

static json_t *of_bits(uint64_t bits) {
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, bits);
  return json_string(text);
}

json_t *of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return of_bits(bits);
}

json_t *of_f64(const double *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) add(list, of_double(values[i]));
  return list;
}

json_t *of_f32(const float *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    add(list, json_integer(bits));
  }
  return list;
}

json_t *of_ids(const int32_t *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) add(list, json_integer(values[i]));
  return list;
}

/* FNV-1a, 64 bits: its offset basis and prime (Fowler, Noll, Vo; RFC 9923). */
json_t *of_hash(const void *memory, size_t size) {
  const unsigned char *byte = memory;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return of_bits(hash);
}

json_t *of_floats(const float *values, size_t count) {
  return of_hash(values, count * sizeof *values);
}

json_t *of_bytes(const char *values, size_t size) {
  char *text = take(2 * size + 1, 1);
  for (size_t i = 0; i < size; i++) snprintf(text + 2 * i, 3, "%02x", (unsigned char)values[i]);
  json_t *made = json_string(text);
  free(text);
  return made;
}

json_t *of_text(const char *text, size_t size) {
  json_t *made = json_stringn(text, size);
  if (!made) die("is not UTF-8", "a text of the results");
  return made;
}

json_t *of_file(const void *memory, size_t size) {
  json_t *made = json_object();
  put(made, "size", of_size(size));
  put(made, "hash", of_hash(memory, size));
  return made;
}

/* ---- files ---- */

bytes read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) die("cannot be read", path);
  bytes all = {NULL, (size_t)ftell(file)};
  all.values = take(all.size, 1);
  rewind(file);
  if (fread(all.values, 1, all.size, file) != all.size) die("cannot be read", path);
  fclose(file);
  return all;
}

void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  if (!file || fputs(text, file) < 0 || fclose(file)) die("cannot be written", path);
}
