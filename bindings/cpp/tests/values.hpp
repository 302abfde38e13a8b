/* The JSON of the scenarios and vectors: what ../../conformance/README.md calls int, u64, f32, hash
 * and so on. */
#ifndef VALUES_HPP
#define VALUES_HPP

#include <jansson.h>

#include <3pt/3pt.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct json_drop {
  void operator()(json_t *value) const { json_decref(value); }
};
using json = std::unique_ptr<json_t, json_drop>;
using ids = std::vector<std::int32_t>;

/* ---- in ---- */

const json_t *at(const json_t *object, const char *key);
std::string_view text_at(const json_t *object, const char *key);
std::size_t size_at(const json_t *object, const char *key);
std::int32_t int_at(const json_t *object, const char *key);
std::uint64_t u64_at(const json_t *object, const char *key);
double number_at(const json_t *object, const char *key);
ids ids_at(const json_t *object, const char *key);
tpt::point point_at(const json_t *object);

/* ---- out ---- */

void put(const json &object, const char *key, json value);
void add(const json &array, json value);
json object();
json array();
json of_int(std::int64_t value);
json of_size(std::size_t value);
json of_u64(std::uint64_t value);
json of_double(double value);
json of_f64(tpt::span<const double> values);
json of_f32(tpt::span<const float> values);
json of_ids(tpt::span<const std::int32_t> values);
json of_hash(const void *memory, std::size_t size);
json of_floats(tpt::span<const float> values); /* a hash */
json of_bytes(std::string_view values);
json of_text(std::string_view text);
json of_file(const void *memory, std::size_t size);

/* A list of what make gives for each element. */
template <class Range, class Make> json each(const Range &range, Make make) {
  json list = array();
  for (const auto &one : range) add(list, make(one));
  return list;
}
template <class Make> json each_of(const json_t *list, Make make) {
  json made = array();
  for (std::size_t i = 0; i < json_array_size(list); i++) add(made, make(json_array_get(list, i)));
  return made;
}
template <class Make> json each_below(std::size_t count, Make make) {
  json list = array();
  for (std::size_t i = 0; i < count; i++) add(list, make(i));
  return list;
}

/* ---- files ---- */

std::string read_file(const std::string &path);
void write_file(const std::string &path, std::string_view text);

#endif
