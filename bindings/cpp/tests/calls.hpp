/* Calls that take long enough to report their progress. */
#ifndef CALLS_HPP
#define CALLS_HPP

#include "tiny.hpp"

/* A text long enough that a call on it reports its progress. */
inline std::string long_text() {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < 1 << 20) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>('a' + state % 4096 / 160 % 26);
    if (state >> 29 == 0) text += ' ';
  }
  return text;
}

inline tpt::tokenizer long_call(const tpt::context &context) {
  static const std::string text = long_text();
  return tpt::tokenizer::bpe(text, 2000, context);
}

inline tpt::decoder prompted(const tpt::model &model) {
  auto decoder = tpt::decoder::create(model);
  decoder.set_sampling(2, 0, 1, 7);
  decoder.feed(FOUR);
  return decoder;
}

/* One whose continuation takes much longer than the 5 ms between two calls of progress. */
inline tpt::model slow_model(const tpt::context &context) {
  auto config = tpt::config::preset("3pt-5m");
  config.set("model.max_seq_len", "512");
  return tpt::model::create(config, 1, context);
}

#endif
