/* What a token costs in C, for bindings to be measured against: README.md.
 *
 *   overhead SECONDS
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "programs/check.h"

enum { TOKENS = 127, MOST_ROUNDS = 100000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A token a call. */
static double step_by_step(tpt_decoder *decoder) {
  double start = now();
  int32_t token = 0;
  for (int i = 0; i < TOKENS; i++) {
    check(tpt_decoder_feed(decoder, &token, 1, NULL));
    check(tpt_decoder_sample(decoder, &token));
  }
  check(tpt_decoder_rewind(decoder, 0));
  return now() - start;
}

/* As many are fed, in one call but for the first. */
static double in_one_call(tpt_decoder *decoder) {
  double start = now();
  int32_t tokens[TOKENS] = {0};
  size_t made;
  check(tpt_decoder_feed(decoder, tokens, 1, NULL));
  check(tpt_decoder_generate(decoder, -1, tokens + 1, TOKENS - 1, &made));
  check(tpt_decoder_rewind(decoder, 0));
  return now() - start;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_seconds(double (*round_seconds)(tpt_decoder *), tpt_decoder *decoder,
                             double seconds) {
  static double rounds[MOST_ROUNDS];
  size_t count = 0;
  double end = now() + seconds;
  do rounds[count++] = round_seconds(decoder);
  while (now() < end && count < MOST_ROUNDS);
  qsort(rounds, count, sizeof *rounds, ascending);
  return rounds[count / 2];
}

int main(int argc, char **argv) {
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  tpt_decoder *decoder;
  check(tpt_context_create(&context));
  check(tpt_config_preset("3pt-5m", &config));
  check(tpt_model_create(context, config, 1, &model));
  check(tpt_decoder_create(model, 0, &decoder));
  double half = (argc > 1 ? strtod(argv[1], NULL) : 1) / 2;
  printf("{\"tokens_per_s\": %.1f, ", TOKENS / median_seconds(step_by_step, decoder, half));
  printf("\"generated_per_s\": %.1f}\n", TOKENS / median_seconds(in_one_call, decoder, half));
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(model);
  tpt_config_destroy(config);
  tpt_context_destroy(context);
  return 0;
}
