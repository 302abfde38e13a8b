/* JSON of the example programs: texts, numbers, a description, a measure. */
#ifndef EXAMPLES_JSON_H
#define EXAMPLES_JSON_H

#include "geometry.h"

/* As many digits as float needs to be read back; null where there is no number. */
static inline void json_number(FILE *to, double value) {
  if (isfinite(value))
    fprintf(to, "%.9g", value);
  else
    fputs("null", to);
}

/* Bytes of the character at text, 0 where it is no UTF-8. */
static inline size_t utf8_length(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (c[0] < 0x80) return 1;
  if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
  size_t length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < length; i++)
    if ((c[i] & 0xc0) != 0x80) return 0;
  int overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  int surrogate = c[0] == 0xed && c[1] > 0x9f, beyond = c[0] == 0xf4 && c[1] > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

/* A byte that is not UTF-8, as a file's name may have, becomes '?'. NULL is null. */
static inline void json_text(FILE *to, const char *text) {
  if (!text) {
    fputs("null", to);
    return;
  }
  fputc('"', to);
  for (size_t length; *text; text += length ? length : 1) {
    length = utf8_length(text);
    if (length == 0)
      fputc('?', to);
    else if ((unsigned char)*text < 0x20)
      fprintf(to, "\\u%04x", (unsigned)*text);
    else if (*text == '"' || *text == '\\')
      fprintf(to, "\\%c", *text);
    else
      fwrite(text, 1, length, to);
  }
  fputc('"', to);
}

/* ---- a description ---- */

/* A value of YAML: a list of numbers, a number and a truth value are the same in JSON. */
static inline void json_value(FILE *to, char *value) {
  char *end;
  (void)strtod(value, &end);
  int number = end != value && !*end;
  for (char *c = value; *c; c++)
    if (*c == '\n') *c = ' ';
  if (number || *value == '[' || strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
    fputs(value, to);
  else
    json_text(to, value);
}

/* The line of a key makes name, "model." of the lines above it, "model.d_model": levels are two
 * spaces. Returns whether a value follows. */
static inline int take_key(const char *line, char *name, size_t size) {
  size_t level = strspn(line, " ") / 2, kept = 0;
  const char *word = line + strspn(line, " "), *colon = strchr(word, ':');
  if (!colon || colon > word + strcspn(word, "\n")) return 0; /* the rest of a long list */
  for (char *dot; level > 0 && (dot = strchr(name + kept, '.')); level--)
    kept = (size_t)(dot - name) + 1;
  int leaf = colon[1] == ' ';
  snprintf(name + kept, size - kept, "%.*s%s", (int)(colon - word), word, leaf ? "" : ".");
  return leaf;
}

/* {"model.vocab_size":10000, ...}: every key. */
static inline void json_config(FILE *to, const tpt_config *config) {
  char name[128] = "", *yaml = whole_yaml(config), separator = '{';
  for (const char *line = yaml; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (!take_key(line, name, sizeof name)) continue;
    char *value = whole_setting(config, name);
    fprintf(to, "%c\"%s\":", separator, name);
    json_value(to, value);
    separator = ',';
    free(value);
  }
  fputc('}', to);
  free(yaml);
}

/* ---- a measure ---- */

static inline void json_row(FILE *to, const geometry *g, const measure *m, size_t row) {
  size_t count = column_count(g, m);
  m->read(g, row);
  if (m->columns != ALONE) fputc('[', to);
  for (size_t i = 0; i < count; i++) {
    if (i) fputc(',', to);
    json_number(to, g->values[i]);
  }
  if (m->columns != ALONE) fputc(']', to);
}

/* "name":[...], an array in an array where it has rows and columns; null where the model has none
 * of it. */
static inline void json_measure(FILE *to, const geometry *g, const measure *m) {
  fprintf(to, "\"%s\":", m->name);
  if (!has_measure(g, m)) {
    fputs("null", to);
    return;
  }
  if (m->rows != ONCE) fputc('[', to);
  for (size_t row = 0; row < row_count(g, m); row++) {
    if (row) fputc(',', to);
    json_row(to, g, m, row);
  }
  if (m->rows != ONCE) fputc(']', to);
}

#endif
