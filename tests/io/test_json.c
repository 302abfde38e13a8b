/* JSON, strict and bounded. */
#include "io/json.h"

#include <check.h>
#include <string.h>

#include "io/files.h"
#include "support/runner.h"

static tpt_status parse(const char *text, size_t length, size_t most, tpti_json **root) {
  return tpti_json_parse(NULL, text, length, most, "the text", root);
}

START_TEST(reads_all_kinds) {
  const char text[] = "\t{\"n\": null, \"b\": true, \"i\": -9223372036854775808, \"r\": 1e2,\n"
                      "\"s\": \"\\u00e9\\u0000x\", \"a\": [1, [], {}], \"o\": {}} ";
  tpti_json *root;
  ck_assert_int_eq(parse(text, strlen(text), 100, &root), TPT_OK);
  ck_assert_uint_eq(tpti_json_count(root), 7);
  ck_assert_int_eq(tpti_json_kind_of(tpti_json_get(root, "n")), TPTI_JSON_NULL);
  ck_assert(tpti_json_bool(tpti_json_get(root, "b")));
  ck_assert(tpti_json_integer(tpti_json_get(root, "i")) == INT64_MIN);
  ck_assert_int_eq(tpti_json_kind_of(tpti_json_get(root, "r")), TPTI_JSON_REAL);
  ck_assert_double_eq(tpti_json_real(tpti_json_get(root, "r")), 100);
  size_t length = 0;
  const char *string = tpti_json_string(tpti_json_get(root, "s"), &length);
  ck_assert_uint_eq(length, 4);
  ck_assert_mem_eq(string, "\xc3\xa9\0x", 4);
  const tpti_json *array = tpti_json_get(root, "a");
  ck_assert_uint_eq(tpti_json_count(array), 3);
  ck_assert_int_eq(tpti_json_kind_of(tpti_json_at(array, 2)), TPTI_JSON_OBJECT);
  ck_assert_ptr_null(tpti_json_at(array, 3));
  ck_assert_ptr_null(tpti_json_get(root, "absent"));
  ck_assert_str_eq(tpti_json_kind_name(array), "an array");
  tpti_json_free(NULL, root);
}
END_TEST

START_TEST(members_come_in_the_order_of_the_text) {
  const char text[] = "{\"z\":0,\"a\":1,\"m\":2,\"\":3}";
  static const char *const keys[] = {"z", "a", "m", ""};
  tpti_json *root;
  ck_assert_int_eq(parse(text, strlen(text), 5, &root), TPT_OK);
  int64_t seen = 0;
  for (void *at = NULL; (at = tpti_json_next(root, at)); seen++) {
    ck_assert_str_eq(tpti_json_member_key(at), keys[seen]);
    ck_assert_int_eq(tpti_json_integer(tpti_json_member_value(at)), seen);
  }
  ck_assert_int_eq(seen, 4);
  tpti_json_free(NULL, root);
}
END_TEST

START_TEST(what_is_absent_or_of_another_kind) {
  tpti_json *root;
  ck_assert_int_eq(parse("3", 1, 1, &root), TPT_OK);
  ck_assert_double_eq(tpti_json_real(root), 3);
  ck_assert_uint_eq(tpti_json_count(root), 0);
  ck_assert_ptr_null(tpti_json_string(root, NULL));
  ck_assert_ptr_null(tpti_json_get(root, "a"));
  ck_assert_ptr_null(tpti_json_at(root, 0));
  ck_assert_ptr_null(tpti_json_next(root, NULL));
  ck_assert_int_eq(tpti_json_kind_of(NULL), TPTI_JSON_NULL);
  ck_assert_str_eq(tpti_json_kind_name(NULL), "absent");
  ck_assert_ptr_null(tpti_json_get(NULL, "a"));
  ck_assert_int_eq(tpti_json_integer(NULL), 0);
  tpti_json_free(NULL, root);
  tpti_json_free(NULL, NULL);
}
END_TEST

static const struct {
  const char *text;
  size_t length;
} wrong[] = {
#define ROW(text)                                                                                  \
  { text, sizeof text - 1 }
    ROW(""),
    ROW(" "),
    ROW("{"),
    ROW("{\"a\":1,}"),
    ROW("[1 2]"),
    ROW("[01]"),
    ROW("[+1]"),
    ROW("[.5]"),
    ROW("[1.]"),
    ROW("[NaN]"),
    ROW("[1e999]"),
    ROW("[9223372036854775808]"),
    ROW("{} {}"),
    ROW("{}x"),
    ROW("{}\0"),
    ROW("\0{}"),
    ROW("\xef\xbb\xbf{}"),
    ROW("'a'"),
    ROW("[\"\xff\"]"),
    ROW("[\"\xed\xa0\x80\"]"),
    ROW("[\"\xc0\x80\"]"),
    ROW("[\"\\ud800\"]"),
    ROW("[\"a\nb\"]"),
    ROW("[\"\\x\"]"),
    ROW("[\"open"),
    ROW("[\"open\\"),
    ROW("]]]]"),
    ROW("{\"a\":1,\"a\":1}"),
    ROW("{\"a\":{\"b\":1,\"\\u0062\":2}}"),
    ROW("// c\n{}"),
};

START_TEST(wrong_text_is_refused) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tpti_json *root = (tpti_json *)&root;
    tpt_status status = parse(wrong[i].text, wrong[i].length, 100, &root);
    ck_assert_msg(status == TPT_E_FORMAT, "%s: %d", wrong[i].text, status);
    ck_assert_ptr_null(root);
    ck_assert_message("the text: line ");
  }
}
END_TEST

START_TEST(every_shorter_text_is_refused) {
  const char text[] = "{\"a\":[1,-2.5e3,\"\\u0041\\n\"],\"b\":{\"c\":null,\"d\":false}}";
  for (size_t length = 0; length + 1 < sizeof text; length++) {
    tpti_json *root;
    ck_assert_int_eq(parse(text, length, 100, &root), TPT_E_FORMAT);
  }
}
END_TEST

START_TEST(place_is_named) {
  tpti_json *root;
  ck_assert_int_eq(parse("{\n\"a\": 1,\n  x}", 14, 100, &root), TPT_E_FORMAT);
  ck_assert_message("line 3");
}
END_TEST

START_TEST(values_are_counted_exactly) {
  static const struct {
    const char *text;
    size_t values;
  } rows[] = {{"1", 1},
              {"[]", 1},
              {"[ ]", 1},
              {"[1,2]", 3},
              {"{\"a\":[{},[]],\"b,:[\\\"\":{\"c\":\"x,y\"}}", 6},
              {"[[[1],2],{\"a\":1}, \"]\"]", 8}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tpti_json *root;
    size_t length = strlen(rows[i].text), values = rows[i].values;
    ck_assert_msg(parse(rows[i].text, length, values, &root) == TPT_OK, "%s", rows[i].text);
    tpti_json_free(NULL, root);
    ck_assert_msg(parse(rows[i].text, length, values - 1, &root) == TPT_E_FORMAT, "%s",
                  rows[i].text);
    ck_assert_message("too many values");
  }
}
END_TEST

START_TEST(depth_is_bounded) {
  char text[400];
  for (size_t depth = 63; depth <= 66; depth++) {
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    tpti_json *root;
    tpt_status status = parse(text, 2 * depth, 1000, &root);
    ck_assert_int_eq(status, depth <= 64 ? TPT_OK : TPT_E_FORMAT);
    tpti_json_free(NULL, root);
  }
  ck_assert_message("nested");
}
END_TEST

START_TEST(written_strings_read_back) {
  char all[256], *to = all;
  for (char c = 0; c < 127; c++) *to++ = c;
  memcpy(to, "\x7f\xc3\xa9\xf0\x9f\x98\x80", 7);
  size_t length = (size_t)(to - all) + 7;
  tpti_buffer out;
  tpti_buffer_init(&out, &tpti_memory_default);
  ck_assert(tpti_json_write_string(&out, all, length));
  tpti_json *root;
  ck_assert_int_eq(parse(out.data, out.used, 1, &root), TPT_OK);
  size_t got = 0;
  const char *back = tpti_json_string(root, &got);
  ck_assert_uint_eq(got, length);
  ck_assert_mem_eq(back, all, length);
  tpti_json_free(NULL, root);
  out.used = 0;
  ck_assert(tpti_json_write_string(&out, "a\"\\\n\x01", 5));
  ck_assert_uint_eq(out.used, 15);
  ck_assert_mem_eq(out.data, "\"a\\\"\\\\\\n\\u0001\"", 15);
  tpti_buffer_free(&out);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {reads_all_kinds,
                                members_come_in_the_order_of_the_text,
                                what_is_absent_or_of_another_kind,
                                wrong_text_is_refused,
                                every_shorter_text_is_refused,
                                place_is_named,
                                values_are_counted_exactly,
                                depth_is_bounded,
                                written_strings_read_back};
  return tpti_test_main(suite_of("json", tests, sizeof tests / sizeof *tests));
}
