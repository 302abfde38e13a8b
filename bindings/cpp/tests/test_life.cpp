/* Owners, views, arguments, threads: what 3pt.hpp adds to C. */
#include "test.hpp"
#include "tiny.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>

int results_status(); /* mixed.cpp, compiled without exceptions */

/* What a call that must fail gives. */
template <class Call> static tpt::error failure_of(Call call) {
  auto got = tpt::attempt(call);
  ck_assert_msg(!got, "the call succeeded");
  return got.error();
}

template <class Call> static void check_refused(Call call, const char *with) {
  const tpt::error failure = failure_of(call);
  ck_assert_int_eq(static_cast<int>(failure.status()), TPT_E_ARGUMENT);
  ck_assert_msg(std::string(failure.what()).find(with) != std::string::npos, "'%s' is not in '%s'",
                with, failure.what());
}

static tpt::model tiny() { return tpt::model::create(tpt::config::parse(TINY), 1); }

/* ---- owners ---- */

static_assert(std::is_nothrow_move_constructible_v<tpt::model> &&
              std::is_nothrow_move_assignable_v<tpt::trainer>);
static_assert(!std::is_copy_constructible_v<tpt::model> &&
              !std::is_copy_assignable_v<tpt::decoder>);
static_assert(sizeof(tpt::model) == sizeof(void *), "an owner is its handle");

TEST(closed_twice) {
  auto model = tiny();
  ck_assert(static_cast<bool>(model));
  model.close();
  model.close();
  ck_assert(!model);
}

TEST(moved_from) {
  auto first = tpt::config::parse(TINY);
  auto second = std::move(first);
  ck_assert(!first && second);
  check_refused([&] { return first.get("model.d_model"); }, "config");
  first = std::move(second);
  check_text(first.get("model.d_model"), "24");
}

TEST(self_move) {
  auto config = tpt::config::parse(TINY);
  auto &same = config;
  config = std::move(same);
  check_text(config.get("model.d_model"), "24");
  auto model = tiny();
  auto decoder = tpt::decoder::create(model);
  auto &same_decoder = decoder;
  decoder = std::move(same_decoder);
  ck_assert_uint_eq(decoder.feed(FOUR).size(), 256);
}

TEST(released_and_adopted) {
  auto model = tiny();
  tpt_model *raw = model.release();
  ck_assert(!model && raw);
  tpt::model again(raw);
  ck_assert_ptr_eq(again.handle(), raw);
  tpt_decoder *c = nullptr;
  ck_assert_int_eq(tpt_decoder_create(raw, 0, &c), TPT_OK);
  auto decoder = tpt::decoder::adopt(c, again);
  ck_assert_uint_eq(decoder.feed(FOUR).size(), 256);
  tpt_trainer *t = nullptr;
  ck_assert_int_eq(tpt_trainer_create(raw, nullptr, &t), TPT_OK);
  auto trainer = tpt::trainer::adopt(t, again);
  trainer.forward(FOUR, 1, 4);
  ck_assert_uint_eq(trainer.logits().size(), 4 * 256);
}

TEST(use_after_close) {
  auto model = tiny();
  auto trainer = tpt::trainer::create(model);
  auto optimizer = tpt::optimizer::create(trainer);
  auto decoder = tpt::decoder::create(model);
  auto tokenizer = tpt::tokenizer::bytes();
  auto data = tpt::dataset::from_tokens(FOUR);
  auto context = tpt::context::create();
  std::uint64_t state = 1;
  model.close(), trainer.close(), optimizer.close(), decoder.close(), tokenizer.close();
  data.close(), context.close();
  check_refused([&] { return model.parameters(); }, "model");
  check_refused([&] { return model.config(); }, "model");
  check_refused([&] { return model.theta(0); }, "model");
  check_refused([&] { return model.tensor("embedding.weight"); }, "model");
  check_refused([&] { return model.last_error(); }, "");
  check_refused([&] { return tpt::decoder::create(model); }, "model");
  check_refused([&] { return tpt::trainer::create(model); }, "model");
  check_refused([&] { return trainer.logits(); }, "trainer");
  check_refused([&] { return trainer.loss(FOUR); }, "trainer");
  check_refused([&] { return trainer.dc(tpt::point::embedding, 0); }, "trainer");
  check_refused([&] { return optimizer.step(); }, "optimizer");
  check_refused([&] { return decoder.feed(FOUR); }, "decoder");
  check_refused([&] { return decoder.sample(); }, "decoder");
  check_refused([&] { return tokenizer.encode("text"); }, "tokenizer");
  check_refused([&] { return data.random(state, 1, 2); }, "dataset");
  check_refused([&] { return context.set_threads(1); }, "context");
  check_refused([&] { return context.set_log([](auto, auto) {}); }, "context");
  check_refused([&] { return context.set_progress([](auto, auto) { return true; }); }, "context");
  check_refused([] { return tpt::decoder().position(); }, "decoder");
}

/* An optional argument that is closed is not taken for one that was left out. */
TEST(closed_argument) {
  tpt::context context;
  tpt::config config;
  auto model = tiny();
  auto trainer = tpt::trainer::create(model);
  const auto data = tpt::dataset::from_tokens(FOUR);
  check_refused([&] { return tpt::tokenizer::bytes(context); }, "context is closed");
  check_refused([&] { return tpt::model::load("x.safetensors", context); }, "context is closed");
  check_refused([&] { return tpt::model::load("x", {}, config); }, "config is closed");
  check_refused([&] { return tpt::model::load_memory({}, {}, config); }, "config is closed");
  check_refused([&] { return tpt::trainer::create(model, config); }, "config is closed");
  check_refused([&] { return tpt::optimizer::create(trainer, config); }, "config is closed");
  check_refused([&] { return tpt::evaluate(model, data, 2, 0, config); }, "config is closed");
}

TEST(parents_closed_first) {
  auto context = tpt::context::create();
  auto config = tpt::config::parse(TINY);
  auto model = tpt::model::create(config, 1, context);
  auto trainer = tpt::trainer::create(model);
  auto optimizer = tpt::optimizer::create(trainer);
  auto decoder = tpt::decoder::create(model);
  context.close(), config.close(), model.close();
  trainer.accumulate(FOUR, NEXT, 1, 4);
  optimizer.step();
  trainer.close();
  ck_assert_uint_eq(optimizer.step_count(), 1);
  ck_assert_uint_eq(decoder.feed(FOUR).size(), 256);
}

/* ---- arguments and views ---- */

TEST(texts_of_any_kind) {
  auto config = tpt::config::parse(TINY);
  const std::string key = "model.d_model";
  const char raw[] = "model.d_model";
  const std::string_view cut = std::string_view("model.d_model and more").substr(0, 13);
  check_text(config.get(key), "24");
  check_text(config.get(raw), "24");
  check_text(config.get(cut), "24");
  check_refused([&] { return config.get(std::string_view("model.d_model\0x", 15)); },
                "key has a NUL");
  check_refused([&] { return config.set(key, std::string("4\0x", 3)); }, "value has a NUL");
  check_refused([&] { return config.get(static_cast<const char *>(nullptr)); }, "key");
  const auto path = std::filesystem::path("no-such-folder") / "model.yaml";
  const tpt::error failure = failure_of([&] { return tpt::config::load(path); });
  ck_assert_int_eq(static_cast<int>(failure.status()), TPT_E_IO);
  check_text(failure.name(), "TPT_E_IO");
}

TEST(long_texts) {
  auto config = tpt::config::parse(TINY);
  std::string list = "[0.5";
  for (int i = 1; i < 16; i++) list += ", 0.5";
  config.set("model.dc.profile", list + "]");
  const std::string got = config.get("model.dc.profile");
  ck_assert_uint_gt(got.size(), 63); /* the room of the first try */
  check_text(got.substr(got.size() - 5), " 0.5]");
  auto model = tpt::model::create(config, 1);
  ck_assert_uint_eq(model.tensor("embedding.dc_profile").size(), 16);
  check_text(model.config().format(), config.format());
}

TEST(a_span_of_nowhere) {
  auto model = tiny();
  auto decoder = tpt::decoder::create(model);
  auto trainer = tpt::trainer::create(model);
  const tpt::span<const std::int32_t> nowhere(static_cast<const std::int32_t *>(nullptr), 4);
  check_refused([&] { return decoder.score(nowhere); }, "tokens is NULL");
  check_refused([&] { return decoder.feed(nowhere); }, "tokens is NULL");
  check_refused([&] { return trainer.forward(nowhere, 1, 4); }, "tokens is NULL");
  check_refused([&] { return tpt::dataset::from_tokens(nowhere); }, "tokens is NULL");
}

TEST(the_positions_of_a_forward_that_c_made) {
  auto model = tiny();
  const std::array<std::int32_t, 4> tokens{1, 2, 3, 4};
  tpt_trainer *made = nullptr;
  ck_assert_int_eq(tpt_trainer_create(model.handle(), nullptr, &made), TPT_OK);
  ck_assert_int_eq(tpt_trainer_forward(made, tokens.data(), 1, 4), TPT_OK);
  auto trainer = tpt::trainer::adopt(made, model);
  ck_assert_uint_eq(trainer.dc(tpt::point::embedding, 0).size(), 4);
  check_refused([&] { return trainer.dc(tpt::point::embedding, 99); }, "layer is 99");
}

TEST(counts_that_are_wrong) {
  auto model = tiny();
  auto trainer = tpt::trainer::create(model);
  const auto data = tpt::dataset::from_tokens(FOUR);
  std::uint64_t state = 1;
  std::array<std::int32_t, 3> few{};
  check_refused([&] { return trainer.forward(FOUR, 1, 5); }, "tokens has 4");
  check_refused([&] { return trainer.accumulate(FOUR, few, 1, 4); }, "targets has 3");
  check_refused([&] { return data.random(state, 2, 2, few, few); },
                "tokens has 3 values; batch x seq, 2 x 2, needs 4");
  const auto too_many = "batch x seq, " + std::to_string(SIZE_MAX / 2) + " x 3, is more than there";
  check_refused([&] { return data.random(state, SIZE_MAX / 2, 3); }, too_many.c_str());
  check_refused([&] { return trainer.forward(FOUR, SIZE_MAX / 2, 3); }, too_many.c_str());
  check_refused([&] { return data.random(state, 1, 4); }, "the dataset has 4 tokens; a window");
  check_refused([&] { return data.window(0, std::size_t{1} << 40); }, "the dataset has 4 tokens");
  trainer.forward(FOUR, 2, 2);
  check_refused([&] { return trainer.loss(few); },
                "targets has 3 values; the last forward needs 4");
  trainer.accumulate(few, few, 1, 3);
  ck_assert(failure_of([&] { return trainer.loss(FOUR); }).status() == tpt::status::state);
  ck_assert(failure_of([&] { return trainer.loss(few); }).status() == tpt::status::state);
  auto decoder = tpt::decoder::create(model);
  tpt::decoder *one[] = {&decoder}, *none[] = {nullptr};
  check_refused([&] { return tpt::feed_many(one, few); },
                "tokens has 3 values; one for each of decoders needs 1");
  std::vector<tpt::decoder> no_decoders;
  check_refused([&] { return tpt::feed_many(no_decoders, {}); }, "decoders is empty");
  check_refused([&] { return tpt::feed_many(none, std::vector<std::int32_t>{1}); }, "decoders[0]");
}

TEST(views_are_borrowed) {
  auto model = tiny();
  auto weights = model.parameters();
  ck_assert_uint_eq(weights.size(), model.config().parameter_count());
  weights[0] = 7;
  ck_assert(model.parameters()[0] > 6.5f);
  auto trainer = tpt::trainer::create(model);
  trainer.accumulate(FOUR, NEXT, 2, 2);
  ck_assert_uint_eq(trainer.dc(tpt::point::embedding, 0).size(), 2);
  trainer.forward(FOUR, 1, 4);
  ck_assert_uint_eq(trainer.logits().size(), 4 * 256);
  ck_assert_uint_eq(trainer.dc(tpt::point::embedding, 0).size(), 4);
  ck_assert_uint_eq(trainer.gradients().size(), weights.size());
  std::vector<float> copy(model.tensor_info(0).count);
  model.get_tensor(model.tensor_info(0).name, copy);
  ck_assert(copy == model.tensor(model.tensor_info(0).name));
}

TEST(errors_of_objects) {
  auto config = tpt::config::parse(TINY);
  check_text(config.last_error(), "");
  const tpt::error failure = failure_of([&] { return config.set("model.width", "1"); });
  check_text(config.last_error(), failure.what());
  check_text(failure.name(), "TPT_E_CONFIG");
  check_text(tpt::status_name(static_cast<tpt::status>(77)),
             tpt_status_name(static_cast<tpt_status>(77)));
}

TEST(of_the_library) {
  tpt::check_version();
  ck_assert(tpt::version().substr(0, 2) == "1.");
  ck_assert(!tpt::build_info().empty());
  ck_assert_int_eq(results_status(), TPT_E_CONFIG);
}

/* ---- memory, threads ---- */

static void cycle() {
  auto context = tpt::context::create();
  const std::string captured(100, 'x');
  context.set_threads(1);
  context.set_log([captured](tpt::log_level, std::string_view) {});
  context.set_progress([captured](const void *, double) { return true; });
  const auto tokenizer = tpt::tokenizer::bytes(context);
  const auto data = tpt::dataset::from_tokens(tokenizer.encode("three phases"), context);
  auto model = tpt::model::create(tpt::config::parse(TINY), 1, context);
  auto trainer = tpt::trainer::create(model);
  auto optimizer = tpt::optimizer::create(trainer);
  auto decoder = tpt::decoder::create(model);
  decoder.feed(FOUR);
  failure_of([&] { return decoder.feed({-1}); });
}

/* glibc's since 2.33; weak, so that this compiles, and is null, where it is missing. */
struct malloc_words {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
extern "C" __attribute__((weak)) malloc_words mallinfo2();

/* Bytes that malloc has given out, in all its arenas. */
static std::size_t in_use() {
  const malloc_words words = mallinfo2();
  return words.uordblks + words.hblkhd;
}

/* The bytes that stay of a round, in the best of three windows: a leak grows in all of them. */
template <class Round> static double kept_by(Round round) {
  constexpr int rounds = 1000;
  double least = HUGE_VAL;
  for (int i = 0; i < rounds / 4; i++) round();
  for (int window = 0; window < 3; window++) {
    const auto before = static_cast<double>(in_use());
    for (int i = 0; i < rounds; i++) round();
    least = std::min(least, (static_cast<double>(in_use()) - before) / rounds);
  }
  return least;
}

TEST(memory_stays_flat) {
  if (!mallinfo2) {
    std::puts("skip memory_stays_flat: no mallinfo2");
    std::fflush(stdout);
    return;
  }
  constexpr double most = 16; /* half of malloc's least block */
  ck_assert_double_le(kept_by(cycle), most);
  std::vector<void *> lost;
  lost.reserve(4000);
  ck_assert_double_gt(kept_by([&] { lost.push_back(std::malloc(1)); }), most);
  for (void *block : lost) std::free(block);
}

static std::vector<std::int32_t> answer(const tpt::model &model, std::uint64_t seed) {
  auto decoder = tpt::decoder::create(model);
  decoder.set_sampling(1, 0, 1, seed);
  std::vector<std::int32_t> words;
  for (int round = 0; round < 20; round++, decoder.rewind(0)) {
    decoder.feed(FOUR);
    for (int i = 0; i < 12; i++) decoder.feed(words.emplace_back(decoder.sample()));
  }
  return words;
}

TEST(two_threads_one_model) {
  const auto model = tiny();
  const auto first = answer(model, 1), second = answer(model, 2);
  std::vector<std::int32_t> here, there;
  std::thread other([&] { there = answer(model, 2); });
  here = answer(model, 1);
  other.join();
  ck_assert(here == first && there == second && first != second);
}

int main() {
  return run_tests({closed_twice, moved_from, self_move, released_and_adopted, use_after_close,
                    closed_argument, parents_closed_first, texts_of_any_kind, long_texts,
                    counts_that_are_wrong, a_span_of_nowhere,
                    the_positions_of_a_forward_that_c_made, views_are_borrowed, errors_of_objects,
                    of_the_library, memory_stays_flat, two_threads_one_model});
}
