/* Functions of the host's: called, replaced, throwing. */
#include "calls.hpp"
#include "test.hpp"

#include <atomic>
#include <chrono>
#include <memory_resource>
#include <new>
#include <thread>

struct surprise {
  int number;
};

TEST(log_is_called) {
  auto context = tpt::context::create();
  std::vector<std::string> said;
  context.set_log([&](tpt::log_level level, std::string_view text) {
    if (level == tpt::log_level::info) said.emplace_back(text);
  });
  auto model = tpt::model::create(tpt::config::parse(TINY), 1, context);
  ck_assert_uint_eq(said.size(), 1);
  ck_assert(said[0].find("parameters") != std::string::npos);
  context.set_log({});
  auto decoder = tpt::decoder::create(model);
  ck_assert_uint_eq(said.size(), 1);
}

TEST(functions_end_with_the_last_handle) {
  const auto count = std::make_shared<int>(0);
  auto context = tpt::context::create();
  context.set_log([count](tpt::log_level, std::string_view) { ++*count; });
  context.set_progress([count](const void *, double) { return true; });
  ck_assert_int_eq(static_cast<int>(count.use_count()), 3);
  auto model = tpt::model::create(tpt::config::parse(TINY), 1, context);
  context.set_progress([](const void *, double) { return true; });
  ck_assert_int_eq(static_cast<int>(count.use_count()), 2);
  context.close();
  ck_assert_int_eq(static_cast<int>(count.use_count()), 2);
  model.close();
  ck_assert_int_eq(static_cast<int>(count.use_count()), 1);
  ck_assert_int_eq(*count, 1);
}

TEST(progress_is_called) {
  auto context = tpt::context::create();
  int calls = 0;
  context.set_progress([&](const void *handle, double done) {
    calls += handle != nullptr && !(done < 0) && !(done > 1);
    return true;
  });
  long_call(context);
  ck_assert_int_gt(calls, 0);
}

TEST(progress_ends_a_call) {
  auto context = tpt::context::create();
  context.set_progress([](const void *, double) { return false; });
  const auto ended = tpt::attempt([&] { return long_call(context); });
  ck_assert(ended.status() == tpt::status::cancelled);
  context.set_progress({});
  ck_assert(long_call(context));
}

TEST(progress_throws) {
  auto context = tpt::context::create();
  int calls = 0, caught = 0;
  context.set_progress([&](const void *, double) -> bool { throw surprise{++calls}; });
  try {
    long_call(context);
  } catch (const surprise &it) {
    caught = it.number;
  }
  ck_assert_int_eq(caught, 1);
  ck_assert_int_eq(calls, 1);
  context.set_progress({});
  ck_assert(long_call(context));
}

TEST(log_throws) {
  auto context = tpt::context::create();
  int calls = 0, caught = 0;
  context.set_log([&](tpt::log_level, std::string_view) { throw surprise{++calls}; });
  auto config = tpt::config::parse(TINY);
  config.set("model.vocab_size", "1000000"); /* long enough to be ended after its message */
  context.set_threads(1);
  try {
    tpt::model::create(config, 1, context);
  } catch (const surprise &it) {
    caught = it.number;
  }
  ck_assert_int_eq(caught, 1);
  ck_assert(context.last_error().find("ended by") != std::string::npos);
  context.set_log({});
  ck_assert(tpt::model::create(config, 1, context));
}

/* A context that comes from C keeps what C has set. */
TEST(progress_of_c_stays) {
  tpt_context *raw = nullptr;
  int calls = 0;
  const auto count = [](void *user, const void *, double) {
    return ++*static_cast<int *>(user), 0;
  };
  ck_assert_int_eq(tpt_context_create(&raw), TPT_OK);
  ck_assert_int_eq(tpt_context_set_progress(raw, count, &calls, nullptr), TPT_OK);
  tpt::context context(raw);
  context.set_log([](tpt::log_level, std::string_view) {});
  long_call(context);
  ck_assert_int_gt(calls, 0);
}

/* A callback may call the library with other handles; a failure there is its own. */
TEST(calls_within_calls) {
  auto context = tpt::context::create();
  int inner = 0;
  context.set_progress([&](const void *, double) {
    inner +=
        tpt::attempt([] { return tpt::config::parse("a: b"); }).status() == tpt::status::config;
    return true;
  });
  ck_assert(long_call(context));
  ck_assert_int_gt(inner, 0);
}

TEST(cancelled_from_another_thread) {
  auto context = tpt::context::create();
  std::atomic<bool> begun{false};
  context.set_progress([&](const void *, double) {
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  });
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    context.cancel();
  });
  const auto ended = tpt::attempt([&] { return long_call(context); });
  other.join();
  ck_assert(ended.status() == tpt::status::cancelled);
  context.cancel(false);
  ck_assert(long_call(context));
}

/* ---- a continuation that is ended ---- */

/* Until progress is called, which throws in every other call. */
static void generate_ended(tpt::context &context, tpt::decoder &decoder,
                           std::vector<std::int32_t> &tokens, std::size_t left, bool throws) {
  const auto before = tokens.size();
  context.set_progress([&](const void *, double) -> bool {
    if (throws) throw surprise{1};
    return false;
  });
  try {
    ck_assert_uint_eq(decoder.generate(tokens, left), left);
    ck_assert_uint_eq(tokens.size(), before + left);
  } catch (const tpt::error &failure) {
    ck_assert(!throws && failure.status() == tpt::status::cancelled);
  } catch (const surprise &) {
    ck_assert(throws);
  }
  context.set_progress({});
}

/* Ended again and again, with a token in peace after each end. */
TEST(generate_loses_nothing) {
  auto context = tpt::context::create();
  context.set_threads(1);
  const auto model = slow_model(context);
  const std::size_t count = 400;
  const auto want = prompted(model).generate(count);
  auto decoder = prompted(model);
  std::vector<std::int32_t> got;
  int halves = 0;
  for (bool throws = false; got.size() < count; throws = !throws) {
    const auto before = got.size();
    generate_ended(context, decoder, got, count - before, throws);
    if (got.size() == count) break;
    halves += got.size() > before;
    ck_assert_uint_eq(decoder.generate(got, 1), 1);
    ck_assert_uint_eq(decoder.position(), FOUR.size() + got.size());
  }
  ck_assert(got == want);
  ck_assert_int_ge(halves, 2);
}

TEST(generate_is_cancelled_before_it_begins) {
  auto context = tpt::context::create();
  const auto model = tpt::model::create(tpt::config::parse(TINY), 1, context);
  const auto want = prompted(model).generate(4);
  auto decoder = prompted(model);
  std::vector<std::int32_t> got;
  context.cancel();
  const auto ended = tpt::attempt([&] { return decoder.generate(got, 4); });
  ck_assert(ended.status() == tpt::status::cancelled && got.empty());
  context.cancel(false);
  ck_assert(decoder.generate(4) == want);
}

/* ---- memory ---- */

class counting : public std::pmr::memory_resource {
public:
  std::size_t held = 0, most = 0;
  int throws = 0;

private:
  void *do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (throws == 1) throw std::bad_alloc();
    if (throws == 2) throw surprise{2};
    held += bytes;
    most = held > most ? held : most;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void *memory, std::size_t bytes, std::size_t alignment) override {
    held -= bytes;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

TEST(memory_resource_is_used) {
  counting memory;
  auto context = tpt::context::create();
  context.set_threads(1);
  context.set_allocator(memory);
  const auto config = tpt::config::parse(TINY);
  auto model = tpt::model::create(config, 1, context);
  ck_assert_uint_gt(memory.held, config.parameter_count() * sizeof(float));
  memory.throws = 1;
  const auto refused = tpt::attempt([&] { return tpt::decoder::create(model); });
  ck_assert(refused.status() == tpt::status::memory);
  memory.throws = 2;
  int caught = 0;
  try {
    tpt::decoder::create(model);
  } catch (const surprise &it) {
    caught = it.number;
  }
  ck_assert_int_eq(caught, 2);
  memory.throws = 0;
  tpt::decoder::create(model).close();
  model.close(), context.close();
  ck_assert_uint_eq(memory.held, 0);
}

int main() {
  return run_tests({log_is_called, functions_end_with_the_last_handle, progress_is_called,
                    progress_ends_a_call, progress_throws, log_throws, calls_within_calls,
                    progress_of_c_stays, cancelled_from_another_thread, memory_resource_is_used,
                    generate_loses_nothing, generate_is_cancelled_before_it_begins});
}
