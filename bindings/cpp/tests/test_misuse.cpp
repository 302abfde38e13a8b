/* Functions of the host's that use their own call: refused in words. */
#include "calls.hpp"
#include "test.hpp"

#include <memory_resource>

constexpr std::string_view MISUSED = "a log or progress function used or closed what its own call "
                                     "runs on, which is allowed only after that call";
constexpr std::string_view SETTINGS = "settings of a context change only while no call runs on "
                                      "anything made from it: not in its log or progress function";

/* Runs what a progress function must not do until it is called, and sees it refused in words. The
 * call is ended so, and the decoder can go on after it. */
template <class Body> static void check_misuse(std::string_view words, Body body) {
  auto context = tpt::context::create();
  context.set_threads(1);
  const auto model = slow_model(context);
  auto decoder = prompted(model);
  const std::string captured(100, 'x'); /* gone where the function were */
  context.set_progress([&, captured](const void *handle, double) {
    ck_assert(handle == decoder.handle());
    body(context, decoder);
    ck_assert(captured == std::string(100, 'x'));
    return true;
  });
  std::vector<std::int32_t> tokens;
  const auto ended = tpt::attempt([&] { return decoder.generate(tokens, 500); });
  ck_assert(ended.status() == tpt::status::state);
  check_text(ended.error().what(), words);
  context.set_progress({});
  ck_assert_uint_eq(decoder.position(), FOUR.size() + tokens.size());
  ck_assert_uint_eq(decoder.generate(1).size(), 1);
}

TEST(settings_within_a_call) {
  using tpt::context, tpt::decoder;
  auto &memory = *std::pmr::new_delete_resource();
  check_misuse(SETTINGS, [](context &c, decoder &) { c.set_threads(2); });
  check_misuse(SETTINGS, [](context &c, decoder &) { c.set_progress({}); });
  check_misuse(SETTINGS, [](context &c, decoder &) { c.set_log({}); });
  check_misuse(SETTINGS, [&](context &c, decoder &) { c.set_allocator(memory); });
}

TEST(calls_on_the_handle_of_a_call) {
  using tpt::context, tpt::decoder;
  check_misuse(MISUSED, [](context &, decoder &d) { d.feed(1); });
  check_misuse(MISUSED, [](context &, decoder &d) { d.rewind(0); });
  check_misuse(MISUSED, [](context &, decoder &d) { d.sample(); });
  check_misuse(MISUSED, [](context &, decoder &d) { d.generate(1); });
  check_misuse(MISUSED, [](context &, decoder &d) {
    decoder *both[] = {&d};
    tpt::feed_many(both, std::vector<std::int32_t>{1});
  });
  check_misuse(MISUSED, [](context &, decoder &d) { d.close(); });
  check_misuse(MISUSED, [](context &, decoder &d) {
    d.close(); /* the failure of another call is its own */
    const auto other = tpt::attempt([] { return tpt::config::parse("a: b"); });
    ck_assert(other.status() == tpt::status::config);
  });
}

TEST(trainer_within_its_call) {
  auto context = tpt::context::create();
  context.set_threads(1);
  auto model = slow_model(context);
  auto config = model.config();
  config.set("train.batch", "8");
  auto trainer = tpt::trainer::create(model, config);
  int calls = 0;
  context.set_progress([&](const void *, double) {
    const auto refused = tpt::attempt([&] { trainer.zero_gradients(); });
    const auto none = tpt::attempt([&] { return tpt::optimizer::create(trainer); });
    calls += refused.status() == tpt::status::state && none.status() == tpt::status::state;
    return true;
  });
  const std::vector<std::int32_t> rows(8 * 128, 1);
  trainer.accumulate(rows, rows, 8, 128); /* what was refused and caught does not end it */
  ck_assert_int_gt(calls, 0);
}

/* The settings of another context, and objects that no call runs on, are free. */
TEST(others_within_a_call) {
  auto context = tpt::context::create(), other = tpt::context::create();
  int calls = 0;
  const auto small = tpt::model::create(tpt::config::parse(TINY), 1, context);
  context.set_progress([&](const void *, double) {
    other.set_threads(1);
    auto decoder = tpt::decoder::create(small);
    decoder.feed(FOUR);
    decoder.close();
    return ++calls > 0;
  });
  long_call(context);
  ck_assert_int_gt(calls, 0);
  context.set_threads(1);
}

TEST(settings_within_a_log) {
  auto context = tpt::context::create();
  int refused = 0;
  context.set_log([&](tpt::log_level, std::string_view) {
    refused += tpt::attempt([&] { context.set_log({}); }).status() == tpt::status::state;
  });
  tpt::model::create(tpt::config::parse(TINY), 1, context);
  ck_assert_int_eq(refused, 1);
}

int main() {
  return run_tests({settings_within_a_call, calls_on_the_handle_of_a_call, trainer_within_its_call,
                    others_within_a_call, settings_within_a_log});
}
