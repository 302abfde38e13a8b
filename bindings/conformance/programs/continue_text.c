/* Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time. */
#include "learn.h"

#define SENTENCE "Three phases turn and sum to zero. "
enum { ADDED = 29 };

int main(void) {
  const char yaml[] = "model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,\n"
                      "  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}\n"
                      "train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n";
  const char text[] = SENTENCE SENTENCE SENTENCE SENTENCE, prompt[] = "Three";
  int32_t ids[sizeof text], added[ADDED];
  char words[ADDED + 1];
  size_t count, length;
  tpt_config *config;
  tpt_tokenizer *tokenizer;
  tpt_model *model;
  tpt_decoder *decoder;
  check(tpt_tokenizer_bytes(NULL, &tokenizer));
  check(tpt_config_parse(yaml, sizeof yaml - 1, &config));
  check(tpt_model_create(NULL, config, 1, &model));
  check(tpt_tokenizer_encode(tokenizer, text, sizeof text - 1, ids, sizeof text, &count));
  learn(model, ids, count);
  check(tpt_decoder_create(model, 0, &decoder));
  check(tpt_tokenizer_encode(tokenizer, prompt, sizeof prompt - 1, ids, sizeof text, &count));
  check(tpt_decoder_feed(decoder, ids, count, NULL));
  for (int i = 0; i < ADDED; i++) {
    check(tpt_decoder_sample(decoder, &added[i]));
    check(tpt_decoder_feed(decoder, &added[i], 1, NULL));
  }
  check(tpt_tokenizer_decode(tokenizer, added, ADDED, words, sizeof words, &length));
  printf("%s|%s\n", prompt, words);
  tpt_decoder_destroy(decoder), tpt_model_destroy(model), tpt_config_destroy(config);
  tpt_tokenizer_destroy(tokenizer);
  return 0;
}
