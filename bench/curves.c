/* curves TRAIN HELD [WORD ...]: a small model of a real text, for bench/curves.
 *
 * Learns byte-level BPE from the text of the file TRAIN, trains runs=500 steps of batches of 8 x
 * 128 in the precision given, always from the same seed and on the same windows, and prints each
 * step's loss on a line; then, as a JSON line, the perplexity of the text of the file HELD by the
 * model as it is and as tpt_model_convert makes it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { VOCABULARY = 2048, STEPS = 500 };

typedef struct curve {
  bench_subject subject;
  tpt_context *context;
  tpt_dataset *train, *held;
  tpt_model *model;
  size_t batch, seq, steps;
} curve;

/* ---- text to tokens ---- */

typedef struct text {
  char *bytes;
  size_t length;
} text;

static text read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) bench_die(path);
  text t = {NULL, (size_t)ftell(file)};
  t.bytes = bench_take(t.length);
  rewind(file);
  if (fread(t.bytes, 1, t.length, file) != t.length) bench_die(path);
  fclose(file);
  return t;
}

static void tokens_of(curve *c, const tpt_tokenizer *tokenizer, text t, tpt_dataset **dataset) {
  size_t count;
  int32_t *ids = bench_take(t.length * sizeof *ids); /* a token is a byte or more */
  bench_need(tpt_tokenizer_encode_text(tokenizer, t.bytes, t.length, ids, t.length, &count));
  bench_need(tpt_dataset_from_tokens(c->context, ids, count, dataset));
  free(ids);
}

static void open_texts(curve *c, const char *train, const char *held) {
  text learnt = read_text(train), kept = read_text(held);
  char vocabulary[32];
  size_t count;
  tpt_tokenizer *tokenizer;
  bench_need(tpt_tokenizer_bpe(c->context, learnt.bytes, learnt.length, VOCABULARY, &tokenizer));
  bench_need(tpt_tokenizer_vocab_size(tokenizer, &count));
  snprintf(vocabulary, sizeof vocabulary, "%zu", count);
  bench_need(tpt_config_set(c->subject.config, "model.vocab_size", vocabulary));
  tokens_of(c, tokenizer, learnt, &c->train);
  tokens_of(c, tokenizer, kept, &c->held);
  tpt_tokenizer_destroy(tokenizer);
  free(learnt.bytes);
  free(kept.bytes);
}

/* ---- training ---- */

/* What the words of the command line did not say: a recipe for few steps of small batches. */
static void set_recipe(curve *c) {
  static const char *const recipe[][2] = {
      {"train.batch", "8"}, {"train.seq_len", "128"}, {"train.warmup", "50"}, {"train.lr", "1e-3"}};
  tpt_config *config = c->subject.config;
  char steps[32];
  c->steps = c->subject.runs ? c->subject.runs : STEPS;
  snprintf(steps, sizeof steps, "%zu", c->steps + 50);
  bench_need(tpt_config_set(config, "train.steps", steps));
  for (size_t i = 0; i < sizeof recipe / sizeof recipe[0]; i++)
    bench_need(tpt_config_set(config, recipe[i][0], recipe[i][1]));
  bench_need(tpt_config_set(config, "train.precision", c->subject.precision));
  c->batch = bench_number(config, "train.batch");
  c->seq = bench_number(config, "train.seq_len");
}

static void train(curve *c) {
  size_t count = c->batch * c->seq;
  int32_t *tokens = bench_take(2 * count * sizeof *tokens);
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  uint64_t state = 1;
  double loss;
  bench_need(tpt_trainer_create(c->model, NULL, &trainer));
  bench_need(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (size_t i = 0; i < c->steps; i++) {
    bench_need(tpt_dataset_random(c->train, &state, c->batch, c->seq, tokens, tokens + count));
    bench_need(tpt_trainer_zero_gradients(trainer));
    bench_need(tpt_trainer_accumulate(trainer, tokens, tokens + count, c->batch, c->seq, &loss));
    bench_need(tpt_optimizer_step(optimizer, NULL));
    printf("%.9f\n", loss);
    fflush(stdout);
  }
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
  free(tokens);
}

/* ---- held-out text ---- */

/* NaN: this version has no such precision. */
static double perplexity(const curve *c, const char *precision) {
  tpt_evaluation evaluation;
  evaluation.size = sizeof evaluation;
  tpt_model *converted;
  tpt_status status = tpt_model_convert(c->model, precision, &converted);
  if (status == TPT_E_UNSUPPORTED) return (double)NAN;
  bench_need(status);
  bench_need(tpt_evaluate(converted, NULL, c->held, c->seq, 0, &evaluation));
  tpt_model_destroy(converted);
  return evaluation.perplexity;
}

static void evaluate(const curve *c) {
  static const char *const precisions[] = {"f32", "bf16", "int8"};
  printf("{\"peer\": \"lib3pt\", \"precision\": \"%s\", \"steps\": %zu", c->subject.precision,
         c->steps);
  for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
    double value = perplexity(c, precisions[i]);
    if (!isnan(value)) printf(", \"%s\": %.6f", precisions[i], value);
  }
  printf("}\n");
}

int main(int argc, char **argv) {
  static curve c;
  if (argc < 3) {
    fprintf(stderr, "usage: bench_curves TRAIN HELD [WORD ...]\n%s", bench_words);
    return 2;
  }
  const char *learnt = argv[1], *held = argv[2];
  argv[1] = (char[]){"curves"}, argv[2] = (char[]){"5m"};
  bench_read(&c.subject, argv + 1, argc - 1);
  bench_need(tpt_context_create(&c.context));
  bench_need(tpt_context_set_threads(c.context, c.subject.threads));
  open_texts(&c, learnt, held);
  set_recipe(&c);
  bench_need(tpt_model_create(c.context, c.subject.config, 1, &c.model));
  train(&c);
  evaluate(&c);
  tpt_model_destroy(c.model);
  tpt_dataset_destroy(c.train);
  tpt_dataset_destroy(c.held);
  tpt_config_destroy(c.subject.config);
  tpt_context_destroy(c.context);
  return 0;
}
