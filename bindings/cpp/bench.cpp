// What a token costs through 3pt.hpp, as ../conformance/overhead.c does it in C.
//
//   bench SECONDS        {"tokens_per_s": 4321.0}
#include <3pt/3pt.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

static constexpr int tokens = 127;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double round_seconds(tpt::decoder &decoder) {
  const double start = now();
  std::int32_t token = 0;
  for (int i = 0; i < tokens; i++) {
    decoder.feed(token);
    token = decoder.sample();
  }
  decoder.rewind(0);
  return now() - start;
}

int main(int argc, char **argv) try {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  const auto context = tpt::context::create();
  const auto model = tpt::model::create(tpt::config::preset("3pt-5m"), 1, context);
  auto decoder = tpt::decoder::create(model);
  std::vector<double> rounds;
  const double end = now() + seconds;
  do rounds.push_back(round_seconds(decoder));
  while (now() < end);
  std::sort(rounds.begin(), rounds.end());
  std::printf("{\"tokens_per_s\": %.1f}\n", tokens / rounds[rounds.size() / 2]);
} catch (const tpt::error &failure) {
  std::fprintf(stderr, "%s: %s\n", failure.name(), failure.what());
  return 1;
}
