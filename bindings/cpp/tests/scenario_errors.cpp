/* errors: every status that a caller can provoke, with its message. */
#include "run.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory_resource>
#include <new>
#include <stdexcept>

using std::size_t;

/* ---- the stage ---- */

/* Never more than budget bytes at a time. */
class limited : public std::pmr::memory_resource {
public:
  size_t budget = 0;

private:
  void *do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > budget - held_) throw std::bad_alloc();
    held_ += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void *memory, size_t bytes, size_t alignment) override {
    held_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }

  size_t held_ = 0;
};

struct stage {
  explicit stage(const json_t *inputs)
      : seed(u64_at(inputs, "seed")), context(context_of(size_at(inputs, "threads"))),
        described(tpt::config::parse(text_at(inputs, "yaml"))),
        tokenizer(tpt::tokenizer::bytes(context)),
        data(tpt::dataset::from_tokens(tokenizer.encode(text_at(inputs, "text")), context)),
        model(tpt::model::create(described, seed, context)), trainer(tpt::trainer::create(model)),
        optimizer(tpt::optimizer::create(trainer)), decoder(tpt::decoder::create(model)) {}

  limited memory; /* outlives the contexts */
  std::uint64_t seed;
  tpt::context context, other;
  tpt::config described;
  tpt::tokenizer tokenizer;
  tpt::dataset data;
  tpt::model model;
  tpt::trainer trainer;
  tpt::optimizer optimizer;
  tpt::decoder decoder;
};

/* ---- before the call ---- */

static const ids TOKENS{1, 2, 3}, TARGETS{2, 3, 4};

static void set_weights(stage &s, float value) {
  std::vector<float> values(s.model.tensor("blocks.1.attn.q.weight").size(), value);
  s.model.set_tensor("blocks.1.attn.q.weight", values);
}

static void spoil(stage &s) {
  s.context.cancel();
  const auto end = tpt::attempt([&] { return s.trainer.accumulate(TOKENS, TARGETS, 1, 3); });
  if (end.status() != tpt::status::cancelled) throw std::runtime_error("was not cancelled");
  s.context.cancel(false);
}

static const std::map<std::string, std::function<void(stage &)>> STEPS{
    {"cancel", [](stage &s) { s.context.cancel(true); }},
    {"forward", [](stage &s) { s.trainer.forward(TOKENS, 1, 3); }},
    {"loss", [](stage &s) { s.trainer.loss(TARGETS); }},
    {"backward", [](stage &s) { s.trainer.backward(); }},
    {"feed", [](stage &s) { s.decoder.feed({1}); }},
    {"rewind", [](stage &s) { s.decoder.rewind(1); }},
    {"convert", [](stage &s) { s.model = s.model.convert("int8"); }},
    {"fold", [](stage &s) { s.model = s.model.fold(); }},
    {"nan", [](stage &s) { set_weights(s, std::numeric_limits<float>::quiet_NaN()); }},
    {"weights", [](stage &s) { set_weights(s, 0); }},
    {"spoil", spoil}};

/* ---- the call ---- */

static void model_within(stage &s, const json_t *what) {
  s.memory.budget = size_at(what, "budget");
  s.other = context_of(1);
  s.other.set_allocator(s.memory);
  tpt::model::create(tpt::config::preset(text_at(what, "preset")), 1, s.other);
}

static void get_float(const tpt::model &model, std::string_view name) {
  float one[1];
  model.get_tensor(name, one);
}

static void feed_twice(stage &s, const json_t *what) {
  const std::vector<tpt::decoder *> decoders{&s.decoder, &s.decoder};
  tpt::feed_many(decoders, ids(2, int_at(what, "token")));
}

static void random_rows(stage &s, const json_t *what) {
  std::uint64_t state = 1;
  s.data.random(state, size_at(what, "batch"), size_at(what, "seq"));
}

using call = std::function<void(stage &, const json_t *)>;
#define CALL(body)                                                                                 \
  [](stage &s, const json_t *what) { static_cast<void>(s), static_cast<void>(what), body; }
#define TEXT(key) text_at(what, key)
#define SIZE(key) size_at(what, key)

static const std::map<std::string, call> CALLS{
    {"check_version",
     CALL(tpt::check_version(int_at(what, "major"), int_at(what, "minor"), int_at(what, "patch")))},
    {"config_preset", CALL(tpt::config::preset(TEXT("preset")))},
    {"config_parse", CALL(tpt::config::parse(TEXT("yaml")))},
    {"config_load", CALL(tpt::config::load(TEXT("path")))},
    {"config_set", CALL(s.described.set(TEXT("key"), TEXT("value")))},
    {"config_get", CALL(s.described.get(TEXT("key")))},
    {"config_check", CALL((s.described.set(TEXT("key"), TEXT("value")), s.described.check()))},
    {"context_set_threads", CALL(s.context.set_threads(int_at(what, "threads")))},
    {"context_set_allocator", CALL((s.memory.budget = SIZE("budget"), s.other = context_of(1),
                                    s.other.set_allocator(s.memory)))},
    {"context_set_allocator_late", CALL(s.context.set_allocator(s.memory))},
    {"model_create_within", model_within},
    {"model_create", CALL(tpt::model::create(s.described, s.seed, s.context))},
    {"model_load", CALL(tpt::model::load(TEXT("path"), s.context))},
    {"model_load_memory", CALL(tpt::model::load_memory(tpt::bytes_of(TEXT("text")), s.context))},
    {"model_save", CALL(s.model.save(TEXT("path")))},
    {"model_save_memory", CALL(s.model.save_memory())},
    {"model_convert", CALL(s.model.convert(TEXT("precision")))},
    {"model_fold", CALL(s.model.fold())},
    {"model_get_tensor", CALL(get_float(s.model, TEXT("tensor")))},
    {"trainer_create", CALL(tpt::trainer::create(s.model))},
    {"trainer_forward",
     CALL(s.trainer.forward(ids_at(what, "tokens"), SIZE("batch"), SIZE("seq")))},
    {"trainer_accumulate",
     CALL(s.trainer.accumulate(ids_at(what, "tokens"), ids_at(what, "targets"), SIZE("batch"),
                               SIZE("seq")))},
    {"trainer_loss", CALL(s.trainer.loss(ids_at(what, "targets")))},
    {"trainer_logits", CALL(s.trainer.logits())},
    {"trainer_backward", CALL(s.trainer.backward())},
    {"trainer_get_gradient", CALL(s.trainer.gradient(TEXT("tensor")))},
    {"trainer_activation", CALL(s.trainer.activation(point_at(what), SIZE("layer")))},
    {"optimizer_step", CALL(s.optimizer.step())},
    {"optimizer_set_lr", CALL(s.optimizer.set_lr(number_at(what, "lr")))},
    {"checkpoint_save", CALL(s.trainer.save_checkpoint(s.optimizer, TEXT("path")))},
    {"checkpoint_load", CALL(s.trainer.load_checkpoint(s.optimizer, TEXT("path")))},
    {"decoder_create", CALL(tpt::decoder::create(s.model, SIZE("max_positions")))},
    {"decoder_feed", CALL(s.decoder.feed(ids_at(what, "tokens")))},
    {"decoder_feed_many_twice", feed_twice},
    {"decoder_score", CALL(s.decoder.score(ids_at(what, "tokens")))},
    {"decoder_rewind", CALL(s.decoder.rewind(SIZE("position")))},
    {"decoder_set_sampling",
     CALL(s.decoder.set_sampling(number_at(what, "temperature"), int_at(what, "top_k"),
                                 number_at(what, "top_p"), u64_at(what, "seed")))},
    {"decoder_sample", CALL(s.decoder.sample())},
    {"dataset_open", CALL(tpt::dataset::open(TEXT("path"), s.context))},
    {"dataset_from_tokens", CALL(tpt::dataset::from_tokens(ids_at(what, "tokens"), s.context))},
    {"dataset_random", random_rows},
    {"dataset_window", CALL(s.data.window(SIZE("index"), SIZE("seq")))},
    {"dataset_window_count", CALL(s.data.window_count(SIZE("seq")))},
    {"evaluate", CALL(tpt::evaluate(s.model, s.data, SIZE("seq"), SIZE("max_windows")))},
    {"tokenizer_words", CALL(tpt::tokenizer::words(TEXT("text"), SIZE("vocab"), s.context))},
    {"tokenizer_bpe", CALL(tpt::tokenizer::bpe(TEXT("text"), SIZE("vocab"), s.context))},
    {"tokenizer_load", CALL(tpt::tokenizer::load(TEXT("path"), s.context))},
    {"tokenizer_parse", CALL(tpt::tokenizer::parse(TEXT("json"), s.context))},
    {"tokenizer_decode", CALL(s.tokenizer.decode(ids_at(what, "ids")))},
    {"tokenizer_id", CALL(s.tokenizer.id(TEXT("token")))},
    {"tokenizer_token", CALL(s.tokenizer.token(int_at(what, "id")))},
    {"geometry_dc_profile", CALL(s.model.dc_profile(SIZE("first"), SIZE("count")))},
    {"geometry_theta", CALL(s.model.theta(SIZE("layer")))},
    {"geometry_angles", CALL(s.model.angles(SIZE("layer"), SIZE("phase")))},
    {"geometry_drift", CALL(s.model.drift(SIZE("layer")))},
    {"geometry_phase_means", CALL(s.trainer.phase_means(point_at(what), SIZE("layer")))},
    {"geometry_zero_sum", CALL(s.trainer.zero_sum())}};

static tpt::error failure_of(stage &s, const json_t *what) {
  try {
    CALLS.at(std::string(text_at(what, "call")))(s, what);
  } catch (const tpt::error &failure) {
    return failure;
  }
  throw std::runtime_error("the call succeeded: " + std::string(text_at(what, "name")));
}

/* What the objects say of their last failures; one of them must be this one. */
static bool is_kept(const stage &s, const std::string &message) {
  for (const std::string &said :
       {s.context.last_error(), s.described.last_error(), s.tokenizer.last_error(),
        s.data.last_error(), s.model.last_error(), s.trainer.last_error(), s.optimizer.last_error(),
        s.decoder.last_error(), s.other ? s.other.last_error() : std::string()})
    if (said == message) return true;
  return false;
}

static bool takes_no_handle(std::string_view name) {
  for (const char *one : {"check_version", "config_preset", "config_parse", "config_load"})
    if (name == one) return true;
  return false;
}

static json result_of(const json_t *inputs, const json_t *what) {
  const json_t *before = at(what, "before");
  stage s(inputs);
  for (size_t i = 0; i < json_array_size(before); i++)
    STEPS.at(json_string_value(json_array_get(before, i)))(s);
  const tpt::error failure = failure_of(s, what);
  if (!takes_no_handle(text_at(what, "call")) && !is_kept(s, failure.what()))
    throw std::runtime_error("no object says: " + std::string(failure.what()));
  json entry = object();
  put(entry, "name", of_text(text_at(what, "name")));
  put(entry, "status", of_int(static_cast<int>(failure.status())));
  put(entry, "message", of_text(failure.what()));
  return entry;
}

json errors(const json_t *inputs, const std::string &) {
  json results = object();
  put(results, "cases",
      each_of(at(inputs, "cases"), [&](const json_t *what) { return result_of(inputs, what); }));
  return results;
}
