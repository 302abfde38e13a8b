/* A wrong description, a file that is not there, a token that the model has not: what each says. */
#include "check.h"

static void show(tpt_status status) {
  printf("%s: %s\n", tpt_status_name(status), tpt_error_message());
}

int main(void) {
  const char wrong[] = "model: {d_model: 25}\n";
  const char right[] = "model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,\n"
                       "  n_kv_heads: 3, d_ff: 48, max_seq_len: 8}\n";
  const int32_t token = 256;
  tpt_config *config;
  tpt_model *model;
  tpt_decoder *decoder;
  show(tpt_config_parse(wrong, sizeof wrong - 1, &config));
  show(tpt_model_load(NULL, "no-such-folder/model.safetensors", NULL, &model));
  check(tpt_config_parse(right, sizeof right - 1, &config));
  check(tpt_model_create(NULL, config, 1, &model));
  check(tpt_decoder_create(model, 0, &decoder));
  show(tpt_decoder_feed(decoder, &token, 1, NULL));
  tpt_decoder_destroy(decoder), tpt_model_destroy(model), tpt_config_destroy(config);
  return 0;
}
