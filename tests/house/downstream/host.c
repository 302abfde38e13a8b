/* A program of somebody else, C11 and C++17, which has nothing but the installed library. */
#include <3pt/3pt.h>
#include <stdio.h>

int main(void) {
  tpt_config *config = NULL;
  tpt_model *model = NULL;
  tpt_decoder *decoder = NULL;
  tpt_tokenizer *tokenizer = NULL;
  int32_t token = 7;
  tpt_status s = tpt_check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH);
  if (!s) s = tpt_config_create(&config);
  if (!s) s = tpt_config_set(config, "model.vocab_size", "50");
  if (!s) s = tpt_config_set(config, "model.n_layers", "1");
  if (!s) s = tpt_model_create(NULL, config, 1, &model);
  if (!s) s = tpt_decoder_create(model, 0, &decoder);
  if (!s) s = tpt_decoder_feed(decoder, &token, 1, NULL);
  if (!s) s = tpt_decoder_sample(decoder, &token);
  /* Brings JSON and regular expressions into a static program. */
  if (!s && tpt_tokenizer_load(NULL, "absent.json", &tokenizer) != TPT_E_IO) return 2;
  if (s) return fprintf(stderr, "%s\n", tpt_error_message()), 1;
  printf("%s: %s, token %d\n", tpt_version(), tpt_build_info(), (int)token);
  tpt_config_destroy(config), tpt_model_destroy(model), tpt_decoder_destroy(decoder);
  return 0;
}
