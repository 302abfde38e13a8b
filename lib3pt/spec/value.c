/* The value of one key, from YAML and to text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/keys.h"

/* ---- what is allowed ---- */

static void print_words(const tpti_key *key, char *text, size_t room) {
  size_t used = (size_t)snprintf(text, room, "one of ");
  for (size_t i = 0; key->words[i]; i++)
    used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", key->words[i]);
  if (key->type == TPTI_KEY_WORD_OR_LIST)
    snprintf(text + used, room - used, ", or a list of numbers,");
}

static void print_range(const tpti_key *key, char *text, size_t room) {
  char low[TPTI_NUMBER_TEXT], high[TPTI_NUMBER_TEXT];
  tpti_format_double(key->low, low);
  tpti_format_double(key->high, high);
  snprintf(text, room, "a number %s %s %s %s", key->above_low ? "above" : "from", low,
           key->below_high  ? "to below"
           : key->above_low ? "and up to"
                            : "to",
           high);
}

const char *tpti_key_allowed(const tpti_key *key, char text[TPTI_KEY_TEXT]) {
  switch (key->type) {
  case TPTI_KEY_SIZE:
  case TPTI_KEY_UINT64:
    snprintf(text, TPTI_KEY_TEXT, "an integer from %llu to %llu", (unsigned long long)key->least,
             (unsigned long long)key->most);
    break;
  case TPTI_KEY_INT32:
    snprintf(text, TPTI_KEY_TEXT, "an integer from -2147483648 to 2147483647");
    break;
  case TPTI_KEY_REAL:
    print_range(key, text, TPTI_KEY_TEXT);
    break;
  case TPTI_KEY_BOOL:
    snprintf(text, TPTI_KEY_TEXT, "true or false");
    break;
  default:
    print_words(key, text, TPTI_KEY_TEXT);
  }
  return text;
}

/* ---- from YAML ---- */

/* "is" and what was found, or the first wrong item of a list. */
static const char *found(const tpti_yaml_node *node, size_t item, char text[TPTI_KEY_TEXT]) {
  char shown[TPTI_YAML_SHOWN];
  if (node->kind == TPTI_YAML_MAPPING)
    snprintf(text, TPTI_KEY_TEXT, "is a section of keys");
  else if (node->kind == TPTI_YAML_LIST && item < node->count)
    snprintf(text, TPTI_KEY_TEXT, "has the entry %s (%zu from 0)",
             tpti_yaml_show(node->items[item], shown), item);
  else if (node->kind == TPTI_YAML_LIST)
    snprintf(text, TPTI_KEY_TEXT, "is %s list%s", node->count ? "a" : "an empty",
             node->plain ? "" : " with quotes");
  else
    snprintf(text, TPTI_KEY_TEXT, "is %s%s", tpti_yaml_show(node->items[0], shown),
             node->plain ? "" : " in quotes");
  return text;
}

static tpt_status refuse(const tpti_key *key, const tpti_yaml_node *node, const char *what,
                         const char *allowed) {
  char place[TPTI_NUMBER_TEXT + 8] = "";
  if (node->line) snprintf(place, sizeof place, "line %zu: ", node->line);
  return tpti_fail(TPT_E_CONFIG, "%s%s %s, %s is allowed", place, key->name, what, allowed);
}

static tpt_status wrong(const tpti_key *key, const tpti_yaml_node *node) {
  char what[TPTI_KEY_TEXT], allowed[TPTI_KEY_TEXT];
  return refuse(key, node, found(node, node->count, what), tpti_key_allowed(key, allowed));
}

static tpt_status wrong_item(const tpti_key *key, const tpti_yaml_node *node, size_t item) {
  char what[TPTI_KEY_TEXT], allowed[TPTI_KEY_TEXT];
  print_range(key, allowed, sizeof allowed);
  return refuse(key, node, found(node, item, what), allowed);
}

/* The text of a scalar that may be a number or a truth value; NULL where the node is none. */
static const char *unquoted(const tpti_yaml_node *node) {
  return node->kind == TPTI_YAML_SCALAR && node->plain ? node->items[0] : NULL;
}

static bool read_unsigned(const tpti_key *key, const tpti_yaml_node *node, uint64_t *value) {
  const char *text = unquoted(node);
  return text && tpti_parse_uint64(text, strlen(text), value) && *value >= key->least &&
         *value <= key->most;
}

static bool read_real(const tpti_key *key, const char *text, double *value) {
  if (!text || !tpti_parse_double(text, strlen(text), value) || !isfinite(*value)) return false;
  bool low = key->above_low ? *value > key->low : *value >= key->low;
  return low && (key->below_high ? *value < key->high : *value <= key->high);
}

static tpt_status store_size(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  uint64_t value;
  if (!read_unsigned(key, node, &value)) return wrong(key, node);
  *(size_t *)at = (size_t)value;
  return TPT_OK;
}

static tpt_status store_uint64(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  uint64_t value;
  if (!read_unsigned(key, node, &value)) return wrong(key, node);
  *(uint64_t *)at = value;
  return TPT_OK;
}

static tpt_status store_int32(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  const char *text = unquoted(node);
  int64_t value;
  if (!text || !tpti_parse_int64(text, strlen(text), &value) || value < INT32_MIN ||
      value > INT32_MAX)
    return wrong(key, node);
  *(int32_t *)at = (int32_t)value;
  return TPT_OK;
}

static tpt_status store_real(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  double value;
  if (!read_real(key, unquoted(node), &value)) return wrong(key, node);
  *(double *)at = value;
  return TPT_OK;
}

/* The spellings of YAML's core schema. */
static tpt_status store_bool(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  static const char *const spellings[] = {"false", "False", "FALSE", "true", "True", "TRUE"};
  const char *text = unquoted(node);
  for (size_t i = 0; text && i < 6; i++)
    if (strcmp(text, spellings[i]) == 0) {
      *(bool *)at = i >= 3;
      return TPT_OK;
    }
  return wrong(key, node);
}

static tpt_status store_word(void *at, const tpti_key *key, const tpti_yaml_node *node) {
  if (node->kind != TPTI_YAML_SCALAR) return wrong(key, node);
  for (unsigned i = 0; key->words[i]; i++)
    if (strcmp(node->items[0], key->words[i]) == 0) {
      *(unsigned *)at = i;
      return TPT_OK;
    }
  return wrong(key, node);
}

typedef tpt_status (*store_fn)(void *at, const tpti_key *key, const tpti_yaml_node *node);
static const store_fn stores[] = {
    [TPTI_KEY_SIZE] = store_size,         [TPTI_KEY_UINT64] = store_uint64,
    [TPTI_KEY_INT32] = store_int32,       [TPTI_KEY_REAL] = store_real,
    [TPTI_KEY_BOOL] = store_bool,         [TPTI_KEY_WORD] = store_word,
    [TPTI_KEY_WORD_OR_LIST] = store_word,
};

/* Enums are read and written as unsigned, which is what they are in the ABIs in view. */
_Static_assert(sizeof(tpti_dc) == sizeof(unsigned), "enums are as wide as unsigned");

static void *field(const tpti_spec *spec, size_t offset) { return (char *)spec + offset; }

static void replace_list(tpti_spec *spec, const tpti_key *key, double *values, size_t count) {
  double **list = field(spec, key->list_at);
  free(*list);
  *list = values;
  *(size_t *)field(spec, key->count_at) = count;
}

static unsigned word_count(const tpti_key *key) {
  unsigned count = 0;
  while (key->words[count]) count++;
  return count;
}

static tpt_status store_list(tpti_spec *spec, const tpti_key *key, const tpti_yaml_node *node) {
  if (node->count == 0 || !node->plain) return wrong(key, node);
  double *values = malloc(node->count * sizeof *values);
  if (!values) return tpti_fail_memory(node->count * sizeof *values);
  for (size_t i = 0; i < node->count; i++)
    if (!read_real(key, node->items[i], &values[i])) {
      free(values);
      return wrong_item(key, node, i);
    }
  replace_list(spec, key, values, node->count);
  *(unsigned *)field(spec, key->at) = word_count(key);
  return TPT_OK;
}

tpt_status tpti_key_store(tpti_spec *spec, const tpti_key *key, const tpti_yaml_node *node) {
  if (key->type == TPTI_KEY_WORD_OR_LIST && node->kind == TPTI_YAML_LIST)
    return store_list(spec, key, node);
  tpt_status status = stores[key->type](field(spec, key->at), key, node);
  if (!status && key->type == TPTI_KEY_WORD_OR_LIST) replace_list(spec, key, NULL, 0);
  return status;
}

/* ---- comparing ---- */

bool tpti_key_has_list(const tpti_spec *spec, const tpti_key *key) {
  return key->type == TPTI_KEY_WORD_OR_LIST && *(unsigned *)field(spec, key->at) == word_count(key);
}

size_t tpti_key_list_count(const tpti_spec *spec, const tpti_key *key) {
  return *(size_t *)field(spec, key->count_at);
}

static bool same_list(const tpti_spec *a, const tpti_spec *b, const tpti_key *key) {
  const double *x = *(double **)field(a, key->list_at), *y = *(double **)field(b, key->list_at);
  size_t count = tpti_key_list_count(a, key);
  if (count != tpti_key_list_count(b, key)) return false;
  for (size_t i = 0; i < count; i++)
    if (x[i] != y[i]) return false;
  return true;
}

bool tpti_key_equal(const tpti_spec *a, const tpti_spec *b, const tpti_key *key) {
  const void *x = field(a, key->at), *y = field(b, key->at);
  switch (key->type) {
  case TPTI_KEY_SIZE:
    return *(const size_t *)x == *(const size_t *)y;
  case TPTI_KEY_UINT64:
    return *(const uint64_t *)x == *(const uint64_t *)y;
  case TPTI_KEY_INT32:
    return *(const int32_t *)x == *(const int32_t *)y;
  case TPTI_KEY_REAL:
    return *(const double *)x == *(const double *)y;
  case TPTI_KEY_BOOL:
    return *(const bool *)x == *(const bool *)y;
  default:
    if (*(const unsigned *)x != *(const unsigned *)y) return false;
    return !tpti_key_has_list(a, key) || same_list(a, b, key);
  }
}

/* ---- to text ---- */

static bool print_real(tpti_buffer *text, double value) {
  char number[TPTI_NUMBER_TEXT];
  return tpti_buffer_append(text, number, tpti_format_double(value, number));
}

static bool print_list(const tpti_spec *spec, const tpti_key *key, tpti_buffer *text) {
  const double *values = *(double **)field(spec, key->list_at);
  size_t count = tpti_key_list_count(spec, key);
  for (size_t i = 0; i < count; i++) {
    tpti_buffer_append(text, i ? ", " : "[", i ? 2 : 1);
    print_real(text, values[i]);
  }
  return tpti_buffer_append(text, "]", 1);
}

bool tpti_key_print(const tpti_spec *spec, const tpti_key *key, tpti_buffer *text) {
  const void *at = field(spec, key->at);
  switch (key->type) {
  case TPTI_KEY_SIZE:
    return tpti_buffer_printf(text, "%zu", *(const size_t *)at);
  case TPTI_KEY_UINT64:
    return tpti_buffer_printf(text, "%llu", (unsigned long long)*(const uint64_t *)at);
  case TPTI_KEY_INT32:
    return tpti_buffer_printf(text, "%ld", (long)*(const int32_t *)at);
  case TPTI_KEY_REAL:
    return print_real(text, *(const double *)at);
  case TPTI_KEY_BOOL:
    return tpti_buffer_printf(text, "%s", *(const bool *)at ? "true" : "false");
  default:
    if (tpti_key_has_list(spec, key)) return print_list(spec, key, text);
    return tpti_buffer_printf(text, "%s", key->words[*(const unsigned *)at]);
  }
}
