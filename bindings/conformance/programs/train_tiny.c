/* Trains a tiny model on a sentence that repeats, and prints its loss. */
#include "check.h"

#define SENTENCE "Three phases turn and sum to zero. "
enum { BATCH = 4, SEQ = 32, STEPS = 60 };

int main(void) {
  const char yaml[] = "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n"
                      "  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
                      "train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n";
  const char text[] = SENTENCE SENTENCE SENTENCE SENTENCE;
  int32_t ids[sizeof text], tokens[BATCH * SEQ], targets[BATCH * SEQ];
  uint64_t random_state = 1;
  size_t count, parameters;
  double loss;
  tpt_config *config;
  tpt_tokenizer *tokenizer;
  tpt_dataset *data;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  check(tpt_tokenizer_bytes(NULL, &tokenizer));
  check(tpt_tokenizer_encode(tokenizer, text, sizeof text - 1, ids, sizeof text, &count));
  check(tpt_dataset_from_tokens(NULL, ids, count, &data));
  check(tpt_config_parse(yaml, sizeof yaml - 1, &config));
  check(tpt_config_parameter_count(config, &parameters));
  check(tpt_model_create(NULL, config, 1, &model));
  check(tpt_trainer_create(model, NULL, &trainer));
  check(tpt_optimizer_create(trainer, NULL, &optimizer));
  printf("%zu parameters, %zu tokens\n", parameters, count);
  for (int step = 1; step <= STEPS; step++) {
    check(tpt_dataset_random(data, &random_state, BATCH, SEQ, tokens, targets));
    check(tpt_trainer_zero_gradients(trainer));
    check(tpt_trainer_accumulate(trainer, tokens, targets, BATCH, SEQ, &loss));
    check(tpt_optimizer_step(optimizer, NULL));
    if (step == 1 || step % 20 == 0) printf("step %d: loss %.2f\n", step, loss);
  }
  tpt_optimizer_destroy(optimizer), tpt_trainer_destroy(trainer), tpt_model_destroy(model);
  tpt_config_destroy(config), tpt_dataset_destroy(data), tpt_tokenizer_destroy(tokenizer);
  return 0;
}
