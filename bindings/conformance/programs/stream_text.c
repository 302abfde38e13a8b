/* The same with a seeded sampler, printed piece by piece as soon as a character is whole. */
#include "learn.h"

#define SENTENCE "Three phases turn · sum to zero · "

int main(void) {
  const char yaml[] = "model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,\n"
                      "  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}\n"
                      "train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n";
  const char text[] = SENTENCE SENTENCE SENTENCE SENTENCE, prompt[] = "Three";
  int32_t ids[sizeof text];
  char piece[16];
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
  check(tpt_decoder_set_sampling(decoder, 0.5, 4, 0.9, 7));
  check(tpt_tokenizer_encode(tokenizer, prompt, sizeof prompt - 1, ids, sizeof text, &count));
  check(tpt_decoder_feed(decoder, ids, count, NULL));
  printf("%s|", prompt);
  for (size_t done = count; done < SEQ; done++) {
    check(tpt_decoder_sample(decoder, &ids[done]));
    check(tpt_decoder_feed(decoder, &ids[done], 1, NULL));
    check(tpt_tokenizer_decode_tail(tokenizer, ids, done + 1, done, piece, sizeof piece, &length));
    printf("%s|", piece);
    fflush(stdout);
  }
  printf("\n");
  tpt_decoder_destroy(decoder), tpt_model_destroy(model), tpt_config_destroy(config);
  tpt_tokenizer_destroy(tokenizer);
  return 0;
}
