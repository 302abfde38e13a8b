/* What the example programs share beside their calls (call.h) and files (files.h): texts, tokens
 * and descriptions. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include "files.h"

/* Appends the whole of a file ("-": standard input) to *text, which realloc grows. */
static inline void read_text(const char *path, char **text, size_t *length) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) die("%s: cannot be read: %s", path, strerror(errno));
  for (size_t got = 1; got > 0; *length += got) {
    enum { PIECE = 1 << 20 };
    char *more = realloc(*text, *length + PIECE);
    if (!more) die("%s: there is no memory for this text", path);
    *text = more;
    got = fread(*text + *length, 1, PIECE, file);
  }
  if (ferror(file)) die("%s: cannot be read: %s", path, strerror(errno));
  if (file != stdin) fclose(file);
}

/* What a tokenizer said of texts that were joined: names the one that is none. */
static inline void check_texts(const char *const *paths, int count, tpt_status status) {
  if (status == TPT_OK) return;
  for (int i = 0; i < count; i++) want(paths[i], A_TEXT, "a text");
  if (count == 1) check_file(paths[0], status);
  die("the %d texts joined: %s", count, tpt_error_message());
}

static inline tpt_status try_encode(const tpt_tokenizer *tokenizer, const char *text, size_t length,
                                    int32_t **ids, size_t *count) {
  size_t capacity = length + 16; /* a token is at least a byte, save for marks at the start */
  for (*ids = NULL;; capacity = *count) {
    *ids = realloc(*ids, capacity * sizeof **ids);
    if (!*ids) die("there is no memory for %zu tokens", capacity);
    tpt_status status = tpt_tokenizer_encode(tokenizer, text, length, *ids, capacity, count);
    if (status != TPT_OK || *count <= capacity) return status;
  }
}

/* The tokens of a text; source is where it is from, for messages. */
static inline int32_t *encode(const tpt_tokenizer *tokenizer, const char *source, const char *text,
                              size_t length, size_t *count) {
  int32_t *ids;
  check_texts(&source, 1, try_encode(tokenizer, text, length, &ids, count));
  return ids;
}

/* Tokens that the model has not are found now, and not at some step in the night.
 *   source    what they are from: the token file, or the tokenizer of the text
 *   first     the place of ids[0] in it */
static inline void check_ids(const char *source, const int32_t *ids, size_t count, size_t first,
                             uint64_t vocab) {
  for (size_t i = 0; i < count; i++)
    if ((uint64_t)ids[i] >= vocab)
      die("%s: token %zu is %ld, and the model's vocab_size is %llu (0 to %llu is allowed): was it "
          "made by another tokenizer?",
          source, first + i, (long)ids[i], (unsigned long long)vocab,
          (unsigned long long)vocab - 1);
}

static inline void check_dataset(const tpt_dataset *data, const char *source, uint64_t vocab) {
  enum { WINDOW = 1 << 16 };
  static int32_t tokens[WINDOW], next[WINDOW];
  size_t count;
  check_file(source, tpt_dataset_count(data, &count));
  for (size_t at = 0, size = WINDOW; at + 1 < count; at += size) {
    if (at + size + 1 > count) size = 1; /* the rest is shorter than a window */
    check_file(source, tpt_dataset_window(data, at / size, size, tokens, next));
    check_ids(source, tokens, size, at, vocab);
    check_ids(source, next, size, at + 1, vocab);
  }
}

/* "key=value" words are laid over a description. */
static inline void change_description(tpt_config *config, const char **changes, int count) {
  for (int i = 0; i < count; i++) {
    char key[128];
    const char *equals = strchr(changes[i], '=');
    if (!equals || (size_t)(equals - changes[i]) >= sizeof key)
      wrong_call("'%s' is not of the form key=value, as train.lr=1e-3", changes[i]);
    memcpy(key, changes[i], (size_t)(equals - changes[i]));
    key[equals - changes[i]] = 0;
    check(tpt_config_set(config, key, equals + 1));
  }
  check(tpt_config_check(config));
}

static inline void no_description(const char *name) {
  fprintf(stderr, "%s: %s: there is no such file, nor is it one of the presets:", the_name, name);
  for (size_t i = 0; tpt_config_preset_name(i); i++)
    fprintf(stderr, " %s", tpt_config_preset_name(i));
  fputc('\n', stderr);
  exit(1);
}

/* config: NULL: the file's own; else the training part of it becomes the model's. */
static inline tpt_model *load_model(tpt_context *context, const char *path,
                                    const tpt_config *config) {
  tpt_model *model;
  want(path, A_MODEL, "a model file (safetensors)");
  check_file(path, tpt_model_load(context, path, config, &model));
  return model;
}

/* From a YAML file, the name of a preset, or a model file, which holds its own. */
static inline tpt_config *read_description(const char *name) {
  tpt_config *config = NULL;
  want(name, A_TEXT | A_MODEL, "a description (YAML), a preset or a model file");
  if (kind_of(name) == A_MODEL) {
    tpt_model *model = load_model(NULL, name, NULL);
    check(tpt_config_copy(tpt_model_config(model), &config));
    tpt_model_destroy(model);
  } else if (is_there(name)) {
    check_file(name, tpt_config_load(name, &config));
  } else if (errno != ENOENT) {
    die("%s: cannot be read: %s", name, strerror(errno));
  } else if (tpt_config_preset(name, &config) != TPT_OK) {
    no_description(name);
  }
  return config;
}

static inline tpt_tokenizer *load_tokenizer(tpt_context *context, const char *path) {
  tpt_tokenizer *tokenizer;
  want(path, A_TOKENIZER | A_TEXT, "a tokenizer.json");
  check_file(path, tpt_tokenizer_load(context, path, &tokenizer));
  return tokenizer;
}

static inline tpt_dataset *open_tokens(tpt_context *context, const char *path, uint64_t vocab) {
  tpt_dataset *data;
  want(path, A_TOKENS | BYTES, "a token file");
  check_file(path, tpt_dataset_open(context, path, &data));
  check_dataset(data, path, vocab);
  return data;
}

/* The value of a key that is a number, or a whole number. */
static inline double setting(const tpt_config *config, const char *key) {
  char text[64];
  size_t length;
  check(tpt_config_get(config, key, text, sizeof text, &length));
  return strtod(text, NULL);
}

static inline uint64_t count_setting(const tpt_config *config, const char *key) {
  char text[64];
  size_t length;
  check(tpt_config_get(config, key, text, sizeof text, &length));
  return strtoull(text, NULL, 10);
}

static inline char *make_text(size_t length) {
  char *text = malloc(length + 1);
  if (!text) die("there is no memory for %zu bytes", length);
  return text;
}

/* The value of any key, and the whole description as YAML: to be freed. */
static inline char *whole_setting(const tpt_config *config, const char *key) {
  size_t length;
  check(tpt_config_get(config, key, NULL, 0, &length));
  char *text = make_text(length);
  check(tpt_config_get(config, key, text, length + 1, &length));
  return text;
}

static inline char *whole_yaml(const tpt_config *config) {
  size_t length;
  check(tpt_config_format(config, NULL, 0, &length));
  char *text = make_text(length);
  check(tpt_config_format(config, text, length + 1, &length));
  return text;
}

static inline tpt_context *make_context(uint64_t threads) {
  tpt_context *context;
  check(tpt_context_create(&context));
  if (threads > 256) wrong_call("--threads must be 0 to 256");
  check(tpt_context_set_threads(context, (int32_t)threads));
  return context;
}

#endif
