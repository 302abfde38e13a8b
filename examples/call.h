/* How the example programs are called, and how they end: one table of options each, and a message
 * that says what to do.
 *
 * A program ends with status 0 when it did its work, 1 when it could not, 2 when it was called
 * wrongly. */
#ifndef EXAMPLES_CALL_H
#define EXAMPLES_CALL_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <3pt/3pt.h>

enum { MAX_WORDS = 64 };

/* COUNTs are whole numbers. INT_COUNT: the library takes an int32_t; SHARE: of 1; TIME: seconds,
 * not 0; STEPS: for a line that is typed, so that it is learned in minutes at most. */
typedef enum option_kind {
  FLAG,
  TEXT,
  COUNT,
  INT_COUNT,
  THREADS,
  STEPS,
  NUMBER,
  SHARE,
  TIME
} option_kind;

typedef struct option {
  const char *name; /* "--seed"; NULL ends the table */
  option_kind kind;
  void *value; /* int, const char *, uint64_t or double; holds the default */
  const char *help;
} option;

typedef struct program {
  const char *name, *usage, *about; /* usage: words that must be there are in capitals, bare */
  const option *options;
  int least_words, most_words; /* of what is not an option */
} program;

static const program *the_program;
static const char *the_name; /* as it was called */
static uint64_t the_given;   /* a bit for each option of the table: whether it was given */

/* ---- ends ---- */

static inline void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static inline void wrong_call(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* A name from the call may hold what a terminal obeys: control characters become '?'. */
static inline void make_harmless(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 32 || *text == 127) *text = '?';
}

/* A line of the output that names files. */
static inline void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void tell(const char *format, ...) {
  char text[4 * PATH_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  make_harmless(text);
  puts(text);
}

static inline void complain(const char *format, va_list args) {
  char text[4 * PATH_MAX]; /* a message names two files at most */
  int used = snprintf(text, PATH_MAX, "%s: ", the_name);
  if (used >= PATH_MAX) used = PATH_MAX - 1;
  vsnprintf(text + used, sizeof text - (size_t)used, format, args);
  make_harmless(text);
  fprintf(stderr, "%s\n", text);
}

static inline void warn(const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain(format, args);
  va_end(args);
}

static inline void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain(format, args);
  va_end(args);
  exit(1);
}

static inline void wrong_call(const char *format, ...) {
  va_list args;
  va_start(args, format);
  complain(format, args);
  va_end(args);
  fprintf(stderr,
          "usage: %s %s\nAll options: %s --help. After -- no word is taken for an option.\n",
          the_name, the_program->usage, the_name);
  exit(2);
}

/* The library says what was wrong and what is allowed: nothing to add. */
static inline void check(tpt_status status) {
  if (status != TPT_OK) die("%s", tpt_error_message());
}

/* A program that could not say what it found has failed. */
static inline void flush_output(void) {
  errno = 0; /* 0: it was an earlier write that failed */
  if (!fflush(stdout) && !ferror(stdout)) return;
  die("the output could not be written: %s", errno == EBADF ? "standard output is closed"
                                             : errno        ? strerror(errno)
                                                            : "is the disk full?");
}

/* One that is closed would be the next file that is opened, and get what is printed. */
static inline void hold_standard_files(void) {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
    if (fcntl(file, F_GETFD) < 0 &&
        open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != file)
      exit(1);
}

/* ---- options ---- */

static inline void show_help(const program *p) {
  static const char *const VALUE[] = {"",       " TEXT",   " COUNT",  " COUNT", " COUNT",
                                      " COUNT", " NUMBER", " NUMBER", " NUMBER"};
  printf("usage: %s %s\n\n%s\n\noptions (--name value or --name=value):\n", the_name, p->usage,
         p->about);
  for (const option *o = p->options; o->name; o++) {
    char left[64];
    snprintf(left, sizeof left, "%s%s", o->name, VALUE[o->kind]);
    printf("  %-22s %s\n", left, o->help);
  }
  printf("  %-22s %s\n", "--help", "this text");
  printf("  %-22s %s\n", "--version", "the versions of the program and of the library");
  printf("  %-22s %s\n", "--", "ends the options: a word after it may begin with -");
  flush_output();
  exit(0);
}

static inline void show_version(void) {
  printf("%s %d.%d.%d (lib3pt %s)\n", the_name, TPT_VERSION_MAJOR, TPT_VERSION_MINOR,
         TPT_VERSION_PATCH, tpt_version());
  flush_output();
  exit(0);
}

static inline int consists_of(const char *text, const char *letters) {
  return *text && strspn(text, letters) == strlen(text);
}

static inline int read_count(const char *text, uint64_t *value) {
  errno = 0;
  *value = strtoull(text, NULL, 10);
  return consists_of(text, "0123456789") && !errno;
}

/* Decimal: strtod also knows hexadecimal numbers, nan and inf. What is too small for a double is
 * 0. */
static inline int read_number(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return consists_of(text, "0123456789.eE+-") && !*end && *value >= 0 && isfinite(*value);
}

static inline void set_option(const option *o, const char *text) {
  static const uint64_t MOST[] = {
      [COUNT] = UINT64_MAX, [INT_COUNT] = INT32_MAX, [THREADS] = 256, [STEPS] = 1000};
  static const char *const RANGE[] = {
      [NUMBER] = "from 0 to 1.79e308", [SHARE] = "from 0 to 1", [TIME] = "above 0, to 1.79e308"};
  if (o->kind == TEXT) memcpy(o->value, &text, sizeof text);
  if (o->kind >= COUNT && o->kind < NUMBER &&
      (!read_count(text, o->value) || *(uint64_t *)o->value > MOST[o->kind]))
    wrong_call("%s must be a whole number from 0 to %llu, not '%s'", o->name,
               (unsigned long long)MOST[o->kind], text);
  if (o->kind >= NUMBER &&
      (!read_number(text, o->value) || (o->kind == SHARE && *(double *)o->value > 1) ||
       (o->kind == TIME && *(double *)o->value == 0)))
    wrong_call("%s must be a number %s, as 0.5 or 5e-1, not '%s'", o->name, RANGE[o->kind], text);
}

/* The option of the program that is called by the first letters of `word`; NULL: there is none. */
static inline const option *find_option(const char *word, size_t letters) {
  for (const option *o = the_program->options; o->name; o++)
    if (strlen(o->name) == letters && memcmp(o->name, word, letters) == 0) return o;
  return NULL;
}

static inline int was_given(const char *name) {
  const option *o = find_option(name, strlen(name));
  return o && the_given >> (o - the_program->options) & 1;
}

/* Takes the option argv[0], and the value that is in it after = or follows.
 *   returns   how many words that were */
static inline int take_option(const program *p, char **argv) {
  const char *word = argv[0], *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  const option *o = find_option(word, length);
  if (!o) wrong_call("there is no option %.*s", (int)length, word);
  the_given |= (uint64_t)1 << (o - p->options);
  if (o->kind == FLAG) {
    if (equals) wrong_call("%s takes no value", o->name);
    *(int *)o->value = 1;
    return 1;
  }
  if (!equals && !argv[1]) wrong_call("%s needs a value after it", o->name);
  set_option(o, equals ? equals + 1 : argv[1]);
  return equals ? 1 : 2;
}

/* Names the words of the usage that were not given. */
static inline void check_words(const program *p, int count) {
  char missing[128] = "";
  const char *word = p->usage;
  for (int i = 0; i < p->least_words; word += strcspn(word, " ")) {
    word += strspn(word, " ");
    size_t letters = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), used = strlen(missing);
    if (letters && i++ >= count)
      snprintf(missing + used, sizeof missing - used, " %.*s", (int)letters, word);
  }
  if (*missing) wrong_call("missing:%s", missing);
}

static inline int is_option(const char *word) { return word[0] == '-' && word[1] != 0; }

/* Reads the options into their variables; the other words go to words[0, result). */
static inline int read_call(const program *p, int argc, char **argv, const char **words) {
  int count = 0, options = 1;
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  hold_standard_files();
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails, and no end */
  the_program = p;
  the_name = slash ? slash + 1 : argc > 0 ? argv[0] : p->name;
  for (int i = 1; i < argc;) {
    const char *word = argv[i];
    if (options && is_option(word)) {
      if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) show_help(p);
      if (strcmp(word, "--version") == 0) show_version();
      options = strcmp(word, "--") != 0;
      i += options ? take_option(p, argv + i) : 1;
      continue;
    }
    if (count == p->most_words || count == MAX_WORDS) wrong_call("'%s' is one too many", word);
    words[count++] = word;
    i++;
  }
  check_words(p, count);
  return count;
}

/* ---- what only the program knows of its options ---- */

/* Refuses a number that is out of range.
 *   why       where a bound is from, after it: " (model.max_seq_len)"; may be empty */
static inline void want_range(const char *name, uint64_t value, uint64_t least, uint64_t most,
                              const char *why) {
  if (value < least || value > most)
    wrong_call("%s must be a whole number from %llu to %llu%s, not %llu", name,
               (unsigned long long)least, (unsigned long long)most, why, (unsigned long long)value);
}

/* Refuses a word that is none of the choices, which NULL ends.
 *   returns   which it is */
static inline size_t want_choice(const char *name, const char *value, const char *const *choices) {
  char all[128] = "";
  for (size_t i = 0; choices[i]; i++) {
    const char *joint = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
    size_t used = strlen(all);
    if (strcmp(value, choices[i]) == 0) return i;
    snprintf(all + used, sizeof all - used, "%s%s", joint, choices[i]);
  }
  wrong_call("%s must be %s, not '%s'", name, all, value);
}

/* Refuses options that were given and would do nothing.
 *   names     NULL ends them
 *   where     "with --tokenizer: no tokenizer is made" */
static inline void refuse_idle(const char *const *names, const char *where) {
  for (; *names; names++)
    if (was_given(*names)) wrong_call("%s has no effect %s", *names, where);
}

#endif
