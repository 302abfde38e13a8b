/* The library inside a program of your own: a small model learns the phrase below in a few seconds
 * from an array in memory, then continues it. No files, no threads left behind. */
#include "common.h"

static uint64_t steps = 3;

static const option OPTIONS[] = {{"--steps", COUNT, &steps, "training steps (3; 200 learn it)"},
                                 {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "embed_in_host",
    "[options]",
    "Trains a small model on a phrase held in memory and samples from it.",
    OPTIONS,
    0,
    0};

static const char DESCRIPTION[] =
    "model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,\n"
    "  n_kv_heads: 3, d_ff: 96, n_phases: 3, max_seq_len: 40}\n"
    "train: {batch: 8, steps: 1000, warmup: 1, lr: 1e-2}\n";

static const char PHRASE[] = "Three phases turn and sum to zero. ";
enum { REPEATS = 40, BATCH = 8, SEQ = 40 }; /* SEQ, as max_seq_len: the phrase has room */

static tpt_dataset *make_data(tpt_context *context, const tpt_tokenizer *tokenizer) {
  char text[sizeof PHRASE * REPEATS] = "";
  size_t count;
  tpt_dataset *data;
  for (int i = 0; i < REPEATS; i++) strcat(text, PHRASE);
  int32_t *ids = encode(tokenizer, "the phrase", text, strlen(text), &count);
  check(tpt_dataset_from_tokens(context, ids, count, &data));
  free(ids);
  return data;
}

static void learn(tpt_model *model, const tpt_dataset *data) {
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  int32_t tokens[BATCH * SEQ], targets[BATCH * SEQ];
  uint64_t random_state = 1;
  double loss, norm;
  check(tpt_trainer_create(model, NULL, &trainer));
  check(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (uint64_t step = 1; step <= steps; step++) {
    check(tpt_dataset_random(data, &random_state, BATCH, SEQ, tokens, targets));
    check(tpt_trainer_zero_gradients(trainer));
    check(tpt_trainer_accumulate(trainer, tokens, targets, BATCH, SEQ, &loss));
    check(tpt_optimizer_step(optimizer, &norm));
    if (step <= 3 || step % 50 == 0)
      printf("step %llu: loss %.3f, gradient norm %.3f\n", (unsigned long long)step, loss, norm);
  }
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
}

/* Up to its full stop, or as far as there is room. */
static void say(const tpt_model *model, const tpt_tokenizer *tokenizer) {
  tpt_decoder *decoder;
  size_t count, length;
  char text[4 * SEQ];
  int32_t *ids = encode(tokenizer, "the start", "Three", 5, &count), added[SEQ] = {0};
  check(tpt_decoder_create(model, 0, &decoder));
  check(tpt_decoder_feed(decoder, ids, count, NULL));
  size_t made = 0;
  while (count + made < SEQ && (made == 0 || added[made - 1] != '.')) {
    check(tpt_decoder_sample(decoder, &added[made]));
    check(tpt_decoder_feed(decoder, &added[made++], 1, NULL));
  }
  check(tpt_tokenizer_decode(tokenizer, added, made, text, sizeof text, &length));
  printf("Three%s\n", text);
  free(ids);
  tpt_decoder_destroy(decoder);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  read_call(&PROGRAM, argc, argv, words);
  tpt_context *context = make_context(0);
  tpt_tokenizer *tokenizer;
  tpt_config *config;
  tpt_model *model;
  check(tpt_tokenizer_bytes(context, &tokenizer));
  check(tpt_config_parse(DESCRIPTION, strlen(DESCRIPTION), &config));
  check(tpt_model_create(context, config, 1, &model));
  tpt_dataset *data = make_data(context, tokenizer);
  learn(model, data);
  say(model, tokenizer);
  tpt_dataset_destroy(data); /* in any order */
  tpt_context_destroy(context);
  tpt_model_destroy(model);
  tpt_config_destroy(config);
  tpt_tokenizer_destroy(tokenizer);
  flush_output();
  return 0;
}
