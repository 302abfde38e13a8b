/* What the example programs share beside their calls (call.h) and files (files.h): texts, tokens,
 * descriptions and models. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include "files.h"

/* Appends the whole of a file ("-": standard input) to *text, which realloc grows. */
static inline void read_text(const char *path, char **text, size_t *length) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) die("%s: cannot be read: %s", path, strerror(errno));
  path = shown_name(path);
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

/* ---- texts that are joined ---- */

typedef struct texts {
  const char *paths[MAX_WORDS];
  size_t ends[MAX_WORDS]; /* of each in `text` */
  int count;
  char *text;
  size_t length;
} texts;

static inline void read_texts(texts *t) {
  for (int i = 0; i < t->count; i++) {
    read_text(t->paths[i], &t->text, &t->length);
    t->ends[i] = t->length;
  }
}

/* What they are in a message. */
static inline const char *name_texts(const texts *t) {
  static char name[32];
  snprintf(name, sizeof name, "the %d texts joined", t->count);
  return t->count == 1 ? shown_name(t->paths[0]) : name;
}

/* What the library said of the texts. Where one is not UTF-8 it is named, with the place in it: a
 * tokenizer of no merges reads the text, and that is all. */
static inline void check_texts(const texts *t, tpt_status status) {
  char said[1024];
  if (status == TPT_OK) return;
  snprintf(said, sizeof said, "%s", tpt_error_message());
  for (int i = 0; i < t->count && t->count > 1; i++) {
    size_t from = i ? t->ends[i - 1] : 0;
    tpt_tokenizer *reader;
    check_file(t->paths[i],
               tpt_tokenizer_bpe(NULL, t->text + from, t->ends[i] - from, 256, &reader));
    tpt_tokenizer_destroy(reader);
  }
  die("%s: %s", name_texts(t), said);
}

/* Before anything is replaced by nothing. */
static inline void refuse_empty(const texts *t, size_t size, const char *what) {
  if (size == 0) die("%s: %s: nothing is written", name_texts(t), what);
}

/* ---- tokens ---- */

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
  check_file(source, try_encode(tokenizer, text, length, &ids, count));
  return ids;
}

/* Tokens that the model has not are found now, and not at some step in the night.
 *   source    the token file
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

/* ---- descriptions ---- */

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

static inline tpt_status set_count(tpt_config *config, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return tpt_config_set(config, key, text);
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
  char presets[1024] = "";
  for (size_t i = 0; tpt_config_preset_name(i); i++) {
    size_t used = strlen(presets);
    snprintf(presets + used, sizeof presets - used, " %s", tpt_config_preset_name(i));
  }
  die("%s: there is no such file, nor is it one of the presets:%s", name, presets);
}

/* ---- models ---- */

/* The library says "give one" of a model file without a description: here is how. */
static inline void check_model(const char *path, tpt_status status) {
  static const char OPTION[] = "--config";
  char text[PATH_MAX + 1024];
  if (status != TPT_E_CONFIG || !strstr(tpt_error_message(), "holds no description") ||
      !find_option(OPTION, strlen(OPTION))) {
    check_file(path, status);
    return;
  }
  complain_of(path, text, sizeof text);
  die("%s with %s", text, OPTION);
}

/* config: NULL: the file's own; else the training part of it becomes the model's. */
static inline tpt_model *load_model(tpt_context *context, const char *path,
                                    const tpt_config *config) {
  tpt_model *model;
  check_model(path, tpt_model_load(context, path, config, &model));
  return model;
}

/* The description of a model file; given: as of load_model. */
static inline tpt_config *model_description(const char *path, const tpt_config *given) {
  tpt_config *config;
  tpt_model *model = load_model(NULL, path, given);
  check(tpt_config_copy(tpt_model_config(model), &config));
  tpt_model_destroy(model);
  return config;
}

/* From a YAML file, the name of a preset, or a model file, which holds its own. An empty file would
 * be the defaults: it is rather one that was not written. */
static inline tpt_config *read_description(const char *name) {
  tpt_config *config = NULL;
  file_kind kind = kind_of(name);
  if (kind == EMPTY_FILE)
    die("%s: is empty; a description (YAML), a preset or a model file is wanted", name);
  if (kind == A_MODEL) return model_description(name, NULL);
  if (is_there(name))
    check_file(name, tpt_config_load(name, &config));
  else if (errno != ENOENT)
    die("%s: cannot be read: %s", name, strerror(errno));
  else if (tpt_config_preset(name, &config) != TPT_OK)
    no_description(name);
  return config;
}

/* description: where --config says that the model's is; NULL: in its file. */
static inline tpt_model *load_described(tpt_context *context, const char *path,
                                        const char *description) {
  tpt_config *config = description ? read_description(description) : NULL;
  tpt_model *model = load_model(context, path, config);
  tpt_config_destroy(config);
  return model;
}

static inline void check_weights(const char *weights) {
  want_choice("--weights", weights, (const char *const[]){"f32", "bf16", "int8", NULL});
}

/* Takes the model, and gives one for decoding whose matrices are held as `weights` says. */
static inline tpt_model *convert_model(tpt_model *model, const char *weights) {
  tpt_model *converted;
  check(tpt_model_convert(model, weights, &converted));
  tpt_model_destroy(model);
  return converted;
}

static inline tpt_tokenizer *load_tokenizer(tpt_context *context, const char *path) {
  tpt_tokenizer *tokenizer;
  check_file(path, tpt_tokenizer_load(context, path, &tokenizer));
  return tokenizer;
}

/* One with fewer ids than the model has can be the model's: there may be room for more. */
static inline tpt_tokenizer *load_tokenizer_of(const tpt_model *model, tpt_context *context,
                                               const char *path) {
  tpt_tokenizer *tokenizer = load_tokenizer(context, path);
  uint64_t vocab = count_setting(tpt_model_config(model), "model.vocab_size");
  size_t ids;
  check(tpt_tokenizer_vocab_size(tokenizer, &ids));
  if (ids > vocab)
    die("%s: has %zu tokens, and the model's vocab_size is %llu: it is the tokenizer of another "
        "model",
        path, ids, (unsigned long long)vocab);
  return tokenizer;
}

static inline tpt_dataset *open_tokens(tpt_context *context, const char *path, uint64_t vocab) {
  tpt_dataset *data;
  check_file(path, tpt_dataset_open(context, path, &data));
  check_dataset(data, path, vocab);
  return data;
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
  check(tpt_context_set_threads(context, (int32_t)threads));
  return context;
}

#endif
