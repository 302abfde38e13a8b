/* tokenizer, config, evaluate: texts, descriptions, data. */
#include "run.hpp"

#include <cstdio>
#include <stdexcept>

using std::size_t;

/* ---- tokenizer ---- */

static json sample(const tpt::tokenizer &tokenizer, const json_t *text) {
  const ids words = tokenizer.encode(json_string_value(text));
  json entry = object();
  put(entry, "ids", of_ids(words));
  put(entry, "text_ids", of_ids(tokenizer.encode_text(json_string_value(text))));
  put(entry, "decoded", of_text(tokenizer.decode(words)));
  put(entry, "pieces", each_below(words.size(), [&](size_t done) {
        const tpt::span<const std::int32_t> so_far(words.data(), done + 1);
        return of_bytes(tokenizer.decode_tail(so_far, done));
      }));
  return entry;
}

static json token(const tpt::tokenizer &tokenizer, std::int32_t id) {
  const std::string text = tokenizer.token(id);
  if (tokenizer.id(text) != id) throw std::runtime_error("another id for " + text);
  return of_text(text);
}

static tpt::tokenizer made_as(const json_t *how, std::string_view text) {
  const std::string_view kind = text_at(how, "kind");
  if (kind == "bytes") return tpt::tokenizer::bytes();
  const size_t vocab = size_at(how, "vocab");
  return kind == "words" ? tpt::tokenizer::words(text, vocab) : tpt::tokenizer::bpe(text, vocab);
}

static json all_ids(const tpt::tokenizer &tokenizer, const json_t *samples) {
  return each_of(samples, [&](const json_t *text) {
    return of_ids(tokenizer.encode(json_string_value(text)));
  });
}

static json entry_of(const json_t *how, const json_t *inputs, const std::string &scratch) {
  const json_t *samples = at(inputs, "samples");
  const std::string path = scratch + "_tokenizer.json";
  const auto tokenizer = made_as(how, text_at(inputs, "text"));
  const std::string format = tokenizer.format();
  json entry = object();
  put(entry, "kind", of_text(text_at(how, "kind")));
  put(entry, "vocab_size", of_size(tokenizer.vocab_size()));
  put(entry, "format", of_file(format.data(), format.size()));
  put(entry, "parsed", all_ids(tpt::tokenizer::parse(format), samples));
  tokenizer.save(path);
  const std::string saved = read_file(path);
  put(entry, "saved", of_file(saved.data(), saved.size()));
  put(entry, "loaded", all_ids(tpt::tokenizer::load(path), samples));
  std::remove(path.c_str());
  put(entry, "tokens",
      each(ids_at(how, "ids"), [&](std::int32_t id) { return token(tokenizer, id); }));
  put(entry, "samples",
      each_of(samples, [&](const json_t *text) { return sample(tokenizer, text); }));
  return entry;
}

json texts(const json_t *inputs, const std::string &scratch) {
  const json_t *what = at(inputs, "special");
  const auto tokenizer = tpt::tokenizer::parse(text_at(what, "json"));
  const ids words = tokenizer.encode(text_at(what, "text"));
  json results = object(), special = object();
  put(special, "vocab_size", of_size(tokenizer.vocab_size()));
  put(special, "ids", of_ids(words));
  put(special, "text_ids", of_ids(tokenizer.encode_text(text_at(what, "text"))));
  put(special, "decoded", of_text(tokenizer.decode(words)));
  put(results, "special", std::move(special));
  put(results, "tokenizers", each_of(at(inputs, "tokenizers"), [&](const json_t *how) {
        return entry_of(how, inputs, scratch);
      }));
  return results;
}

/* ---- config ---- */

static json preset(std::string_view name) {
  const auto described = tpt::config::preset(name);
  json entry = object();
  put(entry, "name", of_text(name));
  put(entry, "parameter_count", of_size(described.parameter_count()));
  put(entry, "inference", of_size(described.memory(tpt::memory_use::inference)));
  put(entry, "training", of_size(described.memory(tpt::memory_use::training)));
  return entry;
}

static void set(tpt::config &described, const json_t *change) {
  described.set(text_at(change, "key"), text_at(change, "value"));
}

static int check_of(const tpt::config &described) {
  return static_cast<int>(tpt::attempt([&] { return described.check(); }).status());
}

json config(const json_t *inputs, const std::string &scratch) {
  const json_t *changes = at(inputs, "set");
  const std::string path = scratch + ".yaml";
  auto described = tpt::config::parse(text_at(inputs, "yaml"));
  for (size_t i = 0; i < json_array_size(changes); i++) set(described, json_array_get(changes, i));
  const std::string format = described.format();
  json results = object(), broken = object();
  put(results, "presets", each(tpt::config::preset_names(), preset));
  put(results, "format", of_text(format));
  put(results, "get", each_of(at(inputs, "get"), [&](const json_t *key) {
        return of_text(described.get(json_string_value(key)));
      }));
  put(results, "parsed", of_text(tpt::config::parse(format).format()));
  write_file(path, format);
  put(results, "loaded", of_text(tpt::config::load(path).format()));
  std::remove(path.c_str());
  put(results, "check", of_int(check_of(described)));
  auto copy = described.copy();
  set(copy, at(inputs, "break"));
  const auto checked = tpt::attempt([&] { return copy.check(); });
  if (checked) throw std::runtime_error("the broken description passed");
  put(broken, "status", of_int(static_cast<int>(checked.status())));
  put(broken, "message", of_text(checked.error().what()));
  put(results, "broken", std::move(broken));
  put(results, "unbroken", of_int(check_of(described)));
  return results;
}

/* ---- evaluate ---- */

static json evaluations(const tpt::model &model, const tpt::dataset &data, const json_t *inputs) {
  return each_of(at(inputs, "max_windows"), [&](const json_t *windows) {
    const auto most = static_cast<size_t>(json_integer_value(windows));
    const auto e = tpt::evaluate(model, data, size_at(inputs, "seq"), most);
    json entry = object();
    put(entry, "loss", of_double(e.loss));
    put(entry, "perplexity", of_double(e.perplexity));
    put(entry, "tokens", of_u64(e.tokens));
    return entry;
  });
}

static std::string u16_of(const ids &tokens) {
  std::string bytes;
  for (std::int32_t id : tokens) {
    bytes += static_cast<char>(id & 0xff);
    bytes += static_cast<char>(id >> 8);
  }
  return bytes;
}

json evaluation(const json_t *inputs, const std::string &scratch) {
  const run r = run(at(inputs, "training")).whole();
  const std::string path = scratch + ".u16";
  const ids tokens = r.tokenizer.encode(text_at(inputs, "text"));
  const auto data = tpt::dataset::from_tokens(tokens, r.context);
  const size_t seq = size_at(inputs, "seq");
  const auto rows = data.window(size_at(inputs, "window"), seq);
  json results = object(), window = object();
  put(results, "count", of_size(data.count()));
  put(results, "window_count", of_size(data.window_count(seq)));
  put(window, "tokens", of_ids(rows.tokens));
  put(window, "targets", of_ids(rows.targets));
  put(results, "window", std::move(window));
  put(results, "evaluations", evaluations(r.model, data, inputs));
  write_file(path, u16_of(tokens));
  put(results, "from_file", evaluations(r.model, tpt::dataset::open(path, r.context), inputs));
  std::remove(path.c_str());
  return results;
}
