/* Every vector file again, through 3pt.hpp: VECTORS is the folder, SCRATCH one for files. */
#include "test.hpp"

#include "run.hpp"

/* Where two values differ first, "" where they are equal. */
static std::string difference(const json_t *got, const json_t *wanted, const std::string &place) {
  if (json_is_object(got) && json_is_object(wanted)) {
    const char *key;
    json_t *value;
    if (json_object_size(got) != json_object_size(wanted)) return place + ": other keys";
    json_object_foreach(const_cast<json_t *>(wanted), key, value) {
      const json_t *mine = json_object_get(got, key);
      if (!mine) return place + ": no " + key;
      const std::string inside = difference(mine, value, place + "." + key);
      if (!inside.empty()) return inside;
    }
    return "";
  }
  if (json_is_array(got) && json_is_array(wanted)) {
    const std::size_t count = json_array_size(wanted);
    if (json_array_size(got) != count) return place + ": another length";
    for (std::size_t i = 0; i < count; i++) {
      const std::string inside = difference(json_array_get(got, i), json_array_get(wanted, i),
                                            place + "[" + std::to_string(i) + "]");
      if (!inside.empty()) return inside;
    }
    return "";
  }
  return json_equal(got, wanted) ? "" : place;
}

static void compare(const char *name, scenario *play) {
  const std::string path = setting_of("VECTORS") + "/" + name + ".json";
  const json vector(json_load_file(path.c_str(), 0, nullptr));
  ck_assert_msg(vector != nullptr, "%s cannot be read", path.c_str());
  const json got = play(at(vector.get(), "inputs"), setting_of("SCRATCH") + "/" + name);
  const std::string where = difference(got.get(), at(vector.get(), "results"), name);
  ck_assert_msg(where.empty(), "differs at %s", where.c_str());
}

TEST(conformance_train) { compare("train", train); }
TEST(conformance_decode) { compare("decode", decode); }
TEST(conformance_forward) { compare("forward", forward); }
TEST(conformance_checkpoint) { compare("checkpoint", checkpoint); }
TEST(conformance_geometry) { compare("geometry", geometry); }
TEST(conformance_tokenizer) { compare("tokenizer", texts); }
TEST(conformance_config) { compare("config", config); }
TEST(conformance_evaluate) { compare("evaluate", evaluation); }
TEST(conformance_errors) { compare("errors", errors); }

int main() {
  return run_tests({conformance_train, conformance_decode, conformance_forward,
                    conformance_checkpoint, conformance_geometry, conformance_tokenizer,
                    conformance_config, conformance_evaluate, conformance_errors});
}
