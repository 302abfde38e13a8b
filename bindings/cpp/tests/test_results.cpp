/* The same calls where failures are results: compiled with -fno-exceptions -fno-rtti, and with
 * TPT_EXCEPTIONS 0. */
#include "test.hpp"
#include "tiny.hpp"

static tpt::result<double> learn(tpt::model &model) {
  auto trainer = tpt::trainer::create(model);
  if (!trainer) return trainer.error();
  auto optimizer = tpt::optimizer::create(*trainer);
  if (!optimizer) return optimizer.error();
  const auto loss = trainer->accumulate(FOUR, NEXT, 1, 4);
  const auto norm = optimizer->step();
  return norm ? loss : norm;
}

TEST(results_of_success) {
  const auto config = tpt::config::parse(TINY);
  ck_assert(config.has_value());
  auto model = tpt::model::create(*config, 1);
  ck_assert(model && *model);
  const auto loss = learn(*model);
  ck_assert_int_eq(static_cast<int>(loss.status()), TPT_OK);
  ck_assert(*loss > 1 && *loss < 20);
  auto decoder = tpt::decoder::create(*model);
  const auto logits = decoder->feed({84, 104});
  ck_assert_uint_eq(logits->size(), 256);
  const auto id = decoder->sample();
  const auto tokenizer = tpt::tokenizer::bytes();
  const auto text = tokenizer->decode(std::vector<std::int32_t>{84, 104});
  check_text(*text, "Th");
  ck_assert_int_ge(*id, 0);
  ck_assert(model->save_memory()->size() > 1000);
}

TEST(results_of_failure) {
  const auto config = tpt::config::parse("model: {d_model: 25}");
  ck_assert(!config);
  ck_assert_int_eq(static_cast<int>(config.status()), TPT_E_CONFIG);
  check_text(config.error().what(), tpt_error_message());
  check_text(config.error().name(), "TPT_E_CONFIG");
  auto right = tpt::config::parse(TINY);
  const auto set = right->set("model.width", "1");
  ck_assert(!set && set.status() == tpt::status::config);
  check_text(*right->last_error(), set.error().what());
  const std::string other = right->get("train.speed").value_or("none");
  check_text(other, "none");
}

TEST(results_after_close) {
  auto config = tpt::config::parse(TINY);
  config->close();
  ck_assert(config->check().status() == tpt::status::argument);
  ck_assert(tpt::model::create(*config, 1).status() == tpt::status::argument);
  ck_assert(tpt::model::load("x", {}, *config).status() == tpt::status::argument);
  ck_assert(tpt::trainer().forward(FOUR, 1, 5).status() == tpt::status::argument);
}

/* Without exceptions no vector may be asked for that cannot be. */
TEST(results_of_sizes_that_cannot_be) {
  auto config = tpt::config::parse(TINY);
  auto model = tpt::model::create(*config, 1);
  auto data = tpt::dataset::from_tokens(FOUR);
  std::uint64_t state = 1;
  for (const std::size_t size : {std::size_t{1} << 20, SIZE_MAX / 16, SIZE_MAX / 4, SIZE_MAX}) {
    ck_assert(model->dc_profile(0, size).status() == tpt::status::argument);
    ck_assert(model->dc_profile(size, 2).status() == tpt::status::argument);
    ck_assert(data->window(0, size).status() == tpt::status::argument);
    ck_assert(data->random(state, 1, size).status() == tpt::status::argument);
    ck_assert(data->random(state, 2, size).status() == tpt::status::argument);
  }
  ck_assert_uint_eq(data->window(0, 3)->tokens.size(), 3);
  ck_assert_uint_eq(data->random(state, 2, 3)->targets.size(), 6);
  ck_assert_uint_eq(model->dc_profile(1, 2)->size(), 2);
}

static tpt::decoder prompted(const tpt::model &model, double temperature) {
  auto decoder = tpt::decoder::create(model);
  ck_assert(decoder->set_sampling(temperature, 0, 1, 7) && decoder->feed(FOUR));
  return std::move(*decoder);
}

static std::vector<std::int32_t> one_by_one(const tpt::model &model, double temperature,
                                            std::size_t count) {
  auto decoder = prompted(model, temperature);
  std::vector<std::int32_t> made(count);
  for (auto &token : made) {
    token = *decoder.sample();
    ck_assert(decoder.feed(token).has_value());
  }
  return made;
}

TEST(generate_is_sample_and_feed) {
  const auto model = tpt::model::create(*tpt::config::parse(TINY), 1);
  for (const double temperature : {0.0, 2.0}) {
    const auto want = one_by_one(*model, temperature, 11);
    auto decoder = prompted(*model, temperature);
    auto got = *decoder.generate(1);
    ck_assert_uint_eq(*decoder.generate(got, 9), 9);
    got.push_back(*decoder.sample());
    ck_assert(got == want);
    ck_assert_uint_eq(*decoder.position(), FOUR.size() + 10);
  }
}

TEST(generate_ends_after_stop) {
  const auto model = tpt::model::create(*tpt::config::parse(TINY), 1);
  const auto want = one_by_one(*model, 2, 12);
  for (const auto stop : want) {
    const auto end = std::find(want.begin(), want.end(), stop) + 1;
    auto decoder = prompted(*model, 2);
    const auto got = *decoder.generate(12, stop);
    ck_assert(got == std::vector<std::int32_t>(want.begin(), end));
    ck_assert_uint_eq(*decoder.position(), FOUR.size() + got.size());
  }
}

TEST(generate_refuses) {
  const auto model = tpt::model::create(*tpt::config::parse(TINY), 1);
  auto decoder = tpt::decoder::create(*model);
  std::vector<std::int32_t> got{-5};
  ck_assert(decoder->generate(got, 1).status() == tpt::status::state);
  ck_assert(decoder->feed(FOUR).has_value());
  for (const std::size_t count : {std::size_t{0}, std::size_t{13}, SIZE_MAX / 4, SIZE_MAX}) {
    const auto failed = decoder->generate(got, count);
    ck_assert(failed.status() == tpt::status::argument);
    check_text(std::string(failed.error().what()).substr(0, 9), "count is ");
    ck_assert(decoder->generate(count).status() == tpt::status::argument);
    ck_assert(tpt::decoder().generate(got, count).status() == tpt::status::argument);
  }
  for (const std::int32_t stop : {-2, 256}) {
    const auto failed = decoder->generate(got, 1, stop);
    ck_assert(failed.status() == tpt::status::argument);
    check_text(std::string(failed.error().what()).substr(0, 8), "stop is ");
  }
  ck_assert(got == std::vector<std::int32_t>{-5});
  ck_assert_uint_eq(*decoder->generate(got, 12), 12);
  ck_assert_uint_eq(*decoder->position(), 16);
}

TEST(generate_after_adopting) {
  const auto model = tpt::model::create(*tpt::config::parse(TINY), 1);
  const auto want = one_by_one(*model, 0, 12);
  auto adopted = tpt::decoder::adopt(prompted(*model, 0).release(), tpt::model());
  ck_assert(*adopted->generate(12) == want);
}

TEST(results_of_attempts) {
  const tpt::result<tpt::config> config = tpt::attempt([] { return tpt::config::parse("a: b"); });
  const tpt::result<void> version = tpt::attempt([] { return tpt::check_version(); });
  const tpt::result<void> future = tpt::attempt([] { return tpt::check_version(99, 0, 0); });
  ck_assert(config.status() == tpt::status::config && version);
  ck_assert(future.status() == tpt::status::unsupported);
}

TEST(results_of_callbacks) {
  auto context = tpt::context::create();
  int messages = 0;
  const auto log = context->set_log([&](tpt::log_level, std::string_view) { messages++; });
  const auto progress = context->set_progress([](const void *, double) { return false; });
  ck_assert(log && progress);
  const auto config = tpt::config::parse(TINY);
  const auto model = tpt::model::create(*config, 1, *context);
  ck_assert_int_ge(messages, model ? 1 : 0);
  const auto cancelled = context->cancel();
  ck_assert(cancelled.has_value());
  ck_assert(tpt::model::create(*config, 1, *context).status() == tpt::status::cancelled);
}

/* What a callback must not do with its own call is refused without exceptions too. */
TEST(results_of_misuse) {
  auto context = tpt::context::create();
  auto config = tpt::config::preset("3pt-5m");
  ck_assert(config->set("model.max_seq_len", "512") && context->set_threads(1));
  const auto model = tpt::model::create(*config, 1, *context);
  auto decoder = tpt::decoder::create(*model);
  ck_assert(decoder->feed(FOUR).has_value());
  int refused = 0;
  const auto set = context->set_progress([&](const void *, double) {
    refused += context->set_threads(2).status() == tpt::status::state;
    refused += context->set_progress({}).status() == tpt::status::state;
    refused += decoder->feed(1).status() == tpt::status::state;
    decoder->close();
    return true;
  });
  ck_assert(set && decoder->generate(500).status() == tpt::status::state);
  ck_assert_int_eq(refused, 3);
  ck_assert(*decoder && context->set_progress({}) && decoder->generate(1));
}

int main() {
  return run_tests({results_of_success, results_of_failure, results_after_close,
                    results_of_sizes_that_cannot_be, results_of_attempts, results_of_callbacks,
                    results_of_misuse, generate_is_sample_and_feed, generate_ends_after_stop,
                    generate_refuses, generate_after_adopting});
}
