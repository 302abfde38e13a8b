/* JSON, strict and bounded. */
#include "io/json.h"

#include <check.h>
#include <jansson.h>
#include <stdatomic.h>
#include <string.h>

#include "base/random.h"
#include "io/files.h"
#include "support/allocator.h"
#include "support/runner.h"

static tpt_status parse(const char *text, size_t length, size_t most, tpti_json **root) {
  const tpti_json_source source = {
      .text = text, .length = length, .max_values = most, .what = "the text"};
  return tpti_json_parse(&tpti_memory_default, NULL, &source, root);
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
  const tpti_json *second = tpti_json_after(tpti_json_first(array));
  ck_assert_int_eq(tpti_json_kind_of(second), TPTI_JSON_ARRAY);
  ck_assert_ptr_null(tpti_json_key(second));
  ck_assert_ptr_null(tpti_json_first(second));
  ck_assert_int_eq(tpti_json_kind_of(tpti_json_after(second)), TPTI_JSON_OBJECT);
  ck_assert_ptr_null(tpti_json_after(tpti_json_after(second)));
  ck_assert_ptr_null(tpti_json_get(root, "absent"));
  ck_assert_str_eq(tpti_json_kind_name(array), "an array");
  tpti_json_free(root);
}
END_TEST

START_TEST(members_come_in_the_order_of_the_text) {
  const char text[] = "{\"z\":0,\"a\":1,\"m\":2,\"\":3}";
  static const char *const keys[] = {"z", "a", "m", ""};
  tpti_json *root;
  ck_assert_int_eq(parse(text, strlen(text), 5, &root), TPT_OK);
  int64_t seen = 0;
  for (const tpti_json *m = tpti_json_first(root); m; m = tpti_json_after(m), seen++) {
    ck_assert_str_eq(tpti_json_key(m), keys[seen]);
    ck_assert_int_eq(tpti_json_integer(m), seen);
  }
  ck_assert_int_eq(seen, 4);
  tpti_json_free(root);
}
END_TEST

START_TEST(what_is_absent_or_of_another_kind) {
  tpti_json *root;
  ck_assert_int_eq(parse("3", 1, 1, &root), TPT_OK);
  ck_assert_double_eq(tpti_json_real(root), 3);
  ck_assert_uint_eq(tpti_json_count(root), 0);
  ck_assert_ptr_null(tpti_json_string(root, NULL));
  ck_assert_ptr_null(tpti_json_get(root, "a"));
  ck_assert_ptr_null(tpti_json_first(root));
  ck_assert(!tpti_json_bool(root));
  ck_assert_int_eq(tpti_json_kind_of(NULL), TPTI_JSON_NULL);
  ck_assert_str_eq(tpti_json_kind_name(NULL), "absent");
  ck_assert_ptr_null(tpti_json_get(NULL, "a"));
  ck_assert_int_eq(tpti_json_integer(NULL), 0);
  tpti_json_free(root);
  tpti_json_free(NULL);
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
    ROW("[\"\\u00g0\"]"),
    ROW("[\"\\ud800\\u0041\"]"),
    ROW("[\"\\ud800\\ud800\"]"),
    ROW("[\"\\udc00\"]"),
    ROW("[\"\x7f\x1f\"]"),
    ROW("[-]"),
    ROW("[1e]"),
    ROW("[1e+]"),
    ROW("[tru]"),
    ROW("[nulll]"),
    ROW("[}"),
    ROW("{]"),
    ROW("{1:2}"),
    ROW("{\"a\\u0000\":1}"),
    ROW("[-9223372036854775809]"),
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
    tpti_json_free(root);
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
    tpti_json_free(root);
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
  tpti_json_free(root);
  out.used = 0;
  ck_assert(tpti_json_write_string(&out, "a\"\\\n\x01", 5));
  ck_assert_uint_eq(out.used, 15);
  ck_assert_mem_eq(out.data, "\"a\\\"\\\\\\n\\u0001\"", 15);
  tpti_buffer_free(&out);
}
END_TEST

/* ---- keys ---- */

/* An object of `count` keys, the last of which is `last`; NULL: one of its own. */
static void many_keys(tpti_buffer *out, size_t count, const char *last) {
  out->used = 0;
  for (size_t i = 0; i < count; i++) {
    tpti_buffer_append(out, i ? "," : "{", 1);
    if (i + 1 == count && last)
      tpti_buffer_printf(out, "\"%s\":%zu", last, i);
    else
      tpti_buffer_printf(out, "\"k%zu\":%zu", i, i);
  }
  tpti_buffer_append(out, "}", 1);
}

START_TEST(no_key_stands_twice) {
  tpti_buffer text;
  tpti_json *root;
  tpti_buffer_init(&text, &tpti_memory_default);
  for (size_t count = 2; count < 5000; count = count < 20 ? count + 1 : count * 3) {
    many_keys(&text, count, NULL);
    ck_assert_int_eq(parse(text.data, text.used, 10000, &root), TPT_OK);
    ck_assert_int_eq(tpti_json_integer(tpti_json_get(root, "k1")), 1);
    ck_assert_uint_eq(tpti_json_count(root), count);
    tpti_json_free(root);
    for (int first = 0; first < 2; first++) {
      char last[32];
      snprintf(last, sizeof last, "k%zu", first ? 0 : count - 2);
      many_keys(&text, count, last);
      ck_assert_int_eq(parse(text.data, text.used, 10000, &root), TPT_E_FORMAT);
      ck_assert_message("duplicate key");
      ck_assert_message(last);
    }
  }
  tpti_buffer_free(&text);
}
END_TEST

/* ---- memory and time ---- */

START_TEST(every_refusal_of_memory_is_told) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  many_keys(&text, 100, NULL);
  const tpti_json_source source = {.text = text.data, .length = text.used, .max_values = 1000};
  size_t n = 1;
  for (tpt_status status = TPT_E_MEMORY; status; n++) {
    tpti_json *root = NULL;
    tpti_test_allocator_fail_at(&a, n);
    status = tpti_json_parse(&a.memory, NULL, &source, &root);
    ck_assert(status == TPT_OK || status == TPT_E_MEMORY);
    ck_assert(!status == (root != NULL));
    tpti_json_free(root);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
  ck_assert_uint_gt(n, 2);
  tpti_buffer_free(&text);
}
END_TEST

START_TEST(a_stopped_run_ends_the_reading) {
  atomic_int stop = 1;
  tpti_run run = {.cancel = &stop};
  tpti_json *root;
  char text[100000] = "[\"";
  memset(text + 2, 'a', sizeof text - 4);
  memcpy(text + sizeof text - 2, "\"]", 2);
  const tpti_json_source source = {.text = text, .length = sizeof text, .max_values = 10};
  ck_assert_int_eq(tpti_json_parse(&tpti_memory_default, &run, &source, &root), TPT_E_CANCELLED);
  ck_assert_ptr_null(root);
}
END_TEST

/* Longer than a piece, which may end inside of a character. */
START_TEST(long_strings) {
  for (size_t shift = 0; shift < 4; shift++) {
    char text[140000] = "\"   ";
    size_t length = 1 + shift;
    while (length < sizeof text - 8)
      length += (size_t)snprintf(text + length, 5, "\xf0\x9f\x98\x80");
    text[length++] = '"';
    tpti_json *root;
    size_t got = 0;
    ck_assert_int_eq(parse(text, length, 1, &root), TPT_OK);
    ck_assert_mem_eq(tpti_json_string(root, &got), text + 1, length - 2);
    ck_assert_uint_eq(got, length - 2);
    tpti_json_free(root);
    text[length - 2] = 'a'; /* the last character is cut short */
    ck_assert_int_eq(parse(text, length, 1, &root), TPT_E_FORMAT);
    ck_assert_message("UTF-8");
  }
}
END_TEST

/* ---- a second opinion ---- */

static bool alike(const tpti_json *ours, const json_t *other);

static bool members_alike(const tpti_json *ours, const json_t *other) {
  void *at = json_object_iter((json_t *)(uintptr_t)other);
  size_t index = 0;
  for (const tpti_json *m = tpti_json_first(ours); m; m = tpti_json_after(m)) {
    const json_t *value = json_array_get(other, index++);
    if (json_is_object(other)) {
      if (!at || strcmp(json_object_iter_key(at), tpti_json_key(m)) != 0) return false;
      value = json_object_iter_value(at);
      at = json_object_iter_next((json_t *)(uintptr_t)other, at);
    }
    if (!value || !alike(m, value)) return false;
  }
  return !at && tpti_json_count(ours) == json_array_size(other) + json_object_size(other);
}

static bool alike(const tpti_json *ours, const json_t *other) {
  size_t length;
  const char *text;
  double real;
  switch (tpti_json_kind_of(ours)) {
  case TPTI_JSON_NULL:
    return json_is_null(other);
  case TPTI_JSON_BOOL:
    return json_is_boolean(other) && tpti_json_bool(ours) == json_is_true(other);
  case TPTI_JSON_INTEGER:
    return json_is_integer(other) && tpti_json_integer(ours) == json_integer_value(other);
  case TPTI_JSON_REAL:
    real = json_real_value(other);
    return json_is_real(other) && tpti_json_real(ours) == real;
  case TPTI_JSON_STRING:
    text = tpti_json_string(ours, &length);
    return json_is_string(other) && length == json_string_length(other) &&
           memcmp(text, json_string_value(other), length + 1) == 0;
  case TPTI_JSON_ARRAY:
    return json_is_array(other) && members_alike(ours, other);
  case TPTI_JSON_OBJECT:
    return json_is_object(other) && members_alike(ours, other);
  }
  return false;
}

/* Bytes of it are replaced, taken out or doubled. */
static size_t mutate(uint64_t *state, char *text, size_t length, size_t room) {
  static const char pieces[] = "[]{}\",:\\/unbtfrae0123456789.-+eE \t\n\x80\xc3\xa9\xed\xf0\x1f";
  for (uint64_t i = tpti_random_below(state, 4); i > 0 && length > 0; i--) {
    size_t at = (size_t)tpti_random_below(state, length);
    char c = pieces[tpti_random_below(state, sizeof pieces)];
    switch (tpti_random_below(state, 3)) {
    case 0:
      text[at] = c;
      break;
    case 1:
      memmove(text + at, text + at + 1, --length - at);
      break;
    default:
      if (length == room) break;
      memmove(text + at + 1, text + at, length++ - at);
      text[at] = tpti_random_below(state, 2) ? c : text[at];
    }
  }
  return length;
}

START_TEST(jansson_reads_the_same) {
  static const char *const seeds[] = {
      "{\"a\":[1,-2.5e3,\"\\u0041\\n\"],\"b\":{\"c\":null,\"d\":false,\"a\":true}}",
      "[\"\\ud83d\\ude00 \xc3\xa9\\u00e9\",0,-0,0.0,1E+2,[[],{}],\"\\\"\\/\\b\"]",
      " {\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":7,\"k8\":8,\"k9\":9} ",
      "[9223372036854775807,-9223372036854775808,1e308,true,\"\\u0000\"]"};
  uint64_t state = 7;
  size_t accepted = 0, rounds = 40000;
  for (size_t i = 0; i < rounds; i++) {
    char text[128];
    const char *seed = seeds[i % 4];
    size_t length = mutate(&state, memcpy(text, seed, strlen(seed)), strlen(seed), sizeof text);
    tpti_json *root;
    tpt_status status = parse(text, length, 1000, &root);
    json_t *other =
        json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    /* jansson passes over a NUL behind a number. */
    bool accepts = other && !memchr(text, '\0', length);
    ck_assert_msg(!status == accepts, "%.*s: %d", (int)length, text, status);
    ck_assert_msg(status || alike(root, other), "%.*s", (int)length, text);
    accepted += !status;
    json_decref(other);
    tpti_json_free(root);
  }
  ck_assert(accepted > rounds / 10 && accepted < rounds - rounds / 10);
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
                                written_strings_read_back,
                                no_key_stands_twice,
                                every_refusal_of_memory_is_told,
                                a_stopped_run_ends_the_reading,
                                long_strings,
                                jansson_reads_the_same};
  return tpti_test_main(suite_of("json", tests, sizeof tests / sizeof *tests));
}
