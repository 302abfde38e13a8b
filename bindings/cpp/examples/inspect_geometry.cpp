// What a model's phases look like: profile, angles, and the sum of the phase means.
#include <3pt/3pt.hpp>

#include <cstdio>
#include <numeric>

int main() try {
  const double degree = 3.14159265358979323846 / 180;
  auto model = tpt::model::create(
      tpt::config::parse("model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n"
                         "  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
                         "train: {batch: 1}\n"),
      1);
  std::printf("profile");
  for (const double value : model.dc_profile(0, 4)) std::printf(" %.3f", value);
  std::printf("\n");
  for (std::size_t layer = 0; layer < 2; layer++)
    for (std::size_t phase = 0; phase < 3; phase++) {
      const double angle = model.angles(layer, phase)[0];
      std::printf("layer %zu, phase %zu: %.1f degrees\n", layer, phase, angle / degree);
    }
  auto trainer = tpt::trainer::create(model);
  std::vector<std::int32_t> tokens(32);
  std::iota(tokens.begin(), tokens.end(), 0);
  trainer.forward(tokens, 1, 32);
  const auto sum = trainer.zero_sum();
  std::printf("sum of the phase means %.4f, by the profile %.4f\n", sum.measured, sum.analytic);
} catch (const tpt::error &failure) {
  std::fprintf(stderr, "%s: %s\n", failure.name(), failure.what());
  return 1;
}
