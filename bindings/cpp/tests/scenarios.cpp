/* train, decode, forward, checkpoint, geometry: models. */
#include "run.hpp"

#include <cstdio>

using std::size_t;

/* ---- train ---- */

static json tensor(const tpt::tensor_info &info) {
  json entry = object();
  put(entry, "name", of_text(info.name));
  put(entry, "shape", each_below(info.ndim, [&](size_t i) { return of_size(info.shape[i]); }));
  put(entry, "offset", of_size(info.offset));
  put(entry, "count", of_size(info.count));
  return entry;
}

json train(const json_t *inputs, const std::string &) {
  run r(at(inputs, "training"));
  json results = object();
  put(results, "tokens", of_size(r.data.count()));
  r.step(r.steps);
  put(results, "losses", of_f64(r.losses));
  put(results, "norms", of_f64(r.norms));
  put(results, "random_state", of_u64(r.random_state));
  put(results, "step_count", of_u64(r.optimizer.step_count()));
  put(results, "lr", of_double(r.optimizer.lr()));
  put(results, "parameter_count", of_size(r.described.parameter_count()));
  put(results, "parameters", of_floats(r.model.parameters()));
  put(results, "gradients", of_floats(r.trainer.gradients()));
  const auto file = r.model.save_memory();
  put(results, "file", of_file(file.data(), file.size()));
  put(results, "tensors", each(r.model.tensors(), tensor));
  put(results, "first_tensor", of_floats(r.model.tensor(r.model.tensor_info(0).name)));
  return results;
}

/* ---- decode ---- */

static ids go_on(tpt::decoder &decoder, size_t count) {
  ids made(count);
  for (auto &token : made) {
    token = decoder.sample();
    decoder.feed(token);
  }
  return made;
}

static void sample_as(tpt::decoder &decoder, const json_t *how) {
  decoder.set_sampling(number_at(how, "temperature"), int_at(how, "top_k"), number_at(how, "top_p"),
                       u64_at(how, "seed"));
}

static void put_sampled(const tpt::model &model, const ids &prompt, const json_t *inputs,
                        const json &results) {
  const size_t count = size_at(inputs, "sampled");
  auto decoder = tpt::decoder::create(model), copy = tpt::decoder::create(model);
  sample_as(decoder, at(inputs, "sampling"));
  decoder.feed(prompt);
  decoder.copy_to(copy);
  const ids sampled = go_on(decoder, count);
  put(results, "sampled", of_ids(sampled));
  put(results, "copied", of_ids(go_on(copy, count)));
  decoder.rewind(0);
  decoder.feed(prompt);
  put(results, "resampled", of_ids(go_on(decoder, count)));
  auto another = tpt::decoder::create(model);
  sample_as(another, at(inputs, "sampling"));
  another.feed(prompt);
  put(results, "generated", of_ids(another.generate(count, sampled[7])));
}

static json many(const run &r, const tpt::model &model, const json_t *what) {
  const json_t *prompts = at(what, "prompts");
  std::vector<tpt::decoder> decoders;
  for (size_t i = 0; i < json_array_size(prompts); i++) {
    decoders.push_back(tpt::decoder::create(model));
    decoders.back().feed(r.tokenizer.encode(json_string_value(json_array_get(prompts, i))));
  }
  return each(tpt::feed_many(decoders, ids_at(what, "tokens")), of_floats);
}

static json snapshot(const tpt::model &model, const char *name, const ids &prompt, size_t greedy) {
  const auto made = name == std::string("fold") ? model.fold() : model.convert(name);
  auto decoder = tpt::decoder::create(made);
  json entry = object();
  put(entry, "name", of_text(name));
  put(entry, "logits", of_floats(decoder.feed(prompt)));
  put(entry, "greedy", of_ids(go_on(decoder, greedy)));
  return entry;
}

static tpt::model loaded(const run &r, const std::string &path, const json &results) {
  r.model.save(path);
  auto model = tpt::model::load(path, r.context);
  const std::string file = read_file(path);
  put(results, "file", of_file(file.data(), file.size()));
  put(results, "parameters", of_floats(model.parameters()));
  auto from_memory = tpt::model::load_memory(tpt::bytes_of(file), r.context);
  put(results, "from_memory", of_floats(from_memory.parameters()));
  std::remove(path.c_str());
  return model;
}

json decode(const json_t *inputs, const std::string &scratch) {
  const run r = run(at(inputs, "training")).whole();
  json results = object();
  const auto model = loaded(r, scratch + ".safetensors", results);
  const ids prompt = r.tokenizer.encode(text_at(inputs, "prompt"));
  const size_t greedy = size_at(inputs, "greedy");
  auto decoder = tpt::decoder::create(model);
  put(results, "logits", of_f32(decoder.feed(prompt)));
  const ids words = go_on(decoder, greedy);
  put(results, "greedy", of_ids(words));
  put(results, "greedy_text", of_bytes(r.tokenizer.decode(words)));
  put(results, "position", of_size(decoder.position()));
  put_sampled(model, prompt, inputs, results);
  auto scorer = tpt::decoder::create(model);
  put(results, "score", of_f64(scorer.score(r.tokenizer.encode(text_at(inputs, "score")))));
  put(results, "many", many(r, model, at(inputs, "many")));
  put(results, "snapshots", each_of(at(inputs, "snapshots"), [&](const json_t *name) {
        return snapshot(model, json_string_value(name), prompt, greedy);
      }));
  return results;
}

/* ---- forward ---- */

static std::vector<float> dlogits_of(const json_t *rule, size_t count) {
  const auto multiplier = int_at(rule, "multiplier"), modulus = int_at(rule, "modulus");
  const auto offset = int_at(rule, "offset"), divisor = int_at(rule, "divisor");
  std::vector<float> made(count);
  for (size_t i = 0; i < count; i++) {
    const auto step = static_cast<std::int64_t>(i) * multiplier % modulus - offset;
    made[i] = static_cast<float>(step) / static_cast<float>(divisor);
  }
  return made;
}

static json activation(tpt::trainer &trainer, const json_t *place) {
  json entry(json_deep_copy(place));
  const auto values = trainer.activation(point_at(place), size_at(place, "layer"));
  put(entry, "count", of_size(values.size()));
  put(entry, "values", of_floats(values));
  return entry;
}

json forward(const json_t *inputs, const std::string &) {
  const auto context = context_of(size_at(inputs, "threads"));
  const auto described = tpt::config::parse(text_at(inputs, "yaml"));
  auto model = tpt::model::create(described, u64_at(inputs, "seed"), context);
  auto trainer = tpt::trainer::create(model);
  const size_t batch = size_at(inputs, "batch"), seq = size_at(inputs, "seq");
  const size_t vocab = std::stoul(described.get("model.vocab_size"));
  json results = object();
  trainer.forward(ids_at(inputs, "tokens"), batch, seq);
  const auto logits = trainer.logits();
  put(results, "logits", of_floats(logits));
  put(results, "first_logits", of_f32(logits.first(vocab)));
  put(results, "activations", each_of(at(inputs, "points"), [&](const json_t *place) {
        return activation(trainer, place);
      }));
  put(results, "loss", of_double(trainer.loss(ids_at(inputs, "targets"))));
  trainer.backward();
  put(results, "gradients", of_floats(trainer.gradients()));
  const auto gradient = trainer.gradient(text_at(inputs, "tensor"));
  json entry = object();
  put(entry, "count", of_size(gradient.size()));
  put(entry, "values", of_floats(gradient));
  put(results, "gradient", std::move(entry));
  const auto dlogits = dlogits_of(at(inputs, "dlogits"), batch * seq * vocab);
  trainer.zero_gradients();
  trainer.forward(ids_at(inputs, "tokens"), batch, seq);
  trainer.backward_logits(dlogits);
  put(results, "dlogits", of_floats(dlogits));
  put(results, "gradients_of_logits", of_floats(trainer.gradients()));
  return results;
}

/* ---- checkpoint ---- */

json checkpoint(const json_t *inputs, const std::string &scratch) {
  const json_t *training = at(inputs, "training");
  const std::string path = scratch + ".checkpoint";
  json results = object();
  run unbroken = run(training).whole();
  put(results, "losses", of_f64(unbroken.losses));
  put(results, "parameters", of_floats(unbroken.model.parameters()));
  run first(training);
  first.step(size_at(inputs, "at"));
  first.trainer.save_checkpoint(first.optimizer, path,
                                tpt::bytes_of(std::to_string(first.random_state)));
  const std::string file = read_file(path);
  put(results, "file", of_file(file.data(), file.size()));
  run second(training, u64_at(inputs, "fresh_seed"));
  const auto user = second.trainer.load_checkpoint(second.optimizer, path);
  const std::string digits(reinterpret_cast<const char *>(user.data()), user.size());
  second.random_state = std::stoull(digits);
  put(results, "user", of_text(digits));
  put(results, "step_count", of_u64(second.optimizer.step_count()));
  put(results, "lr", of_double(second.optimizer.lr()));
  second.step(second.steps - size_at(inputs, "at"));
  put(results, "resumed_losses", of_f64(second.losses));
  put(results, "resumed_parameters", of_floats(second.model.parameters()));
  std::remove(path.c_str());
  return results;
}

/* ---- geometry ---- */

static json drift_of(const tpt::drift &d) {
  json entry = object();
  put(entry, "start", of_double(d.start));
  put(entry, "mean", of_double(d.mean));
  put(entry, "l2", of_double(d.l2));
  put(entry, "max", of_double(d.max));
  return entry;
}

static json measures(const tpt::trainer &trainer, const json_t *place) {
  const tpt::point where = point_at(place);
  const size_t layer = size_at(place, "layer");
  json entry(json_deep_copy(place));
  put(entry, "phase_means", of_f64(trainer.phase_means(where, layer)));
  put(entry, "phase_rms", of_f64(trainer.phase_rms(where, layer)));
  put(entry, "phase_cosine", of_f64(trainer.phase_cosine(where, layer)));
  put(entry, "dc_energy", of_f64(trainer.dc_energy(where, layer)));
  put(entry, "dc", of_f32(trainer.dc(where, layer)));
  return entry;
}

json geometry(const json_t *inputs, const std::string &) {
  run r = run(at(inputs, "training")).whole();
  r.accumulate();
  const tpt::model &model = r.model;
  const tpt::trainer &trainer = r.trainer;
  const json_t *profile = at(inputs, "profile");
  const size_t layers = std::stoul(model.config().get("model.n_layers"));
  const size_t phases = std::stoul(model.config().get("model.n_phases"));
  const auto sums = trainer.zero_sum();
  json results = object(), zero_sum = object();
  put(results, "dc_profile",
      of_f32(model.dc_profile(size_at(profile, "first"), size_at(profile, "count"))));
  put(results, "theta", each_below(layers, [&](size_t l) { return of_f32(model.theta(l)); }));
  put(results, "angles", each_below(layers, [&](size_t l) {
        return each_below(phases, [&](size_t p) { return of_f32(model.angles(l, p)); });
      }));
  put(results, "drift", each_below(layers, [&](size_t l) { return drift_of(model.drift(l)); }));
  put(results, "displacement",
      each_below(layers, [&](size_t l) { return of_double(trainer.displacement(l)); }));
  put(zero_sum, "measured", of_double(sums.measured));
  put(zero_sum, "analytic", of_double(sums.analytic));
  put(results, "zero_sum", std::move(zero_sum));
  put(results, "points",
      each_of(at(inputs, "points"), [&](const json_t *place) { return measures(trainer, place); }));
  return results;
}
