#include "run.hpp"

tpt::context context_of(std::size_t threads) {
  auto made = tpt::context::create();
  made.set_threads(static_cast<std::int32_t>(threads));
  return made;
}

run::run(const json_t *training, std::uint64_t seed)
    : random_state(u64_at(training, "random_state")), batch(size_at(training, "batch")),
      seq(size_at(training, "seq")), steps(size_at(training, "steps")),
      context(context_of(size_at(training, "threads"))), tokenizer(tpt::tokenizer::bytes(context)),
      data(tpt::dataset::from_tokens(tokenizer.encode(text_at(training, "text")), context)),
      described(tpt::config::parse(text_at(training, "yaml"))),
      model(tpt::model::create(described, seed, context)), trainer(tpt::trainer::create(model)),
      optimizer(tpt::optimizer::create(trainer)) {}

double run::accumulate() {
  const auto rows = data.random(random_state, batch, seq);
  trainer.zero_gradients();
  return trainer.accumulate(rows.tokens, rows.targets, batch, seq);
}

void run::step(std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    losses.push_back(accumulate());
    norms.push_back(optimizer.step());
  }
}
