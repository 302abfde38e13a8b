/* JSON in and out: what README.md calls int, u64, number, f32, f64, hash, bytes, file. What is not
 * as it must be ends the program with a sentence. */
#ifndef VALUES_H
#define VALUES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "3pt/3pt.h"

void check(tpt_status status);
void die(const char *what, const char *name);
void *take(size_t count, size_t size);

/* ---- in: of the key of an object ---- */

const json_t *at(const json_t *object, const char *key);
const char *text_at(const json_t *object, const char *key);
int64_t int_at(const json_t *object, const char *key);
size_t size_at(const json_t *object, const char *key);
uint64_t u64_at(const json_t *object, const char *key);
double number_at(const json_t *object, const char *key);

/* Ids, to be freed. */
typedef struct ids {
  int32_t *values;
  size_t count;
} ids;

ids ids_at(const json_t *object, const char *key);
ids ids_of(const tpt_tokenizer *tokenizer, const char *text);

/* ---- out ---- */

void put(json_t *object, const char *key, json_t *value);
void add(json_t *array, json_t *value);

json_t *of_size(size_t value);
json_t *of_u64(uint64_t value);
json_t *of_f32(const float *values, size_t count);
json_t *of_f64(const double *values, size_t count);
json_t *of_double(double value);
json_t *of_ids(const int32_t *values, size_t count);
json_t *of_hash(const void *memory, size_t size);
json_t *of_floats(const float *values, size_t count); /* their hash */
json_t *of_bytes(const char *values, size_t size);
json_t *of_text(const char *text, size_t size);
json_t *of_file(const void *memory, size_t size);

/* ---- files ---- */

typedef struct bytes {
  char *values; /* to be freed */
  size_t size;
} bytes;

bytes read_file(const char *path);
void write_file(const char *path, const char *text);

#endif
