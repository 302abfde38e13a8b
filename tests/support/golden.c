/* See golden.h. Reads safetensors by jansson directly: a fault of io/ cannot hide here. */
#include "support/golden.h"

#include <check.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"

struct tpti_golden {
  json_t *header;
  json_t *oracle; /* the case's description */
  tpti_golden_tensor *tensors;
  size_t count;
  double *values;
  char yaml[1200];
};

static const char *const CASES[] = {
    "aux_free",     "four_phase_deep", "grouped",           "ignore_but_one", "ignore_first",
    "ignore_last",  "ignore_sequence", "learned_dc",        "learned_scaled", "list_residual",
    "long_context", "one_phase",       "one_position",      "one_sequence",   "one_token",
    "rope_only",    "six_phase",       "smallest",          "three_phase",    "two_phase",
    "two_words",    "unaligned",       "zero_mean_residual"};

const char *tpti_golden_case(size_t index) {
  return index < sizeof CASES / sizeof CASES[0] ? CASES[index] : NULL;
}

/* One value of the file as a double; width 4 of another kind than F32 is I32. */
static double value_at(const unsigned char *data, size_t index, const char *kind) {
  if (strcmp(kind, "F64") == 0) {
    double d;
    memcpy(&d, data + index * sizeof d, sizeof d);
    return d;
  }
  if (strcmp(kind, "F32") == 0) {
    float f;
    memcpy(&f, data + index * sizeof f, sizeof f);
    return (double)f;
  }
  ck_assert_str_eq(kind, "I32");
  int32_t i;
  memcpy(&i, data + index * sizeof i, sizeof i);
  return (double)i;
}

static size_t element_count(tpti_golden_tensor *t, const json_t *shape) {
  t->ndim = json_array_size(shape);
  ck_assert_uint_le(t->ndim, 4);
  t->count = 1;
  for (size_t i = 0; i < 4; i++) {
    t->shape[i] = i < t->ndim ? (size_t)json_integer_value(json_array_get(shape, i)) : 1;
    t->count *= t->shape[i];
  }
  return t->count;
}

static void convert(double *values, const unsigned char *data, const json_t *entry, size_t count) {
  const char *kind = json_string_value(json_object_get(entry, "dtype"));
  size_t begin =
      (size_t)json_integer_value(json_array_get(json_object_get(entry, "data_offsets"), 0));
  for (size_t i = 0; i < count; i++) values[i] = value_at(data + begin, i, kind);
}

static void read_tensors(tpti_golden *g, const unsigned char *data, size_t data_size) {
  const char *name;
  json_t *entry;
  g->tensors = calloc(json_object_size(g->header) + 1, sizeof *g->tensors);
  /* No element is narrower than 4 bytes. */
  g->values = malloc((data_size / 4 + 1) * sizeof *g->values);
  ck_assert(g->tensors != NULL && g->values != NULL);
  double *next = g->values;
  json_object_foreach(g->header, name, entry) {
    if (strcmp(name, "__metadata__") == 0) continue;
    tpti_golden_tensor *t = &g->tensors[g->count++];
    t->name = name;
    t->values = next;
    size_t count = element_count(t, json_object_get(entry, "shape"));
    convert(next, data, entry, count);
    next += count;
  }
}

tpti_golden *tpti_golden_open(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, strchr(name, '/') ? "%s%s" : "%s/%s.safetensors",
           strchr(name, '/') ? name : TPTI_TEST_GOLDEN, strchr(name, '/') ? "" : name);
  size_t size;
  unsigned char *file = tpti_test_read_file(path, &size);
  ck_assert_msg(size > 8, "%s is too short", path);
  uint64_t header_size = 0;
  for (int i = 7; i >= 0; i--) header_size = header_size << 8 | file[i];
  ck_assert_msg(header_size < size - 8, "%s: header of %zu bytes", path, (size_t)header_size);
  tpti_golden *g = calloc(1, sizeof *g);
  ck_assert_ptr_nonnull(g);
  json_error_t why;
  g->header = json_loadb((const char *)file + 8, header_size, 0, &why);
  ck_assert_msg(g->header != NULL, "%s: %s", path, why.text);
  const json_t *metadata = json_object_get(g->header, "__metadata__");
  const char *oracle = json_string_value(json_object_get(metadata, "oracle"));
  g->oracle = oracle ? json_loads(oracle, 0, &why) : NULL;
  ck_assert_msg(g->oracle != NULL, "%s: no description of the case", path);
  read_tensors(g, file + 8 + header_size, size - 8 - (size_t)header_size);
  free(file);
  return g;
}

void tpti_golden_close(tpti_golden *g) {
  if (!g) return;
  json_decref(g->header);
  json_decref(g->oracle);
  free(g->tensors);
  free(g->values);
  free(g);
}

size_t tpti_golden_count(const tpti_golden *g) { return g->count; }

const tpti_golden_tensor *tpti_golden_at(const tpti_golden *g, size_t index) {
  return &g->tensors[index];
}

const tpti_golden_tensor *tpti_golden_find(const tpti_golden *g, const char *name) {
  for (size_t i = 0; i < g->count; i++) {
    if (strcmp(g->tensors[i].name, name) == 0) return &g->tensors[i];
  }
  return NULL;
}

const tpti_golden_tensor *tpti_golden_need(const tpti_golden *g, const char *name) {
  const tpti_golden_tensor *tensor = tpti_golden_find(g, name);
  ck_assert_msg(tensor != NULL, "the golden case has no tensor %s", name);
  return tensor;
}

double tpti_golden_number(const tpti_golden *g, const char *key) {
  const json_t *value = json_object_get(g->oracle, key);
  ck_assert_msg(json_is_number(value), "the golden case has no number %s", key);
  return json_number_value(value);
}

const char *tpti_golden_text(const tpti_golden *g, const char *key) {
  const char *text = json_string_value(json_object_get(g->oracle, key));
  ck_assert_msg(text != NULL, "the golden case has no text %s", key);
  return text;
}

static int integer(const tpti_golden *g, const char *key) {
  return (int)tpti_golden_number(g, key);
}

/* Phase alignment is asked for where the case has it. */
static const char *aligned(const tpti_golden *g) {
  int n = integer(g, "n_phases");
  return integer(g, "n_q_heads") % n == 0 && integer(g, "n_kv_heads") % n == 0 ? "true" : "false";
}

/* The DC profile: a word, or a list as YAML has it too. The result is the caller's. */
static char *profile(const tpti_golden *g) {
  const json_t *dc = json_object_get(g->oracle, "dc");
  return json_is_array(dc) ? json_dumps(dc, 0) : strdup(tpti_golden_text(g, "dc"));
}

const char *tpti_golden_yaml(tpti_golden *g) {
  char *dc = profile(g);
  ck_assert_ptr_nonnull(dc);
  int used = snprintf(
      g->yaml, sizeof g->yaml,
      "model:\n  vocab_size: %d\n  d_model: %d\n  n_layers: %d\n  n_q_heads: %d\n"
      "  n_kv_heads: %d\n  d_ff: %d\n  n_phases: %d\n  max_seq_len: %d\n"
      "  rope: {base: %.17g}\n  norm: {eps: %.17g}\n  attention: {phase_aligned: %s}\n"
      "  embedding: {scale: %s}\n  dc: {profile: %s}\n  rotation: {mode: %s}\n"
      "train:\n  batch: %d\n  lr: 1e-2\n  beta1: 0.9\n  beta2: 0.95\n  eps: 1e-8\n"
      "  weight_decay: 0.1\n  decay: all\n  clip: 1.0\n  ignore_index: %d\n  aux_coef: %.17g\n",
      integer(g, "vocab_size"), integer(g, "d_model"), integer(g, "n_layers"),
      integer(g, "n_q_heads"), integer(g, "n_kv_heads"), integer(g, "d_ff"), integer(g, "n_phases"),
      integer(g, "seq"), tpti_golden_number(g, "rope_base"), tpti_golden_number(g, "norm_eps"),
      aligned(g), tpti_golden_text(g, "embed_scale"), dc, tpti_golden_text(g, "rotation"),
      integer(g, "batch"), integer(g, "ignore_index"), tpti_golden_number(g, "aux_coef"));
  free(dc);
  ck_assert(used > 0 && (size_t)used < sizeof g->yaml);
  return g->yaml;
}
