/*
 * 3pt.hpp: lib3pt for C++17 and later. A header over 3pt.h and nothing else: link with -l3pt.
 *
 *   auto config = tpt::config::parse("model: {vocab_size: 256, max_seq_len: 64}");
 *   auto model = tpt::model::create(config, 1);
 *   auto trainer = tpt::trainer::create(model);
 *   auto optimizer = tpt::optimizer::create(trainer);
 *   auto data = tpt::dataset::open("train.u16");
 *   std::uint64_t random_state = 1;
 *   for (int step = 0; step < 1000; step++) {
 *     const auto rows = data.random(random_state, 8, 64);
 *     trainer.zero_gradients();
 *     trainer.accumulate(rows.tokens, rows.targets, 8, 64);
 *     optimizer.step();
 *   }
 *   model.save("model.safetensors");
 *
 * WHAT 3pt.h SAYS HOLDS. Here is only what is different; the comment of the C function has ranges,
 * errors and bounds. Letters of shapes are those of 3pt.h: B batch, T positions of a row, D
 * d_model, N phases, P = D / N, V vocabulary, L layers.
 *
 * Owners. An object is its C handle. It can be moved, not copied. close() or the destructor gives
 * it back, in any order: a handle keeps alive what it was made from. A closed or moved-from object
 * may be closed, destroyed and assigned to; any other call on it fails with status::argument.
 *
 * Failures. A call that fails throws tpt::error, which has the status and the message of the C
 * library. Where exceptions are off (-fno-exceptions), or TPT_EXCEPTIONS is defined as 0 before
 * this header is included, each call gives a tpt::result<T> instead. tpt::attempt makes a result
 * of a call either way. std::bad_alloc is thrown as anywhere in C++.
 *
 * Threads. Calls on const objects may run at once on one object, others not. context::cancel may be
 * called at any time. A trainer and its optimizers count as one object. The settings of a context
 * change only while no call runs on anything made from it. Writing weights (model::set_tensor,
 * optimizer::step, trainer::load_checkpoint, what model::parameters lends) while another call reads
 * that model, by a decoder, a trainer or the model itself, is the caller's error. Nothing sees
 * these, but for what is said of callbacks.
 *
 * Views. A tpt::span that a call gives is borrowed: its comment says until when. What is a vector
 * or a string is a copy. Such calls are refused on temporaries.
 *
 * Callbacks. An exception in a log, progress or allocate function does not go through C: it ends
 * the call, at its next piece of work, and is thrown again from the call on that thread. A callback
 * must not touch its own call. Refused with status::state, on the thread of the callback:
 *   - the settings of the context, set_threads to set_progress;
 *   - within a progress function calls on the decoder, trainer or optimizer that it was called for,
 *     and writes to such a model;
 *   - closing what it was called for: it stays open, and the call ends and fails so. Of an object
 *     that is destroyed or assigned to there the handle is lost.
 * Not seen, and wrong: a log function that uses or closes the object of its call; the optimizer of
 * the trainer, and the other decoders of feed_many; ending the C++ object itself, or moving from
 * it, while a function of it runs; what another thread does; functions set by C. A function held by
 * a context that in turn holds the context or what is made from it keeps both for ever.
 */
#ifndef TPT_3PT_HPP
#define TPT_3PT_HPP

#include <3pt/3pt.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif
#if defined(__cpp_lib_memory_resource)
#include <memory_resource>
#endif

#ifndef TPT_EXCEPTIONS /* 1: failures are thrown; 0: each call gives a result */
#if defined(__cpp_exceptions)
#define TPT_EXCEPTIONS 1
#else
#define TPT_EXCEPTIONS 0
#endif
#endif

/* Objects that are compiled in different ways may be linked into one program: what differs has
 * another name. */
#if TPT_EXCEPTIONS
#define TPT_CPP_FAILURES throws
#elif defined(__cpp_exceptions)
#define TPT_CPP_FAILURES results
#else
#define TPT_CPP_FAILURES results_alone
#endif
#if defined(__cpp_lib_span)
#define TPT_CPP_VIEWS std_span
#else
#define TPT_CPP_VIEWS own_span
#endif

namespace tpt {
inline namespace TPT_CPP_FAILURES {
inline namespace TPT_CPP_VIEWS {

/* ---- types ---- */

/// What a call came to; a later library may give others, which are failures.
enum class status : std::int32_t {
  ok = TPT_OK,
  argument = TPT_E_ARGUMENT,
  memory = TPT_E_MEMORY,
  io = TPT_E_IO,
  format = TPT_E_FORMAT,
  config = TPT_E_CONFIG,
  state = TPT_E_STATE,
  unsupported = TPT_E_UNSUPPORTED,
  numeric = TPT_E_NUMERIC,
  cancelled = TPT_E_CANCELLED,
  internal = TPT_E_INTERNAL
};

/// What config::memory counts.
enum class memory_use : std::int32_t {
  inference = TPT_MEMORY_INFERENCE,
  training = TPT_MEMORY_TRAINING
};

/// Points of the residual stream [B, T, D] of a trainer's last forward or accumulate.
enum class point : std::int32_t {
  embedding = TPT_POINT_EMBEDDING,
  attention = TPT_POINT_ATTENTION,
  rotation = TPT_POINT_ROTATION,
  block = TPT_POINT_BLOCK
};

/// How much a log message matters.
enum class log_level : std::int32_t { error = 0, warning = 1, info = 2, debug = 3 };

/// A parameter tensor.
struct tensor_info {
  std::string name;                 ///< "blocks.0.attn.q.weight"
  std::size_t ndim;                 ///< 1 or 2
  std::array<std::size_t, 4> shape; ///< unused entries are 1; a linear map is [out, in]
  std::size_t offset;               ///< of its first element in model::parameters
  std::size_t count;                ///< elements
};

/// Of tpt::evaluate.
struct evaluation {
  double loss;          ///< mean cross-entropy, nats a token
  double perplexity;    ///< exp(loss)
  std::uint64_t tokens; ///< targets counted
};

/// How far a layer's angles are from their start, in radians.
struct drift {
  double start, mean, l2, max;
};

/// The zero-sum of the phases, measured and by the profile.
struct zero_sum {
  double measured, analytic;
};

/// Rows of a dataset, each [B, T] or [T].
struct examples {
  std::vector<std::int32_t> tokens, targets;
};

#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
/// What std::span is from C++20 on: an address and a number of elements, borrowed.
template <class T> class span {
public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using iterator = T *;

  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// Of an array, vector, string or other span; of a temporary only where it is const.
  template <class Range,
            class Element = std::remove_pointer_t<decltype(std::data(std::declval<Range &>()))>,
            class = std::enable_if_t<std::is_convertible_v<Element (*)[], T (*)[]> &&
                                     !std::is_same_v<std::decay_t<Range>, span> &&
                                     (std::is_const_v<T> || std::is_lvalue_reference_v<Range>)>>
  constexpr span(Range &&range) noexcept : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  constexpr T &operator[](std::size_t i) const { return assert(i < size_), data_[i]; }
  constexpr T &front() const { return (*this)[0]; }
  constexpr T &back() const { return (*this)[size_ - 1]; }
  constexpr span first(std::size_t count) const {
    return assert(count <= size_), span(data_, count);
  }
  constexpr span subspan(std::size_t from) const {
    return assert(from <= size_), span(data_ + from, size_ - from);
  }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

/// The bytes of a text, for what takes bytes.
inline span<const std::byte> bytes_of(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

/// A text without NUL, for C. Of const char *, std::string and std::filesystem::path it borrows, of
/// std::string_view it makes a copy.
class c_text {
public:
  c_text(const char *text) noexcept : text_(text) {}
  c_text(const std::string &text) noexcept
      : text_(text.c_str()), whole_(text.find('\0') == std::string::npos) {}
  c_text(std::string_view text)
      : copy_(text), copied_(true), whole_(text.find('\0') == std::string_view::npos) {}
  template <class Path,
            class = std::enable_if_t<
                std::is_same_v<decltype(std::declval<const Path &>().c_str()), const char *> &&
                std::is_same_v<typename Path::string_type, std::string>>>
  c_text(const Path &path) : c_text(path.native()) {}
  c_text(const c_text &) = delete;
  c_text &operator=(const c_text &) = delete;

  const char *c_str() const noexcept { return copied_ ? copy_.c_str() : text_; }
  bool whole() const noexcept { return whole_; } ///< no NUL in it, which C would take for the end

private:
  std::string copy_;
  const char *text_ = nullptr;
  bool copied_ = false;
  bool whole_ = true;
};

/* ---- failures ---- */

/// "TPT_E_IO"; also of a number that is no status.
inline const char *status_name(status code) noexcept {
  return tpt_status_name(static_cast<tpt_status>(code));
}

/// A failure: what() is the message of the C library, one line of UTF-8.
class error : public std::runtime_error {
public:
  error(tpt::status code, const std::string &message) : std::runtime_error(message), code_(code) {}
  tpt::status status() const noexcept { return code_; }
  const char *name() const noexcept { return status_name(code_); } ///< "TPT_E_IO"

private:
  tpt::status code_;
};

namespace detail {
/// Is it one of the objects, which lend what is theirs?
template <class T, class = void> struct is_owner : std::false_type {};
template <class T> struct is_owner<T, std::void_t<typename T::handle_type>> : std::true_type {};
} // namespace detail

/// What a call gave, or its failure.
template <class T> class [[nodiscard]] result {
public:
  using value_type = T;
  result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  result(tpt::error failure) : held_(std::in_place_index<1>, std::move(failure)) {}

  bool has_value() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  tpt::status status() const noexcept { return has_value() ? tpt::status::ok : error().status(); }
  /// Only of a failure.
  const tpt::error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&held_);
  }
  /// Only where there is a value.
  T &operator*() &noexcept { return assert(has_value()), *std::get_if<0>(&held_); }
  const T &operator*() const &noexcept { return assert(has_value()), *std::get_if<0>(&held_); }
  T &&operator*() &&noexcept { return assert(has_value()), std::move(*std::get_if<0>(&held_)); }
  T *operator->() &noexcept { return &**this; }
  const T *operator->() const &noexcept { return &**this; }
  T *operator->() &&noexcept {
    static_assert(!detail::is_owner<T>::value,
                  "give the object a name first: what it lends would outlive it");
    return std::addressof(*static_cast<result &>(*this));
  }
  template <class Other> T value_or(Other &&other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<Other>(other));
  }

private:
  std::variant<T, tpt::error> held_;
};

/// Of a call that gives nothing.
template <> class [[nodiscard]] result<void> {
public:
  using value_type = void;
  result() noexcept = default;
  result(tpt::error failure) : held_(std::in_place_index<1>, std::move(failure)) {}

  bool has_value() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  tpt::status status() const noexcept { return has_value() ? tpt::status::ok : error().status(); }
  const tpt::error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&held_);
  }

private:
  std::variant<std::monostate, tpt::error> held_;
};

#if TPT_EXCEPTIONS
template <class T> using returns = T;
#else
/// What the calls give: T, or where failures are not thrown a result of it.
template <class T> using returns = result<T>;
#endif

namespace detail {

/// A log or progress function that runs on this thread, and those around it.
struct running {
  const void *context; ///< that holds the function
  const void *handle;  ///< of the call; null for a log function, which is not told
  running *outer;
  bool closed; ///< the handle was to be closed
};
inline thread_local running *innermost = nullptr; /* set by callbacks alone */
inline thread_local bool misused = false; /* the call fails because a callback used its own call */

/// Is this a callback of a call on something of this context?
inline bool in_call_of(const void *context) noexcept {
  for (const running *one = innermost; one; one = one->outer)
    if (context && one->context == context) return true;
  return false;
}

/// The progress function of a call on this handle, where this is one.
inline running *own_call(const void *handle) noexcept {
  running *one = innermost;
  while (one && (!handle || one->handle != handle)) one = one->outer;
  return one;
}

/// The mark of one callback.
class mark {
public:
  mark(const void *context, const void *handle) noexcept : own_{context, handle, innermost, false} {
    innermost = &own_;
  }
  ~mark() { innermost = own_.outer; }
  /// What C is told: to end the call where its handle was to be closed.
  std::int32_t answer(std::int32_t ends) const noexcept {
    misused = own_.closed;
    return misused ? 1 : ends;
  }
  mark(const mark &) = delete;
  mark &operator=(const mark &) = delete;

private:
  running own_;
};

#if defined(__cpp_exceptions)
/// An exception in a callback waits here for the end of the call on its thread.
inline std::exception_ptr &raised() noexcept {
  thread_local std::exception_ptr it;
  return it;
}
inline thread_local bool any_raised = false; /* the cheap question before each return */

inline void keep_exception() noexcept {
  raised() = std::current_exception();
  any_raised = true;
}

inline void throw_kept() {
  if (!any_raised) return;
  any_raised = misused = false;
  std::rethrow_exception(std::exchange(raised(), nullptr));
}

/// Calls the host's function; otherwise: what C is told where it throws, or one before it has.
template <class R, class Function> R shielded(R otherwise, Function function) noexcept {
  if (any_raised) return otherwise;
  try {
    return function();
  } catch (...) {
    keep_exception();
    return otherwise;
  }
}
#else
inline void throw_kept() noexcept {}
template <class R, class Function> R shielded(R, Function function) { return function(); }
#endif

template <class T> returns<T> failed(status code, const std::string &message) {
#if TPT_EXCEPTIONS
  throw error(code, message);
#else
  return result<T>(error(code, message));
#endif
}

template <class T> returns<T> refuse(const std::string &message) {
  return failed<T>(status::argument, message);
}

template <class T> returns<T> misuse() {
  return failed<T>(status::state, "a log or progress function used or closed what its own call "
                                  "runs on, which is allowed only after that call");
}

/// The failure of the call before.
template <class T> returns<T> failure(tpt_status code) {
  if (std::exchange(misused, false)) return misuse<T>();
  return failed<T>(static_cast<status>(code), tpt_error_message());
}

/// The value, or the failure of the call before.
template <class T> returns<T> give(tpt_status code, T value) {
  throw_kept();
  if (code != TPT_OK || misused) return failure<T>(code);
  return returns<T>(std::move(value));
}

inline returns<void> give(tpt_status code) {
  throw_kept();
  if (code != TPT_OK || misused) return failure<void>(code);
  return returns<void>();
}

/// What C would take for the end of a text is refused.
template <class T> returns<T> has_nul(const char *what) {
  return refuse<T>(std::string(what) + " has a NUL character, which is not allowed");
}

/// Asks for elements with room for some at first, and again where there are more.
template <class Container, class Ask>
returns<Container> grown(std::size_t room, std::size_t end, Ask ask) {
  Container all(room, typename Container::value_type{});
  std::size_t count = 0;
  tpt_status code = ask(all.data(), all.size() + end, &count);
  while (code == TPT_OK && count > all.size()) {
    all.resize(count);
    code = ask(all.data(), all.size() + end, &count);
  }
  if (code == TPT_OK) all.resize(count);
  return give(code, std::move(all));
}

/// A std::string has room for its NUL beside its size.
template <class Ask> returns<std::string> text(std::size_t room, Ask ask) {
  return grown<std::string>(room, 1, ask);
}

/// A number of a description; 0 where there is none: the call that needs it then says what is
/// wrong.
inline std::size_t setting(const tpt_config *from, const char *key) noexcept {
  char digits[32] = "";
  std::size_t length = 0;
  if (!from || tpt_config_get(from, key, digits, sizeof digits, &length) != TPT_OK) return 0;
  return static_cast<std::size_t>(std::strtoull(digits, nullptr, 10));
}

inline tpt_status tensor_at(const tpt_model *model, std::size_t index, tensor_info &into) {
  tpt_tensor_info info{};
  info.size = sizeof info;
  const tpt_status code = tpt_model_tensor_info(model, index, &info);
  if (code != TPT_OK) return code;
  into.name = info.name;
  into.ndim = info.ndim;
  std::copy(std::begin(info.shape), std::end(info.shape), into.shape.begin());
  into.offset = info.offset;
  into.count = info.count;
  return code;
}

inline tpt_status all_tensors(const tpt_model *model, std::vector<tensor_info> &into) {
  std::size_t count = 0;
  tpt_status code = tpt_model_tensor_count(model, &count);
  into.resize(count);
  for (std::size_t i = 0; code == TPT_OK && i < count; i++) code = tensor_at(model, i, into[i]);
  return code;
}

/// Elements of a tensor; 1 of one that is not there, which C then names.
inline std::size_t elements(const std::vector<tensor_info> &tensors, const char *name) {
  for (const tensor_info &tensor : tensors)
    if (name && tensor.name == name) return tensor.count;
  return 1;
}

/// The first element; of none an address that is not NULL, so that C speaks of the count.
template <class T> T *address(span<T> elements) noexcept {
  static std::remove_const_t<T> none{};
  return elements.data() || !elements.empty() ? elements.data() : &none;
}

/// Batch x seq elements that C will read or write, for which it takes no count.
inline bool is_product(std::size_t count, std::size_t batch, std::size_t seq) noexcept {
  if (batch == 0 || seq == 0) return true; /* C says which */
  return count / batch == seq && count % batch == 0;
}

/// How many values an array has, and what needs how many.
template <class T>
returns<T> wrong_count(const char *what, std::size_t count, const std::string &who,
                       std::size_t needed) {
  return refuse<T>(std::string(what) + " has " + std::to_string(count) + " values; " + who +
                   " needs " + std::to_string(needed));
}

inline constexpr std::size_t most_ids = PTRDIFF_MAX / sizeof(std::int32_t); /* of a vector */

inline bool is_too_many(std::size_t batch, std::size_t seq) noexcept {
  return seq && batch > most_ids / seq;
}

inline std::string rows_of(std::size_t batch, std::size_t seq) {
  return "batch x seq, " + std::to_string(batch) + " x " + std::to_string(seq) + ",";
}

template <class T> returns<T> too_many(std::size_t batch, std::size_t seq) {
  return refuse<T>(rows_of(batch, seq) + " is more than there can be");
}

template <class T>
returns<T> wrong_count(const char *what, std::size_t count, std::size_t batch, std::size_t seq) {
  if (is_too_many(batch, seq)) return too_many<T>(batch, seq);
  return wrong_count<T>(what, count, rows_of(batch, seq), batch * seq);
}

/// A handle and its end; the base of every object.
template <class Handle, void (*destroy)(Handle *)> class owner {
public:
  using handle_type = Handle;
  owner() noexcept = default;                                    ///< closed
  explicit owner(Handle *adopted) noexcept : handle_(adopted) {} ///< takes a C handle over
  owner(owner &&other) noexcept : handle_(other.release()) {}
  owner &operator=(owner &&other) noexcept {
    if (this == &other) return *this;
    close();
    handle_ = other.release();
    return *this;
  }

  /// Gives the handle back, now; again is nothing. In a progress function of a call on it: refused.
  void close() noexcept {
    running *const call = own_call(handle_);
    if (call)
      call->closed = true;
    else
      destroy(release());
  }
  explicit operator bool() const noexcept { return handle_ != nullptr; } ///< open
  /// The C handle, still owned by this object, for calls to C.
  Handle *handle() noexcept { return handle_; }
  const Handle *handle() const noexcept { return handle_; }
  /// The C handle, now the caller's; the object is closed.
  Handle *release() noexcept { return std::exchange(handle_, nullptr); }

  /// The message of the last call that failed on this object, on any thread; "" before the first.
  returns<std::string> last_error() const {
    return text(511, [this](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_error_of(handle_, into, capacity, length);
    });
  }

protected:
  ~owner() { close(); }
  /// For a call that the progress function of a call on the handle must not make: none there, which
  /// C refuses, and give() says why.
  Handle *calling() noexcept { return own_call(handle_) ? (misused = true, nullptr) : handle_; }
  const Handle *calling() const noexcept {
    return own_call(handle_) ? (misused = true, nullptr) : handle_;
  }
  Handle *shared() const noexcept { return handle_; } ///< for calls that any thread may make

private:
  Handle *handle_ = nullptr;
};

} // namespace detail

/// An argument that may be left out, or {}. A closed object is refused, not taken for none.
template <class Owner> class maybe {
public:
  maybe() noexcept = default;
  maybe(const Owner &owner) noexcept : owner_(&owner) {}
  bool closed() const noexcept { return owner_ && !*owner_; }
  auto handle() const noexcept { return owner_ ? owner_->handle() : nullptr; }

private:
  const Owner *owner_ = nullptr;
};

/// What one call gives as a result, also where failures are thrown:
/// `tpt::attempt([&] { return tpt::model::load(path); })`.
template <class Call> auto attempt(Call &&call) {
#if TPT_EXCEPTIONS
  using Value = decltype(call());
  try {
    if constexpr (std::is_void_v<Value>) {
      call();
      return result<void>();
    } else {
      return result<Value>(call());
    }
  } catch (const error &failure) {
    return result<Value>(failure);
  }
#else
  return call();
#endif
}

/* ---- the library ---- */

/// The version of the library in use, "1.0.0".
inline std::string_view version() noexcept { return tpt_version(); }

/// Is the library in use at least the one of this header, and of its major version?
inline returns<void> check_version(std::int32_t major = TPT_VERSION_MAJOR,
                                   std::int32_t minor = TPT_VERSION_MINOR,
                                   std::int32_t patch = TPT_VERSION_PATCH) {
  return detail::give(tpt_check_version(major, minor, patch));
}

/// Kernels, instruction sets and options in use, one line.
inline std::string_view build_info() noexcept { return tpt_build_info(); }

/* ---- context ---- */

/// Threads, allocator, log and progress of what is made with it.
class context : public detail::owner<tpt_context, tpt_context_destroy> {
public:
  context() noexcept = default; ///< closed
  /// Takes a C handle over; a progress function that it has stays.
  explicit context(tpt_context *adopted) noexcept : owner(adopted), reports_(true) {}
  /// The text is borrowed until the function returns.
  using log_function = std::function<void(log_level, std::string_view text)>;
  /// Of the handle of the call and how far it is, 0 to 1 or NaN; false ends the call.
  using progress_function = std::function<bool(const void *handle, double done)>;

  static returns<context> create() {
    tpt_context *made = nullptr;
    const tpt_status code = tpt_context_create(&made);
    context fresh(made);
    fresh.reports_ = false;
    return detail::give(code, std::move(fresh));
  }

  /// 1 to 256; 0: as many as the process may use.
  returns<void> set_threads(std::int32_t threads) {
    if (detail::in_call_of(handle())) return busy();
    return detail::give(tpt_context_set_threads(handle(), threads));
  }

  returns<std::int32_t> threads() const {
    std::int32_t count = 0;
    const tpt_status code = tpt_context_threads(handle(), &count);
    return detail::give(code, count);
  }

  /// C functions; .size is set here.
  returns<void> set_allocator(tpt_allocator allocator) {
    if (detail::in_call_of(handle())) return busy();
    allocator.size = sizeof allocator;
    return detail::give(tpt_context_set_allocator(handle(), &allocator));
  }

#if defined(__cpp_lib_memory_resource)
  /// Must outlive all that is made with the context, and be safe on any thread. Its std::bad_alloc
  /// is a failure with status::memory.
  returns<void> set_allocator(std::pmr::memory_resource &resource) {
    tpt_allocator functions{};
    functions.user = &resource;
    functions.allocate = allocate;
    functions.release = release_block;
    return set_allocator(functions);
  }
#endif

  /// An empty function: no log.
  returns<void> set_log(log_function log) {
    if (detail::in_call_of(handle())) return busy();
    const bool on = static_cast<bool>(log);
    auto held = on ? hold(std::move(log)) : nullptr;
    const tpt_status code = tpt_context_set_log(handle(), on ? call_log : nullptr, held.get(),
                                                on ? end<log_function> : nullptr);
    if (code != TPT_OK) return detail::give(code);
    static_cast<void>(held.release());
    return reports_ ? detail::give(code) : detail::give(watch());
  }

  /// An empty function: no progress.
  returns<void> set_progress(progress_function progress) {
    if (detail::in_call_of(handle())) return busy();
    reports_ = static_cast<bool>(progress);
    if (!reports_) return detail::give(watch());
    auto held = hold(std::move(progress));
    const tpt_status code =
        tpt_context_set_progress(handle(), call_progress, held.get(), end<progress_function>);
    if (code == TPT_OK) static_cast<void>(held.release());
    return detail::give(code);
  }

  /// From any thread: running and coming calls end with status::cancelled, until false.
  returns<void> cancel(bool on = true) const {
    return detail::give(tpt_context_cancel(shared(), on ? 1 : 0));
  }

private:
  /// A function and the context that holds it.
  template <class Function> struct held_by {
    Function call;
    const tpt_context *context;
  };
  template <class Function> std::unique_ptr<held_by<Function>> hold(Function function) const {
    return std::make_unique<held_by<Function>>(held_by<Function>{std::move(function), handle()});
  }
  template <class Function> static void end(void *user) {
    delete static_cast<held_by<Function> *>(user);
  }

  static returns<void> busy() {
    return detail::failed<void>(status::state, "settings of a context change only while no call "
                                               "runs on anything made from it: not in its log or "
                                               "progress function");
  }

  static void call_log(void *user, std::int32_t level, const char *text) {
    const auto &held = *static_cast<held_by<log_function> *>(user);
    const detail::mark within(held.context, nullptr);
    detail::shielded(0, [&] {
      held.call(static_cast<log_level>(level), text);
      return 0;
    });
  }

  static std::int32_t call_progress(void *user, const void *what, double done) {
    const auto &held = *static_cast<held_by<progress_function> *>(user);
    const detail::mark within(held.context, what);
    const std::int32_t ends = detail::shielded(
        std::int32_t{1}, [&] { return held.call(what, done) ? std::int32_t{0} : std::int32_t{1}; });
    return within.answer(ends);
  }

  /// Ends the call where a log function has thrown.
  static std::int32_t look(void *, const void *, double) {
    return detail::shielded(std::int32_t{1}, [] { return std::int32_t{0}; });
  }
  tpt_status watch() { return tpt_context_set_progress(handle(), look, nullptr, nullptr); }

#if defined(__cpp_lib_memory_resource)
  static void *take(void *user, std::size_t bytes, std::size_t alignment) {
    return static_cast<std::pmr::memory_resource *>(user)->allocate(bytes, alignment);
  }
  static void *allocate(void *user, std::size_t bytes, std::size_t alignment) {
#if defined(__cpp_exceptions)
    return detail::shielded(static_cast<void *>(nullptr), [=]() -> void * {
      try {
        return take(user, bytes, alignment);
      } catch (const std::bad_alloc &) {
        return nullptr;
      }
    });
#else
    return take(user, bytes, alignment);
#endif
  }
  static void release_block(void *user, void *memory, std::size_t bytes, std::size_t alignment) {
    static_cast<std::pmr::memory_resource *>(user)->deallocate(memory, bytes, alignment);
  }
#endif

  bool reports_ = false; /* a progress function of the host's may be set */
};

namespace detail {

/// Makes an object with a context that may be left out.
template <class Object, class Make> returns<Object> make(maybe<context> with, Make make_it) {
  if (with.closed()) return refuse<Object>("context is closed");
  /* Making things is allowed to any thread, hence the const outside. */
  return make_it(const_cast<tpt_context *>(with.handle()));
}

} // namespace detail

/* ---- description ---- */

/// A description: model and training settings, 3pt.yaml(5).
class config : public detail::owner<tpt_config, tpt_config_destroy> {
public:
  using owner::owner;

  /// All defaults.
  static returns<config> create() {
    return made([](tpt_config **into) { return tpt_config_create(into); });
  }

  static returns<config> preset(const c_text &name) {
    if (!name.whole()) return detail::has_nul<config>("name");
    return made([&](tpt_config **into) { return tpt_config_preset(name.c_str(), into); });
  }

  /// Names of all presets, as long as the library is loaded.
  static std::vector<std::string_view> preset_names() {
    std::vector<std::string_view> names;
    while (const char *name = tpt_config_preset_name(names.size())) names.emplace_back(name);
    return names;
  }

  /// From a YAML file.
  static returns<config> load(const c_text &path) {
    if (!path.whole()) return detail::has_nul<config>("path");
    return made([&](tpt_config **into) { return tpt_config_load(path.c_str(), into); });
  }

  /// From YAML in memory.
  static returns<config> parse(std::string_view yaml) {
    return made(
        [&](tpt_config **into) { return tpt_config_parse(yaml.data(), yaml.size(), into); });
  }

  returns<config> copy() const {
    return made([&](tpt_config **into) { return tpt_config_copy(handle(), into); });
  }

  /// set("model.n_phases", "4"): the value is YAML.
  returns<void> set(const c_text &key, const c_text &value) {
    if (!key.whole()) return detail::has_nul<void>("key");
    if (!value.whole()) return detail::has_nul<void>("value");
    return detail::give(tpt_config_set(handle(), key.c_str(), value.c_str()));
  }

  returns<std::string> get(const c_text &key) const {
    if (!key.whole()) return detail::has_nul<std::string>("key");
    return detail::text(63, [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_config_get(handle(), key.c_str(), into, capacity, length);
    });
  }

  /// YAML with every key.
  returns<std::string> format() const {
    return detail::text(2047, [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_config_format(handle(), into, capacity, length);
    });
  }

  /// The rules between keys.
  returns<void> check() const { return detail::give(tpt_config_check(handle())); }

  returns<std::size_t> parameter_count() const {
    std::size_t count = 0;
    const tpt_status code = tpt_config_parameter_count(handle(), &count);
    return detail::give(code, count);
  }

  /// Bytes that will be asked of the allocator.
  returns<std::size_t> memory(memory_use use) const {
    std::size_t bytes = 0;
    const tpt_status code = tpt_config_memory(handle(), static_cast<tpt_memory_use>(use), &bytes);
    return detail::give(code, bytes);
  }

private:
  template <class Make> static returns<config> made(Make make) {
    tpt_config *into = nullptr;
    const tpt_status code = make(&into);
    return detail::give(code, config(into));
  }
};

/* ---- model ---- */

/// Weights and their description.
class model : public detail::owner<tpt_model, tpt_model_destroy> {
public:
  using owner::owner;

  /// Random weights, a function of description and seed alone.
  static returns<model> create(const tpt::config &described, std::uint64_t seed,
                               maybe<context> with = {}) {
    return made(with, [&](tpt_context *ctx, tpt_model **into) {
      return tpt_model_create(ctx, described.handle(), seed, into);
    });
  }

  /// From a safetensors file; load(path, {}, config) without a context.
  static returns<model> load(const c_text &path, maybe<context> with = {},
                             maybe<tpt::config> described = {}) {
    if (!path.whole()) return detail::has_nul<model>("path");
    if (described.closed()) return detail::refuse<model>("config is closed");
    return made(with, [&](tpt_context *ctx, tpt_model **into) {
      return tpt_model_load(ctx, path.c_str(), described.handle(), into);
    });
  }

  /// From the bytes of such a file.
  static returns<model> load_memory(span<const std::byte> data, maybe<context> with = {},
                                    maybe<tpt::config> described = {}) {
    if (described.closed()) return detail::refuse<model>("config is closed");
    return made(with, [&](tpt_context *ctx, tpt_model **into) {
      return tpt_model_load_memory(ctx, detail::address(data), data.size(), described.handle(),
                                   into);
    });
  }

  /// Appears whole or not at all.
  returns<void> save(const c_text &path) const {
    if (!path.whole()) return detail::has_nul<void>("path");
    return detail::give(tpt_model_save(handle(), path.c_str()));
  }

  /// The same bytes.
  returns<std::vector<std::byte>> save_memory() const {
    return detail::grown<std::vector<std::byte>>(
        0, 0, [&](std::byte *into, std::size_t capacity, std::size_t *length) {
          return tpt_model_save_memory(handle(), into, capacity, length);
        });
  }

  /// A copy of the model's description.
  returns<tpt::config> config() const {
    tpt_config *copy = nullptr;
    const tpt_config *own = tpt_model_config(handle());
    const tpt_status code = own ? tpt_config_copy(own, &copy) : TPT_E_ARGUMENT;
    return detail::give(code, tpt::config(copy));
  }

  /// A snapshot with the same logits, rotations and gains multiplied into the linear maps.
  returns<model> fold() const {
    tpt_model *folded = nullptr;
    const tpt_status code = tpt_model_fold(handle(), &folded);
    return detail::give(code, model(folded));
  }

  /// A snapshot for decoding and evaluation: "f32", "bf16" or "int8".
  returns<model> convert(const c_text &precision) const {
    if (!precision.whole()) return detail::has_nul<model>("precision");
    tpt_model *converted = nullptr;
    const tpt_status code = tpt_model_convert(handle(), precision.c_str(), &converted);
    return detail::give(code, model(converted));
  }

  returns<std::size_t> tensor_count() const {
    std::size_t count = 0;
    const tpt_status code = tpt_model_tensor_count(handle(), &count);
    return detail::give(code, count);
  }

  returns<tpt::tensor_info> tensor_info(std::size_t index) const {
    tpt::tensor_info info{};
    const tpt_status code = detail::tensor_at(handle(), index, info);
    return detail::give(code, std::move(info));
  }

  /// All of them, in order.
  returns<std::vector<tpt::tensor_info>> tensors() const {
    std::vector<tpt::tensor_info> all;
    const tpt_status code = detail::all_tensors(handle(), all);
    return detail::give(code, std::move(all));
  }

  /// A copy of a tensor, row by row.
  returns<std::vector<float>> tensor(const c_text &name) const {
    if (!name.whole()) return detail::has_nul<std::vector<float>>("name");
    std::vector<float> values(elements(name.c_str()));
    const tpt_status code = tpt_model_get_tensor(
        handle(), name.c_str(), detail::address(span<float>(values)), values.size());
    return detail::give(code, std::move(values));
  }

  /// The same into an array of exactly so many elements.
  returns<void> get_tensor(const c_text &name, span<float> values) const {
    if (!name.whole()) return detail::has_nul<void>("name");
    return detail::give(tpt_model_get_tensor(handle(), name.c_str(),
                                             detail::address(span<float>(values)), values.size()));
  }

  /// Ends the forward of every trainer of the model.
  returns<void> set_tensor(const c_text &name, span<const float> values) {
    if (!name.whole()) return detail::has_nul<void>("name");
    return detail::give(
        tpt_model_set_tensor(calling(), name.c_str(), detail::address(values), values.size()));
  }

  /// All weights, writable between calls; borrowed until the model is closed.
  returns<span<float>> parameters() & {
    float *values = nullptr;
    std::size_t count = 0;
    const tpt_status code = tpt_model_parameters(calling(), &values, &count);
    return detail::give(code, span<float>(values, count));
  }
  returns<span<float>> parameters() && = delete;

  /// The profile of DC injection: r(first) and so on, count of them.
  returns<std::vector<float>> dc_profile(std::size_t first, std::size_t count) const {
    const std::size_t most = detail::setting(tpt_model_config(handle()), "model.max_seq_len");
    std::vector<float> values(count < most ? count : most); /* more C refuses */
    const tpt_status code =
        tpt_geometry_dc_profile(handle(), first, detail::address(span<float>(values)), count);
    return detail::give(code, std::move(values));
  }

  /// A layer's angles [P / 2], radians.
  returns<std::vector<float>> theta(std::size_t layer) const {
    std::vector<float> values(pairs());
    const tpt_status code = tpt_geometry_theta(handle(), layer, values.data(), values.size());
    return detail::give(code, std::move(values));
  }

  /// By what the pairs of a phase turn [P / 2], radians.
  returns<std::vector<float>> angles(std::size_t layer, std::size_t phase) const {
    std::vector<float> values(pairs());
    const tpt_status code =
        tpt_geometry_angles(handle(), layer, phase, values.data(), values.size());
    return detail::give(code, std::move(values));
  }

  /// How far a layer's angles are from their start.
  returns<tpt::drift> drift(std::size_t layer) const {
    tpt_drift d{};
    d.size = sizeof d;
    const tpt_status code = tpt_geometry_drift(handle(), layer, &d);
    return detail::give(code, tpt::drift{d.start, d.mean, d.l2, d.max});
  }

private:
  template <class Make> static returns<model> made(maybe<context> with, Make make) {
    return detail::make<model>(with, [&](tpt_context *ctx) {
      tpt_model *into = nullptr;
      const tpt_status code = make(ctx, &into);
      return detail::give(code, model(into));
    });
  }

  std::size_t pairs() const noexcept {
    const tpt_config *own = tpt_model_config(handle());
    const std::size_t phases = detail::setting(own, "model.n_phases");
    return phases ? detail::setting(own, "model.d_model") / phases / 2 : 0;
  }

  std::size_t elements(const char *name) const {
    std::vector<tpt::tensor_info> all;
    if (detail::all_tensors(handle(), all) != TPT_OK) return 1;
    const bool profile = name && std::string_view(name) == "embedding.dc_profile";
    return profile ? detail::setting(tpt_model_config(handle()), "model.max_seq_len")
                   : detail::elements(all, name);
  }
};

/* ---- training ---- */

class trainer;

/// AdamW moments, schedule, step count. A trainer and its optimizers count as one object.
class optimizer : public detail::owner<tpt_optimizer, tpt_optimizer_destroy> {
public:
  using owner::owner;

  static inline returns<optimizer> create(trainer &of, maybe<config> described = {});

  /// One step; gives the norm of the gradients before clipping.
  returns<double> step() {
    double norm = 0;
    const tpt_status code = tpt_optimizer_step(calling(), &norm);
    return detail::give(code, norm);
  }

  /// Instead of the schedule, until set to NaN.
  returns<void> set_lr(double rate) { return detail::give(tpt_optimizer_set_lr(calling(), rate)); }

  /// The rate of the next step.
  returns<double> lr() const {
    double rate = 0;
    const tpt_status code = tpt_optimizer_lr(calling(), &rate);
    return detail::give(code, rate);
  }

  returns<std::uint64_t> step_count() const {
    std::uint64_t steps = 0;
    const tpt_status code = tpt_optimizer_step_count(calling(), &steps);
    return detail::give(code, steps);
  }

private:
  friend class trainer;
};

/// Activations and gradients of one model.
class trainer : public detail::owner<tpt_trainer, tpt_trainer_destroy> {
public:
  trainer() noexcept = default; ///< closed

  static returns<trainer> create(model &of, maybe<config> described = {}) {
    if (described.closed()) return detail::refuse<trainer>("config is closed");
    tpt_trainer *made = nullptr;
    const tpt_status code = tpt_trainer_create(of.handle(), described.handle(), &made);
    return detail::give(code, trainer(made, of.handle()));
  }

  /// Takes a C handle over, with the model that it was made of.
  static returns<trainer> adopt(tpt_trainer *handle, const model &of) {
    return detail::give(TPT_OK, trainer(handle, of.handle()));
  }

  /// tokens [batch, seq].
  returns<void> forward(span<const std::int32_t> tokens, std::size_t batch, std::size_t seq) {
    if (!detail::is_product(tokens.size(), batch, seq))
      return detail::wrong_count<void>("tokens", tokens.size(), batch, seq);
    const tpt_status code = tpt_trainer_forward(calling(), detail::address(tokens), batch, seq);
    if (code == TPT_OK) seq_ = seq;
    return detail::give(code);
  }

  /// [B, T, V] of the last forward, borrowed until the next call on the trainer.
  returns<span<const float>> logits() & {
    const float *values = nullptr;
    const std::size_t count = positions() * vocab_;
    const tpt_status code = tpt_trainer_logits(calling(), &values);
    return detail::give(code, span<const float>(values, values ? count : 0));
  }
  returns<span<const float>> logits() && = delete;

  /// targets [B, T] as the forward; mean cross-entropy in nats.
  returns<double> loss(span<const std::int32_t> targets) {
    double value = 0;
    const std::size_t needed = positions();
    const bool fits =
        targets.size() == needed; /* C looks for the forward before it looks at them */
    const std::int32_t *given = fits ? detail::address(targets) : nullptr;
    const tpt_status code = tpt_trainer_loss(calling(), given, &value);
    if (fits || !needed || code != TPT_E_ARGUMENT) return detail::give(code, value);
    detail::throw_kept();
    return detail::wrong_count<double>("targets", targets.size(), "the last forward", needed);
  }

  /// Of the last loss; adds to the gradients.
  returns<void> backward() { return detail::give(tpt_trainer_backward(calling())); }

  /// dlogits [B, T, V]: of a loss of the caller's own.
  returns<void> backward_logits(span<const float> dlogits) {
    return detail::give(
        tpt_trainer_backward_logits(calling(), detail::address(dlogits), dlogits.size()));
  }

  /// Forward, loss and backward in one; tokens and targets [batch, seq].
  returns<double> accumulate(span<const std::int32_t> tokens, span<const std::int32_t> targets,
                             std::size_t batch, std::size_t seq) {
    if (!detail::is_product(tokens.size(), batch, seq))
      return detail::wrong_count<double>("tokens", tokens.size(), batch, seq);
    if (!detail::is_product(targets.size(), batch, seq))
      return detail::wrong_count<double>("targets", targets.size(), batch, seq);
    double value = 0;
    const tpt_status code = tpt_trainer_accumulate(calling(), detail::address(tokens),
                                                   detail::address(targets), batch, seq, &value);
    if (code == TPT_OK || code == TPT_E_NUMERIC) seq_ = seq;
    return detail::give(code, value);
  }

  returns<void> zero_gradients() { return detail::give(tpt_trainer_zero_gradients(calling())); }

  /// All, laid out as the parameters, writable between calls; borrowed until the trainer is closed.
  returns<span<float>> gradients() & {
    float *values = nullptr;
    std::size_t count = 0;
    const tpt_status code = tpt_trainer_gradients(calling(), &values, &count);
    return detail::give(code, span<float>(values, count));
  }
  returns<span<float>> gradients() && = delete;

  /// A copy of one tensor's gradient.
  returns<std::vector<float>> gradient(const c_text &name) const {
    if (!name.whole()) return detail::has_nul<std::vector<float>>("name");
    std::vector<float> values(detail::elements(tensors_, name.c_str()));
    const tpt_status code =
        tpt_trainer_get_gradient(calling(), name.c_str(), values.data(), values.size());
    return detail::give(code, std::move(values));
  }

  /// The stream [B, T, D] at a point; borrowed until the next call on the trainer.
  returns<span<const float>> activation(point where, std::size_t layer) & {
    const float *values = nullptr;
    std::size_t count = 0;
    const tpt_status code =
        tpt_trainer_activation(calling(), static_cast<tpt_point>(where), layer, &values, &count);
    return detail::give(code, span<const float>(values, count));
  }
  returns<span<const float>> activation(point where, std::size_t layer) && = delete;

  /// Description, weights, moments, step and the caller's own bytes, in one file.
  returns<void> save_checkpoint(const optimizer &with, const c_text &path,
                                span<const std::byte> user = {}) const {
    if (!path.whole()) return detail::has_nul<void>("path");
    return detail::give(
        tpt_checkpoint_save(calling(), with.calling(), path.c_str(), user.data(), user.size()));
  }

  /// All or nothing; gives the caller's own bytes. Where these are more than 4096 the file is read
  /// twice, and what ends the second time leaves the trainer as the first has made it.
  returns<std::vector<std::byte>> load_checkpoint(optimizer &with, const c_text &path) {
    if (!path.whole()) return detail::has_nul<std::vector<std::byte>>("path");
    return detail::grown<std::vector<std::byte>>(
        4096, 0, [&](std::byte *into, std::size_t capacity, std::size_t *size) {
          return tpt_checkpoint_load(calling(), with.calling(), path.c_str(), into, capacity, size);
        });
  }

  /// Of the last forward or accumulate: mean of each phase [N].
  returns<std::vector<double>> phase_means(point where, std::size_t layer) const {
    return measure<double>(tpt_geometry_phase_means, where, layer, phases_);
  }

  /// Root of the mean square of each phase [N].
  returns<std::vector<double>> phase_rms(point where, std::size_t layer) const {
    return measure<double>(tpt_geometry_phase_rms, where, layer, phases_);
  }

  /// Mean cosine between two phases [N, N].
  returns<std::vector<double>> phase_cosine(point where, std::size_t layer) const {
    return measure<double>(tpt_geometry_phase_cosine, where, layer, phases_ * phases_);
  }

  /// The share of the energy that is a phase's mean [N].
  returns<std::vector<double>> dc_energy(point where, std::size_t layer) const {
    return measure<double>(tpt_geometry_dc_energy, where, layer, phases_);
  }

  /// Mean at each position [T].
  returns<std::vector<float>> dc(point where, std::size_t layer) const {
    std::vector<float> values(std::max<std::size_t>(seq_, 1));
    const auto ask = [&] {
      return tpt_geometry_dc(calling(), static_cast<tpt_point>(where), layer, values.data(),
                             values.size());
    };
    /* Of a call that was cancelled, or made in C, the library alone knows T. */
    tpt_status code = ask();
    for (std::size_t t = 1; code == TPT_E_ARGUMENT && t <= most_; t++) {
      values.resize(t);
      code = ask();
    }
    return detail::give(code, std::move(values));
  }

  /// The zero-sum of the phases at the embedding.
  returns<tpt::zero_sum> zero_sum() const {
    tpt::zero_sum sums{};
    const tpt_status code = tpt_geometry_zero_sum(calling(), &sums.measured, &sums.analytic);
    return detail::give(code, sums);
  }

  /// How far a layer's rotation moves the stream.
  returns<double> displacement(std::size_t layer) const {
    double mean = 0;
    const tpt_status code = tpt_geometry_displacement(calling(), layer, &mean);
    return detail::give(code, mean);
  }

private:
  friend class optimizer;
  trainer(tpt_trainer *handle, const tpt_model *of) : owner(handle) {
    if (!handle) return;
    const tpt_config *own = tpt_model_config(of);
    vocab_ = detail::setting(own, "model.vocab_size");
    width_ = detail::setting(own, "model.d_model");
    phases_ = detail::setting(own, "model.n_phases");
    most_ = detail::setting(own, "model.max_seq_len");
    static_cast<void>(detail::all_tensors(of, tensors_));
  }

  /// B x T of the last forward; 0 where there is none.
  std::size_t positions() noexcept {
    const float *values = nullptr;
    std::size_t count = 0;
    const tpt_status code =
        tpt_trainer_activation(calling(), TPT_POINT_EMBEDDING, 0, &values, &count);
    return code == TPT_OK && width_ ? count / width_ : 0;
  }

  template <class Number, class Measure>
  returns<std::vector<Number>> measure(Measure call, point where, std::size_t layer,
                                       std::size_t count) const {
    std::vector<Number> values(count);
    const tpt_status code =
        call(calling(), static_cast<tpt_point>(where), layer, values.data(), count);
    return detail::give(code, std::move(values));
  }

  std::vector<tensor_info> tensors_; /* names and sizes of the gradients */
  std::size_t vocab_ = 0, width_ = 0, phases_ = 0, most_ = 0;
  std::size_t seq_ = 0; /* T of the last forward */
};

inline returns<optimizer> optimizer::create(trainer &of, maybe<config> described) {
  if (described.closed()) return detail::refuse<optimizer>("config is closed");
  tpt_optimizer *made = nullptr;
  const tpt_status code = tpt_optimizer_create(of.calling(), described.handle(), &made);
  return detail::give(code, optimizer(made));
}

/* ---- decoding ---- */

/// A sequence in progress.
class decoder : public detail::owner<tpt_decoder, tpt_decoder_destroy> {
public:
  decoder() noexcept = default; ///< closed

  /// max_positions 0: the model's max_seq_len.
  static returns<decoder> create(const model &of, std::size_t max_positions = 0) {
    tpt_decoder *made = nullptr;
    const tpt_status code = tpt_decoder_create(of.handle(), max_positions, &made);
    return detail::give(code, decoder(made, of.handle()));
  }

  /// Takes a C handle over, with the model that it was made of.
  static returns<decoder> adopt(tpt_decoder *handle, const model &of) {
    return detail::give(TPT_OK, decoder(handle, of.handle()));
  }

  /// Positions, cache, last logits and sampler go into another decoder of the model.
  returns<void> copy_to(decoder &target) const {
    return detail::give(tpt_decoder_copy(calling(), target.calling()));
  }

  /// Gives the logits [V] after the last token, borrowed until the next call on the decoder.
  returns<span<const float>> feed(span<const std::int32_t> tokens) & {
    const float *logits = nullptr;
    const tpt_status code =
        tpt_decoder_feed(calling(), detail::address(tokens), tokens.size(), &logits);
    return detail::give(code, row(logits));
  }
  returns<span<const float>> feed(std::initializer_list<std::int32_t> tokens) & {
    return feed(span<const std::int32_t>(tokens.begin(), tokens.size()));
  }
  returns<span<const float>> feed(std::int32_t token) & {
    return feed(span<const std::int32_t>(&token, 1));
  }

  /// Feeds them; gives ln P(token | what was before it) of each.
  returns<std::vector<double>> score(span<const std::int32_t> tokens) {
    std::vector<double> likely(tokens.size());
    const tpt_status code = tpt_decoder_score(calling(), detail::address(tokens), tokens.size(),
                                              detail::address(span<double>(likely)));
    return detail::give(code, std::move(likely));
  }

  /// Forgets what is at and after a position.
  returns<void> rewind(std::size_t position) {
    return detail::give(tpt_decoder_rewind(calling(), position));
  }

  /// Tokens held.
  returns<std::size_t> position() const {
    std::size_t count = 0;
    const tpt_status code = tpt_decoder_position(calling(), &count);
    return detail::give(code, count);
  }

  /// temperature 0: greedy; top_k 0 and top_p 1: off.
  returns<void> set_sampling(double temperature, std::int32_t top_k = 0, double top_p = 1,
                             std::uint64_t seed = 0) {
    return detail::give(tpt_decoder_set_sampling(calling(), temperature, top_k, top_p, seed));
  }

  /// A token by the last feed's logits; does not feed it.
  returns<std::int32_t> sample() {
    std::int32_t token = 0;
    const tpt_status code = tpt_decoder_sample(calling(), &token);
    return detail::give(code, token);
  }

  /// Samples a token and feeds it, count times or until after token stop (-1: none). What it makes
  /// goes to the end of tokens, also where it fails or is ended; a later call then goes on with
  /// what would have come. Gives how many were made.
  returns<std::size_t> generate(std::vector<std::int32_t> &tokens, std::size_t count,
                                std::int32_t stop = -1) {
    const std::size_t before = tokens.size();
    const tpt_status code = append(tokens, count, stop);
    return detail::give(code, tokens.size() - before);
  }
  /// The same where no failure is to be gone on from: then only position() tells what was made.
  returns<std::vector<std::int32_t>> generate(std::size_t count, std::int32_t stop = -1) {
    std::vector<std::int32_t> tokens;
    const tpt_status code = append(tokens, count, stop);
    return detail::give(code, std::move(tokens));
  }

private:
  friend returns<std::vector<span<const float>>> feed_many(span<decoder *const>,
                                                           span<const std::int32_t>);

  decoder(tpt_decoder *handle, const tpt_model *of) : owner(handle) {
    if (!handle) return;
    vocab_ = detail::setting(tpt_model_config(of), "model.vocab_size");
    most_ = detail::setting(tpt_model_config(of), "model.max_seq_len");
    if (most_ == 0) most_ = SIZE_MAX; /* adopted with a closed model */
  }
  span<const float> row(const float *logits) const noexcept {
    return {logits, logits ? vocab_ : 0};
  }

  /* C refuses a count that is more than the room, and writes nothing then. */
  tpt_status append(std::vector<std::int32_t> &tokens, std::size_t count, std::int32_t stop) {
    const std::size_t before = tokens.size(), room = std::min(count, most_);
    tokens.resize(before + room);
    const span<std::int32_t> added(tokens.data() + before, room);
    std::size_t made = 0;
    const tpt_status code =
        tpt_decoder_generate(calling(), stop, detail::address(added), count, &made);
    tokens.resize(before + made);
    return code;
  }

  std::size_t vocab_ = 0;
  std::size_t most_ = 0; /* tokens that a decoder of the model can hold */
};

/// tokens[i] to decoders[i], of one model, each once; gives the logits [V] of each, borrowed until
/// the next call on it.
inline returns<std::vector<span<const float>>> feed_many(span<decoder *const> decoders,
                                                         span<const std::int32_t> tokens) {
  using rows = std::vector<span<const float>>;
  if (tokens.size() != decoders.size())
    return detail::wrong_count<rows>("tokens", tokens.size(), "one for each of decoders",
                                     decoders.size());
  if (decoders.empty()) return detail::refuse<rows>("decoders is empty");
  std::vector<tpt_decoder *> handles;
  for (decoder *one : decoders) handles.push_back(one ? one->calling() : nullptr);
  std::vector<const float *> logits(handles.size());
  const tpt_status code =
      tpt_decoder_feed_many(handles.data(), handles.size(), detail::address(tokens), logits.data());
  rows all;
  if (code == TPT_OK)
    for (std::size_t i = 0; i < logits.size(); i++) all.push_back(decoders[i]->row(logits[i]));
  return detail::give(code, std::move(all));
}

/// The same of decoders that lie side by side.
inline returns<std::vector<span<const float>>> feed_many(std::vector<decoder> &decoders,
                                                         span<const std::int32_t> tokens) {
  std::vector<decoder *> each;
  for (decoder &one : decoders) each.push_back(&one);
  return feed_many(span<decoder *const>(each.data(), each.size()), tokens);
}

/* ---- data ---- */

/// A sequence of token ids, in memory or in a file.
class dataset : public detail::owner<tpt_dataset, tpt_dataset_destroy> {
public:
  using owner::owner;

  /// Flat little-endian ids: .u16, .bin, .u32.
  static returns<dataset> open(const c_text &path, maybe<context> with = {}) {
    if (!path.whole()) return detail::has_nul<dataset>("path");
    return made(with, [&](tpt_context *ctx, tpt_dataset **into) {
      return tpt_dataset_open(ctx, path.c_str(), into);
    });
  }

  /// A copy of ids.
  static returns<dataset> from_tokens(span<const std::int32_t> tokens, maybe<context> with = {}) {
    return made(with, [&](tpt_context *ctx, tpt_dataset **into) {
      return tpt_dataset_from_tokens(ctx, tokens.data(), tokens.size(), into);
    });
  }

  /// Tokens in it.
  returns<std::size_t> count() const {
    std::size_t tokens = 0;
    const tpt_status code = tpt_dataset_count(handle(), &tokens);
    return detail::give(code, tokens);
  }

  /// Windows [batch, seq] from places drawn by the state, which moves on.
  returns<examples> random(std::uint64_t &random_state, std::size_t batch, std::size_t seq) const {
    const bool any = holds(seq);
    if (any && detail::is_too_many(batch, seq)) return detail::too_many<examples>(batch, seq);
    examples rows = room(any ? batch * seq : 0);
    const tpt_status code = tpt_dataset_random(handle(), &random_state, batch, seq,
                                               detail::address(span<std::int32_t>(rows.tokens)),
                                               detail::address(span<std::int32_t>(rows.targets)));
    return detail::give(code, std::move(rows));
  }

  /// The same into arrays [batch, seq].
  returns<void> random(std::uint64_t &random_state, std::size_t batch, std::size_t seq,
                       span<std::int32_t> tokens, span<std::int32_t> targets) const {
    if (!detail::is_product(tokens.size(), batch, seq))
      return detail::wrong_count<void>("tokens", tokens.size(), batch, seq);
    if (!detail::is_product(targets.size(), batch, seq))
      return detail::wrong_count<void>("targets", targets.size(), batch, seq);
    return detail::give(
        tpt_dataset_random(handle(), &random_state, batch, seq, tokens.data(), targets.data()));
  }

  /// (tokens - 1) / seq.
  returns<std::size_t> window_count(std::size_t seq) const {
    std::size_t windows = 0;
    const tpt_status code = tpt_dataset_window_count(handle(), seq, &windows);
    return detail::give(code, windows);
  }

  /// One of the windows [seq] that do not overlap.
  returns<examples> window(std::size_t index, std::size_t seq) const {
    examples rows = room(holds(seq) ? seq : 0);
    const tpt_status code =
        tpt_dataset_window(handle(), index, seq, detail::address(span<std::int32_t>(rows.tokens)),
                           detail::address(span<std::int32_t>(rows.targets)));
    return detail::give(code, std::move(rows));
  }

private:
  /* Is there a window of so many tokens? Where there is none C refuses, and no room is needed. */
  bool holds(std::size_t seq) const noexcept {
    std::size_t tokens = 0;
    return tpt_dataset_count(handle(), &tokens) == TPT_OK && seq < tokens;
  }

  static examples room(std::size_t count) {
    return {std::vector<std::int32_t>(count), std::vector<std::int32_t>(count)};
  }

  template <class Make> static returns<dataset> made(maybe<context> with, Make make) {
    return detail::make<dataset>(with, [&](tpt_context *ctx) {
      tpt_dataset *into = nullptr;
      const tpt_status code = make(ctx, &into);
      return detail::give(code, dataset(into));
    });
  }
};

/// Loss of a model on the windows of a dataset; max_windows 0: all.
inline returns<evaluation> evaluate(const model &of, const dataset &data, std::size_t seq,
                                    std::size_t max_windows = 0, maybe<config> described = {}) {
  if (described.closed()) return detail::refuse<evaluation>("config is closed");
  tpt_evaluation e{};
  e.size = sizeof e;
  const tpt_status code =
      tpt_evaluate(of.handle(), described.handle(), data.handle(), seq, max_windows, &e);
  return detail::give(code, evaluation{e.loss, e.perplexity, e.tokens});
}

/* ---- tokenizers ---- */

/// Text to ids and back; immutable.
class tokenizer : public detail::owner<tpt_tokenizer, tpt_tokenizer_destroy> {
public:
  using owner::owner;

  /// 256 ids: a byte is its own id.
  static returns<tokenizer> bytes(maybe<context> with = {}) {
    return made(with, [](tpt_context *ctx, tpt_tokenizer **into) {
      return tpt_tokenizer_bytes(ctx, into);
    });
  }

  /// The commonest words of a text.
  static returns<tokenizer> words(std::string_view text, std::size_t vocab,
                                  maybe<context> with = {}) {
    return made(with, [&](tpt_context *ctx, tpt_tokenizer **into) {
      return tpt_tokenizer_words(ctx, text.data(), text.size(), vocab, into);
    });
  }

  /// Byte-level byte-pair encoding, learned from a text.
  static returns<tokenizer> bpe(std::string_view text, std::size_t vocab,
                                maybe<context> with = {}) {
    return made(with, [&](tpt_context *ctx, tpt_tokenizer **into) {
      return tpt_tokenizer_bpe(ctx, text.data(), text.size(), vocab, into);
    });
  }

  /// A file tokenizer.json.
  static returns<tokenizer> load(const c_text &path, maybe<context> with = {}) {
    if (!path.whole()) return detail::has_nul<tokenizer>("path");
    return made(with, [&](tpt_context *ctx, tpt_tokenizer **into) {
      return tpt_tokenizer_load(ctx, path.c_str(), into);
    });
  }

  /// The text of such a file.
  static returns<tokenizer> parse(std::string_view json, maybe<context> with = {}) {
    return made(with, [&](tpt_context *ctx, tpt_tokenizer **into) {
      return tpt_tokenizer_parse(ctx, json.data(), json.size(), into);
    });
  }

  /// Writes tokenizer.json; appears whole or not at all.
  returns<void> save(const c_text &path) const {
    if (!path.whole()) return detail::has_nul<void>("path");
    return detail::give(tpt_tokenizer_save(handle(), path.c_str()));
  }

  /// The text of tokenizer.json.
  returns<std::string> format() const {
    return detail::text(0, [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_tokenizer_format(handle(), into, capacity, length);
    });
  }

  /// Largest id + 1.
  returns<std::size_t> vocab_size() const {
    std::size_t count = 0;
    const tpt_status code = tpt_tokenizer_vocab_size(handle(), &count);
    return detail::give(code, count);
  }

  /// Ids of a text; added tokens in it are recognised.
  returns<std::vector<std::int32_t>> encode(std::string_view text) const {
    return ids(tpt_tokenizer_encode, text);
  }

  /// Special tokens are read as plain text: for untrusted text.
  returns<std::vector<std::int32_t>> encode_text(std::string_view text) const {
    return ids(tpt_tokenizer_encode_text, text);
  }

  /// Text of ids, special tokens left out.
  returns<std::string> decode(span<const std::int32_t> ids) const {
    return detail::text(4 * ids.size(), [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_tokenizer_decode(handle(), ids.data(), ids.size(), into, capacity, length);
    });
  }

  /// What ids[done] and the later ones add to the text of those before, for streaming.
  returns<std::string> decode_tail(span<const std::int32_t> ids, std::size_t done) const {
    return detail::text(15, [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_tokenizer_decode_tail(handle(), detail::address(ids), ids.size(), done, into,
                                       capacity, length);
    });
  }

  /// Id of a token, as tokenizer.json spells it.
  returns<std::int32_t> id(const c_text &token) const {
    if (!token.whole()) return detail::has_nul<std::int32_t>("token");
    std::int32_t found = 0;
    const tpt_status code = tpt_tokenizer_id(handle(), token.c_str(), &found);
    return detail::give(code, found);
  }

  /// The other way.
  returns<std::string> token(std::int32_t id) const {
    return detail::text(15, [&](char *into, std::size_t capacity, std::size_t *length) {
      return tpt_tokenizer_token(handle(), id, into, capacity, length);
    });
  }

private:
  template <class Encode>
  returns<std::vector<std::int32_t>> ids(Encode call, std::string_view text) const {
    return detail::grown<std::vector<std::int32_t>>(
        text.size(), 0, [&](std::int32_t *into, std::size_t capacity, std::size_t *count) {
          return call(handle(), text.data(), text.size(), into, capacity, count);
        });
  }

  template <class Make> static returns<tokenizer> made(maybe<context> with, Make make) {
    return detail::make<tokenizer>(with, [&](tpt_context *ctx) {
      tpt_tokenizer *into = nullptr;
      const tpt_status code = make(ctx, &into);
      return detail::give(code, tokenizer(into));
    });
  }
};

} // namespace TPT_CPP_VIEWS
} // namespace TPT_CPP_FAILURES
} // namespace tpt

#undef TPT_CPP_FAILURES
#undef TPT_CPP_VIEWS

#endif
