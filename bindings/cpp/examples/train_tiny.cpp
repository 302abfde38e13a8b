// Trains a tiny model on a sentence that repeats, and prints its loss.
#include <3pt/3pt.hpp>

#include <cstdio>

int main() try {
  const std::string sentence = "Three phases turn and sum to zero. ";
  const auto tokenizer = tpt::tokenizer::bytes();
  const auto ids = tokenizer.encode(sentence + sentence + sentence + sentence);
  const auto data = tpt::dataset::from_tokens(ids);
  const auto config =
      tpt::config::parse("model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n"
                         "  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
                         "train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n");
  auto model = tpt::model::create(config, 1);
  auto trainer = tpt::trainer::create(model);
  auto optimizer = tpt::optimizer::create(trainer);
  std::uint64_t random_state = 1;
  std::printf("%zu parameters, %zu tokens\n", config.parameter_count(), ids.size());
  for (int step = 1; step <= 60; step++) {
    const auto rows = data.random(random_state, 4, 32);
    trainer.zero_gradients();
    const double loss = trainer.accumulate(rows.tokens, rows.targets, 4, 32);
    optimizer.step();
    if (step == 1 || step % 20 == 0) std::printf("step %d: loss %.2f\n", step, loss);
  }
} catch (const tpt::error &failure) {
  std::fprintf(stderr, "%s: %s\n", failure.name(), failure.what());
  return 1;
}
