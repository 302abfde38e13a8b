#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tpt_context *context_of(size_t threads) {
  tpt_context *context;
  check(tpt_context_create(&context));
  check(tpt_context_set_threads(context, (int32_t)threads));
  return context;
}

tpt_config *config_of(const char *yaml) {
  tpt_config *made;
  check(tpt_config_parse(yaml, strlen(yaml), &made));
  return made;
}

size_t setting(const tpt_config *described, const char *key) {
  char text[24];
  size_t length;
  check(tpt_config_get(described, key, text, sizeof text, &length));
  return strtoul(text, NULL, 10);
}

static tpt_dataset *data_of(const run *r, const char *text) {
  tpt_dataset *data;
  ids all = ids_of(r->tokenizer, text);
  check(tpt_dataset_from_tokens(r->context, all.values, all.count, &data));
  free(all.values);
  return data;
}

run run_start(const json_t *training, uint64_t seed) {
  run r = {.context = context_of(size_at(training, "threads")),
           .config = config_of(text_at(training, "yaml")),
           .random_state = u64_at(training, "random_state"),
           .batch = size_at(training, "batch"),
           .seq = size_at(training, "seq"),
           .steps = size_at(training, "steps")};
  r.tokens = take(r.batch * r.seq, sizeof *r.tokens);
  r.targets = take(r.batch * r.seq, sizeof *r.targets);
  check(tpt_tokenizer_bytes(r.context, &r.tokenizer));
  r.data = data_of(&r, text_at(training, "text"));
  check(tpt_model_create(r.context, r.config, seed, &r.model));
  check(tpt_trainer_create(r.model, NULL, &r.trainer));
  check(tpt_optimizer_create(r.trainer, NULL, &r.optimizer));
  return r;
}

double run_accumulate(run *r) {
  double loss;
  check(tpt_dataset_random(r->data, &r->random_state, r->batch, r->seq, r->tokens, r->targets));
  check(tpt_trainer_zero_gradients(r->trainer));
  check(tpt_trainer_accumulate(r->trainer, r->tokens, r->targets, r->batch, r->seq, &loss));
  return loss;
}

void run_steps(run *r, size_t steps, double *losses, double *norms) {
  for (size_t i = 0; i < steps; i++) {
    double loss = run_accumulate(r);
    if (losses) losses[i] = loss;
    check(tpt_optimizer_step(r->optimizer, norms ? &norms[i] : NULL));
  }
}

run run_whole(const json_t *training) {
  run r = run_start(training, u64_at(training, "seed"));
  run_steps(&r, r.steps, NULL, NULL);
  return r;
}

void run_end(run *r) {
  tpt_optimizer_destroy(r->optimizer);
  tpt_trainer_destroy(r->trainer);
  tpt_model_destroy(r->model);
  tpt_config_destroy(r->config);
  tpt_dataset_destroy(r->data);
  tpt_tokenizer_destroy(r->tokenizer);
  tpt_context_destroy(r->context);
  free(r->tokens);
  free(r->targets);
}

json_t *parameters_of(tpt_model *model) {
  float *values;
  size_t count;
  check(tpt_model_parameters(model, &values, &count));
  return of_floats(values, count);
}

char *scratch_file(const char *scratch, const char *ending) {
  size_t size = strlen(scratch) + strlen(ending) + 1;
  char *path = take(size, 1);
  snprintf(path, size, "%s%s", scratch, ending);
  return path;
}

void drop_file(char *path) {
  remove(path);
  free(path);
}
