// Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time.
#include <3pt/3pt.hpp>

#include <cstdio>

static void learn(tpt::model &model, const std::vector<std::int32_t> &ids) {
  const auto data = tpt::dataset::from_tokens(ids);
  auto trainer = tpt::trainer::create(model);
  auto optimizer = tpt::optimizer::create(trainer);
  std::uint64_t random_state = 1;
  for (int step = 0; step < 60; step++) {
    const auto rows = data.random(random_state, 4, 40);
    trainer.zero_gradients();
    trainer.accumulate(rows.tokens, rows.targets, 4, 40);
    optimizer.step();
  }
}

int main() try {
  const std::string sentence = "Three phases turn and sum to zero. ", prompt = "Three";
  const auto tokenizer = tpt::tokenizer::bytes();
  auto model = tpt::model::create(
      tpt::config::parse("model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,\n"
                         "  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}\n"
                         "train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n"),
      1);
  learn(model, tokenizer.encode(sentence + sentence + sentence + sentence));
  auto decoder = tpt::decoder::create(model);
  decoder.feed(tokenizer.encode(prompt));
  const auto added = decoder.generate(29);
  std::printf("%s|%s\n", prompt.c_str(), tokenizer.decode(added).c_str());
} catch (const tpt::error &failure) {
  std::fprintf(stderr, "%s: %s\n", failure.name(), failure.what());
  return 1;
}
