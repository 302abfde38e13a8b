#include "values.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

const json_t *at(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!value) throw std::runtime_error(std::string("there is no key ") + key);
  return value;
}

std::string_view text_at(const json_t *object, const char *key) {
  const json_t *value = at(object, key);
  if (!json_is_string(value)) throw std::runtime_error(std::string("must be a text: ") + key);
  return {json_string_value(value), json_string_length(value)};
}

static json_int_t number(const json_t *object, const char *key) {
  const json_t *value = at(object, key);
  if (!json_is_integer(value)) throw std::runtime_error(std::string("must be a number: ") + key);
  return json_integer_value(value);
}

std::size_t size_at(const json_t *object, const char *key) {
  return static_cast<std::size_t>(number(object, key));
}

std::int32_t int_at(const json_t *object, const char *key) {
  return static_cast<std::int32_t>(number(object, key));
}

std::uint64_t u64_at(const json_t *object, const char *key) {
  return std::stoull(std::string(text_at(object, key)));
}

double number_at(const json_t *object, const char *key) {
  return std::stod(std::string(text_at(object, key)));
}

ids ids_at(const json_t *object, const char *key) {
  const json_t *list = at(object, key);
  ids made;
  for (std::size_t i = 0; i < json_array_size(list); i++)
    made.push_back(static_cast<std::int32_t>(json_integer_value(json_array_get(list, i))));
  return made;
}

tpt::point point_at(const json_t *object) {
  return static_cast<tpt::point>(int_at(object, "point"));
}

/* ---- out ---- */

void put(const json &object, const char *key, json value) {
  if (json_object_set_new(object.get(), key, value.release()))
    throw std::runtime_error(std::string("cannot be written: ") + key);
}

void add(const json &array, json value) {
  if (json_array_append_new(array.get(), value.release()))
    throw std::runtime_error("an element cannot be written");
}

json object() { return json(json_object()); }
json array() { return json(json_array()); }
json of_int(std::int64_t value) { return json(json_integer(value)); }
json of_size(std::size_t value) { return of_int(static_cast<std::int64_t>(value)); }
json of_u64(std::uint64_t value) { return of_text(std::to_string(value)); }

static json of_bits(std::uint64_t bits) {
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64, bits);
  return of_text(text);
}

json of_double(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return of_bits(bits);
}

json of_f64(tpt::span<const double> values) { return each(values, of_double); }

json of_f32(tpt::span<const float> values) {
  return each(values, [](float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return of_int(bits);
  });
}

json of_ids(tpt::span<const std::int32_t> values) { return each(values, of_int); }

/* FNV-1a, 64 bits: its offset basis and prime (Fowler, Noll, Vo; RFC 9923). */
json of_hash(const void *memory, std::size_t size) {
  const auto *byte = static_cast<const unsigned char *>(memory);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return of_bits(hash);
}

json of_floats(tpt::span<const float> values) {
  return of_hash(values.data(), values.size() * sizeof(float));
}

json of_bytes(std::string_view values) {
  std::string text;
  for (char c : values) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return of_text(text);
}

json of_text(std::string_view text) {
  json made(json_stringn(text.data(), text.size()));
  if (!made) throw std::runtime_error("a text of the results is not UTF-8");
  return made;
}

json of_file(const void *memory, std::size_t size) {
  json made = object();
  put(made, "size", of_size(size));
  put(made, "hash", of_hash(memory, size));
  return made;
}

/* ---- files ---- */

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot be read: " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string &path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())))
    throw std::runtime_error("cannot be written: " + path);
}
