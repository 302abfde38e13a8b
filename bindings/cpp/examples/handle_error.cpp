// A wrong description, a file that is not there, a token that the model has not: what each says.
#include <3pt/3pt.hpp>

#include <cstdio>

template <class Call> static void show(Call call) try {
  call();
} catch (const tpt::error &failure) {
  std::printf("%s: %s\n", failure.name(), failure.what());
}

int main() {
  show([] { tpt::config::parse("model: {d_model: 25}\n"); });
  show([] { tpt::model::load("no-such-folder/model.safetensors"); });
  const auto model = tpt::model::create(
      tpt::config::parse("model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,\n"
                         "  n_kv_heads: 3, d_ff: 48, max_seq_len: 8}\n"),
      1);
  auto decoder = tpt::decoder::create(model);
  show([&] { decoder.feed(256); });
}
