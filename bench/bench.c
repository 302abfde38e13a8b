/* What the bench programs share. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const bench_size sizes[] = {{"5m", "3pt-5m", "64", "128"},
                                   {"123m", "3pt-123m", "1", "1024"},
                                   {"rope-5m", "rope-only-5m", "64", "128"},
                                   {"rope-123m", "rope-only-123m", "1", "1024"}};

static const char *const precisions[] = {"f32", "bf16x3", "bf16x6", "bf16", "int8"};

const char bench_words[] =
    "  SIZE       5m 123m, or RoPE-only: rope-5m rope-123m\n"
    "  WORD       f32 bf16x3 bf16x6 bf16 int8: the precision (f32); recompute; fold;\n"
    "             threads=2 seconds=10 runs=0 sequences=16 prompt=512;\n"
    "             or a key of the description: train.batch=8 model.n_phases=1\n";

void bench_die(const char *what) {
  fprintf(stderr, "bench: %s\n", what);
  exit(2);
}

void bench_need(tpt_status status) {
  if (status == TPT_OK) return;
  if (status != TPT_E_UNSUPPORTED) {
    fprintf(stderr, "bench: %s: %s\n", tpt_status_name(status), tpt_error_message());
    exit(1);
  }
  char text[512];
  snprintf(text, sizeof text, "%s", tpt_error_message());
  for (char *c = text; *c; c++)
    if (*c == '"' || *c == '\\') *c = '\'';
  printf("{\"peer\": \"lib3pt\", \"unsupported\": \"%s\"}\n", text);
  exit(0);
}

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t bench_number(const tpt_config *config, const char *key) {
  char text[32];
  size_t length;
  bench_need(tpt_config_get(config, key, text, sizeof text, &length));
  return (size_t)strtoull(text, NULL, 10);
}

void bench_fill(int32_t *tokens, size_t count, size_t V) {
  for (size_t i = 0; i < count; i++) tokens[i] = (int32_t)((size_t)rand() % V);
}

void *bench_take(size_t bytes) {
  size_t whole = (bytes + 63) / 64 * 64;
  void *block = aligned_alloc(64, whole ? whole : 64);
  if (!block) bench_die("no memory");
  return memset(block, 0, whole);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t count, double share) {
  qsort(values, count, sizeof *values, ascending);
  size_t at = (size_t)(share * (double)count);
  return values[at < count ? at : count - 1];
}

double bench_rss_gb(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1e6;
}

/* ---- the command line ---- */

static const bench_size *size_called(const char *name) {
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (strcmp(name, sizes[i].name) == 0) return &sizes[i];
  bench_die("SIZE is 5m, 123m, rope-5m or rope-123m");
  return NULL;
}

static void start(bench_subject *s, const char *job, const char *size) {
  *s = (bench_subject){.job = job,
                       .size = size_called(size),
                       .precision = "f32",
                       .seconds = 10,
                       .sequences = 16,
                       .prompt = 512};
  bench_need(tpt_config_preset(s->size->preset, &s->config));
  bench_need(tpt_config_set(s->config, "train.batch", s->size->batch));
  bench_need(tpt_config_set(s->config, "train.seq_len", s->size->seq));
}

static bool read_precision(bench_subject *s, const char *word) {
  for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
    if (strcmp(word, precisions[i])) continue;
    s->precision = precisions[i];
    return true;
  }
  return false;
}

/* NAME=VALUE, a number of the measurement or a key of the description. */
static void read_pair(bench_subject *s, const char *word) {
  char name[80];
  const char *value = strchr(word, '=');
  if (!value || (size_t)(value - word) >= sizeof name) bench_die(word);
  snprintf(name, sizeof name, "%.*s", (int)(value++ - word), word);
  if (strchr(name, '.'))
    bench_need(tpt_config_set(s->config, name, value));
  else if (!strcmp(name, "threads"))
    s->threads = atoi(value);
  else if (!strcmp(name, "seconds"))
    s->seconds = atof(value);
  else if (!strcmp(name, "runs"))
    s->runs = strtoull(value, NULL, 10);
  else if (!strcmp(name, "sequences"))
    s->sequences = strtoull(value, NULL, 10);
  else if (!strcmp(name, "prompt"))
    s->prompt = strtoull(value, NULL, 10);
  else
    bench_die(word);
}

static void read_word(bench_subject *s, const char *word) {
  if (read_precision(s, word)) return;
  if (!strcmp(word, "recompute"))
    bench_need(tpt_config_set(s->config, "train.recompute", "block"));
  else if (!strcmp(word, "fold"))
    s->fold = true;
  else
    read_pair(s, word);
}

int bench_read(bench_subject *s, char **words, int count) {
  if (count < 2) bench_die("give JOB and SIZE; without any word the program shows what there is");
  start(s, words[0], words[1]);
  int used = 2;
  for (; used < count && strcmp(words[used], "against"); used++) read_word(s, words[used]);
  bench_need(tpt_config_check(s->config));
  return used;
}
