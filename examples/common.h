/* What the example programs share: options, files, and ending with a message that says what to do.
 *
 * A program ends with status 0 when it did its work, 1 when it could not, 2 when it was called
 * wrongly. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <3pt/3pt.h>

enum { MAX_WORDS = 64 };

typedef enum option_kind { FLAG, TEXT, COUNT, NUMBER } option_kind;

typedef struct option {
  const char *name; /* "--seed"; NULL ends the table */
  option_kind kind;
  void *value; /* int, const char *, uint64_t or double; holds the default */
  const char *help;
} option;

typedef struct program {
  const char *name, *usage, *about;
  const option *options;
  int least_words, most_words; /* of what is not an option */
} program;

static const program *the_program;
static const char *the_name; /* as it was called */

static inline void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void wrong_call(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static inline void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s: ", the_name);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(1);
}

static inline void wrong_call(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s: ", the_name);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\nusage: %s %s\nAll options: %s --help\n", the_name, the_program->usage,
          the_name);
  va_end(args);
  exit(2);
}

/* The library says what was wrong and what is allowed: nothing to add. */
static inline void check(tpt_status status) {
  if (status != TPT_OK) die("%s", tpt_error_message());
}

/* A program that could not say what it found has failed. */
static inline void flush_output(void) {
  if (fflush(stdout) || ferror(stdout)) die("the output could not be written: is the disk full?");
}

static inline void show_help(const program *p) {
  static const char *const VALUE[] = {"", " TEXT", " COUNT", " NUMBER"};
  printf("usage: %s %s\n\n%s\n\noptions:\n", the_name, p->usage, p->about);
  for (const option *o = p->options; o->name; o++) {
    char left[64];
    snprintf(left, sizeof left, "%s%s", o->name, VALUE[o->kind]);
    printf("  %-22s %s\n", left, o->help);
  }
  printf("  %-22s %s\n", "--help", "this text");
  flush_output();
  exit(0);
}

static inline void set_option(const option *o, const char *text) {
  char *end = NULL;
  errno = 0;
  if (o->kind == TEXT) {
    memcpy(o->value, &text, sizeof text);
    return;
  }
  if (o->kind == COUNT) *(uint64_t *)o->value = strtoull(text, &end, 10);
  if (o->kind == NUMBER) *(double *)o->value = strtod(text, &end);
  int wild = o->kind == NUMBER && !isfinite(*(double *)o->value);
  if (errno || end == text || *end || strchr(text, '-') || wild)
    wrong_call("%s must be a %s from 0, not '%s'", o->name,
               o->kind == COUNT ? "whole number" : "number", text);
}

/* Reads the options into their variables; the other words go to words[0, result). */
static inline int read_call(const program *p, int argc, char **argv, const char **words) {
  int count = 0;
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  the_program = p;
  the_name = slash ? slash + 1 : argc > 0 ? argv[0] : p->name;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) show_help(p);
    if (word[0] != '-' || word[1] == 0) {
      if (count == p->most_words || count == MAX_WORDS) wrong_call("'%s' is one too many", word);
      words[count++] = word;
      continue;
    }
    const option *o = p->options;
    while (o->name && strcmp(o->name, word) != 0) o++;
    if (!o->name) wrong_call("there is no option %s", word);
    if (o->kind == FLAG) {
      *(int *)o->value = 1;
    } else {
      if (i + 1 == argc) wrong_call("%s needs a value after it", word);
      set_option(o, argv[++i]);
    }
  }
  if (count < p->least_words) wrong_call("something is missing");
  return count;
}

/* Appends the whole of a file ("-": standard input) to *text, which realloc grows. */
static inline void read_text(const char *path, char **text, size_t *length) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) die("%s cannot be read: %s", path, strerror(errno));
  for (size_t got = 1; got > 0; *length += got) {
    enum { PIECE = 1 << 20 };
    char *more = realloc(*text, *length + PIECE);
    if (!more) die("there is no memory for the text of %s", path);
    *text = more;
    got = fread(*text + *length, 1, PIECE, file);
  }
  if (ferror(file)) die("%s cannot be read: %s", path, strerror(errno));
  if (file != stdin) fclose(file);
}

/* Finds out before hours of work whether a file of this name can be made. */
static inline void check_writable(const char *path) {
  char trial[4096];
  struct stat found;
  if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
    die("%s cannot be written: it is a folder", path);
  if ((size_t)snprintf(trial, sizeof trial, "%s.XXXXXX", path) >= sizeof trial)
    die("%s cannot be written: the name is too long", path);
  int file = mkstemp(trial);
  if (file < 0) die("%s cannot be written: %s", path, strerror(errno));
  close(file);
  remove(trial);
}

static inline int32_t *encode(const tpt_tokenizer *tokenizer, const char *text, size_t length,
                              size_t *count) {
  size_t capacity = length + 16; /* a token is at least a byte, save for marks at the start */
  int32_t *ids = NULL;
  for (;;) {
    ids = realloc(ids, capacity * sizeof *ids);
    if (!ids) die("there is no memory for %zu tokens", capacity);
    check(tpt_tokenizer_encode(tokenizer, text, length, ids, capacity, count));
    if (*count <= capacity) return ids;
    capacity = *count;
  }
}

/* A description from a YAML file or the name of a preset, with "key=value" words laid over it. */
static inline tpt_config *read_description(const char *name, const char **changes, int count) {
  tpt_config *config = NULL;
  FILE *file = fopen(name, "rb");
  if (file) {
    fclose(file);
    check(tpt_config_load(name, &config));
  } else if (tpt_config_preset(name, &config) != TPT_OK) {
    die("'%s' is neither a file that can be read nor a preset: %s", name, tpt_error_message());
  }
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
  return config;
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

static inline tpt_context *make_context(uint64_t threads) {
  tpt_context *context;
  check(tpt_context_create(&context));
  if (threads > 256) wrong_call("--threads must be 0 to 256");
  check(tpt_context_set_threads(context, (int32_t)threads));
  return context;
}

#endif
