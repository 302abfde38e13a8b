// What a token costs through 3pt.hpp, as ../conformance/overhead.c does it in C.
//
//   bench SECONDS        {"tokens_per_s": 4321.0, "generated_per_s": 4321.0}
#include <3pt/3pt.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

static constexpr int tokens = 127;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* A token a call. */
static double step_by_step(tpt::decoder &decoder) {
  const double start = now();
  std::int32_t token = 0;
  for (int i = 0; i < tokens; i++) {
    decoder.feed(token);
    token = decoder.sample();
  }
  decoder.rewind(0);
  return now() - start;
}

/* As many are fed, in one call but for the first. */
static double in_one_call(tpt::decoder &decoder) {
  const double start = now();
  decoder.feed(0);
  decoder.generate(tokens - 1);
  decoder.rewind(0);
  return now() - start;
}

static double median_seconds(double (*round_seconds)(tpt::decoder &), tpt::decoder &decoder,
                             double seconds) {
  std::vector<double> rounds;
  const double end = now() + seconds;
  do rounds.push_back(round_seconds(decoder));
  while (now() < end);
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

int main(int argc, char **argv) try {
  const double half = (argc > 1 ? std::strtod(argv[1], nullptr) : 1) / 2;
  const auto context = tpt::context::create();
  const auto model = tpt::model::create(tpt::config::preset("3pt-5m"), 1, context);
  auto decoder = tpt::decoder::create(model);
  std::printf("{\"tokens_per_s\": %.1f, ", tokens / median_seconds(step_by_step, decoder, half));
  std::printf("\"generated_per_s\": %.1f}\n", tokens / median_seconds(in_one_call, decoder, half));
} catch (const tpt::error &failure) {
  std::fprintf(stderr, "%s: %s\n", failure.name(), failure.what());
  return 1;
}
