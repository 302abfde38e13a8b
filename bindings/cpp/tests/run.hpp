/* What several scenarios train: ../../conformance/README.md, "Training". */
#ifndef RUN_HPP
#define RUN_HPP

#include "values.hpp"

/* A scenario: results of inputs; files of its own begin with scratch. */
using scenario = json(const json_t *inputs, const std::string &scratch);
scenario train, decode, forward, checkpoint, geometry, texts, config, evaluation, errors;

tpt::context context_of(std::size_t threads);

class run {
public:
  run(const json_t *training, std::uint64_t seed);
  explicit run(const json_t *training) : run(training, u64_at(training, "seed")) {}
  double accumulate();
  void step(std::size_t count);
  run &&whole() && { return step(steps), std::move(*this); }

  std::uint64_t random_state;
  std::size_t batch, seq, steps;
  tpt::context context;
  tpt::tokenizer tokenizer;
  tpt::dataset data;
  tpt::config described;
  tpt::model model;
  tpt::trainer trainer;
  tpt::optimizer optimizer;
  std::vector<double> losses, norms; /* of the steps so far */
};

#endif
