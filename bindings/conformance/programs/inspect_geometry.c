/* What a model's phases look like: profile, angles, and the sum of the phase means. */
#include "check.h"

enum { BATCH = 1, SEQ = 32, PHASES = 3, LAYERS = 2, PAIRS = 4 };

int main(void) {
  const char yaml[] = "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n"
                      "  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
                      "train: {batch: 1}\n";
  const double degree = 3.14159265358979323846 / 180;
  int32_t tokens[SEQ];
  float profile[4], angles[PAIRS];
  double measured, analytic;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  check(tpt_config_parse(yaml, sizeof yaml - 1, &config));
  check(tpt_model_create(NULL, config, 1, &model));
  check(tpt_geometry_dc_profile(model, 0, profile, 4));
  printf("profile %.3f %.3f %.3f %.3f\n", profile[0], profile[1], profile[2], profile[3]);
  for (size_t layer = 0; layer < LAYERS; layer++)
    for (size_t phase = 0; phase < PHASES; phase++) {
      check(tpt_geometry_angles(model, layer, phase, angles, PAIRS));
      printf("layer %zu, phase %zu: %.1f degrees\n", layer, phase, angles[0] / degree);
    }
  check(tpt_trainer_create(model, NULL, &trainer));
  for (int32_t i = 0; i < SEQ; i++) tokens[i] = i;
  check(tpt_trainer_forward(trainer, tokens, BATCH, SEQ));
  check(tpt_geometry_zero_sum(trainer, &measured, &analytic));
  printf("sum of the phase means %.4f, by the profile %.4f\n", measured, analytic);
  tpt_trainer_destroy(trainer), tpt_model_destroy(model), tpt_config_destroy(config);
  return 0;
}
