/* step train|decode 5m|123m [SECONDS] [THREADS]: tokens a second of a preset, as one JSON line.
 *
 * train: whole steps (zero gradients, accumulate, optimizer step) on random tokens, 64 x 128 at 5m
 * and 1 x 1024 at 123m, the batches that bench/torch_peer.py uses. decode: one token at a time
 * after a prompt of 16. The median is quoted; the peak is that of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <3pt/3pt.h>

enum { MOST_TIMES = 4096, WARM_UP = 2, PROMPT = 16, POSITIONS = 128 };

typedef struct size {
  const char *name, *preset, *batch, *seq;
} size;

static const size sizes[] = {{"5m", "3pt-5m", "64", "128"}, {"123m", "3pt-123m", "1", "1024"}};

typedef struct bench {
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  size_t V, batch, seq;
  double seconds; /* to measure for */
  double times[MOST_TIMES];
  size_t count;
} bench;

static void need(tpt_status status) {
  if (status == TPT_OK) return;
  fprintf(stderr, "step: %s: %s\n", tpt_status_name(status), tpt_error_message());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t number(const tpt_config *config, const char *key) {
  char text[32];
  size_t length;
  need(tpt_config_get(config, key, text, sizeof text, &length));
  return (size_t)strtoull(text, NULL, 10);
}

static void open_bench(bench *b, const size *s, int32_t threads) {
  need(tpt_context_create(&b->context));
  need(tpt_context_set_threads(b->context, threads));
  need(tpt_config_preset(s->preset, &b->config));
  need(tpt_config_set(b->config, "train.batch", s->batch));
  need(tpt_config_set(b->config, "train.seq_len", s->seq));
  need(tpt_model_create(b->context, b->config, 1, &b->model));
  b->V = number(b->config, "model.vocab_size");
  b->batch = number(b->config, "train.batch");
  b->seq = number(b->config, "train.seq_len");
}

/* Records one timing; false when there are enough. */
static int record(bench *b, double seconds) {
  static size_t seen;
  if (seen++ >= WARM_UP) b->times[b->count++] = seconds;
  double sum = 0;
  for (size_t i = 0; i < b->count; i++) sum += b->times[i];
  return b->count < MOST_TIMES && (b->count < 3 || sum < b->seconds);
}

static void fill(int32_t *tokens, size_t count, size_t V) {
  for (size_t i = 0; i < count; i++) tokens[i] = (int32_t)((size_t)rand() % V);
}

static double train(bench *b) {
  size_t count = b->batch * b->seq;
  int32_t *tokens = malloc(2 * count * sizeof *tokens);
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  double loss = 0, start;
  if (!tokens) return 0;
  need(tpt_trainer_create(b->model, NULL, &trainer));
  need(tpt_optimizer_create(trainer, NULL, &optimizer));
  do {
    fill(tokens, 2 * count, b->V);
    start = now();
    need(tpt_trainer_zero_gradients(trainer));
    need(tpt_trainer_accumulate(trainer, tokens, tokens + count, b->batch, b->seq, &loss));
    need(tpt_optimizer_step(optimizer, NULL));
  } while (record(b, now() - start));
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
  free(tokens);
  return (double)count;
}

static double decode(bench *b) {
  int32_t tokens[PROMPT];
  tpt_decoder *decoder;
  size_t position = 0;
  double start;
  need(tpt_decoder_create(b->model, POSITIONS, &decoder));
  do {
    if (position == 0) {
      fill(tokens, PROMPT, b->V);
      need(tpt_decoder_rewind(decoder, 0));
      need(tpt_decoder_feed(decoder, tokens, PROMPT, NULL));
    }
    start = now();
    need(tpt_decoder_feed(decoder, tokens, 1, NULL));
    need(tpt_decoder_sample(decoder, tokens));
    need(tpt_decoder_position(decoder, &position));
    position %= POSITIONS;
  } while (record(b, now() - start));
  tpt_decoder_destroy(decoder);
  return 1;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void report(const char *job, const char *name, bench *b, double tokens) {
  struct rusage usage;
  int32_t threads;
  getrusage(RUSAGE_SELF, &usage);
  need(tpt_context_threads(b->context, &threads));
  qsort(b->times, b->count, sizeof *b->times, ascending);
  printf(
      "{\"peer\": \"lib3pt\", \"job\": \"%s\", \"size\": \"%s\", \"threads\": %d, \"runs\": %zu, "
      "\"tokens_per_s\": %.1f, \"best_tokens_per_s\": %.1f, \"rss_gb\": %.3f, \"build\": \"%s\"}\n",
      job, name, (int)threads, b->count, tokens / b->times[b->count / 2], tokens / b->times[0],
      (double)usage.ru_maxrss / 1e6, tpt_build_info());
}

int main(int argc, char **argv) {
  static bench b;
  const size *s = sizes;
  if (argc < 3 || (strcmp(argv[1], "train") && strcmp(argv[1], "decode"))) {
    fprintf(stderr, "usage: step train|decode 5m|123m [SECONDS] [THREADS]\n");
    return 2;
  }
  if (!strcmp(argv[2], "123m")) s++;
  b.seconds = argc > 3 ? atof(argv[3]) : 10;
  open_bench(&b, s, argc > 4 ? atoi(argv[4]) : 0);
  double tokens = strcmp(argv[1], "train") ? decode(&b) : train(&b);
  report(argv[1], s->name, &b, tokens);
  tpt_model_destroy(b.model);
  tpt_config_destroy(b.config);
  tpt_context_destroy(b.context);
  return 0;
}
