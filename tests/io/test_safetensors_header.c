/* What the header of a safetensors file may say: every rule of docs/safetensors.md. */
#include "io/safetensors_header.h"

#include <stdio.h>

#include "base/error.h"
#include "io/image.h"
#include "support/runner.h"

typedef struct header_row {
  const char *header;
  size_t data;
  const char *reason; /* part of the message; NULL: accepted */
} header_row;

#define A(dtype, shape, offsets)                                                                   \
  "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define ENTRY(name, offsets)                                                                       \
  "\"" name "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" offsets "}"
#define PAIR(first, second) "{" ENTRY("a", first) "," ENTRY("b", second) "}"

static const header_row frames[] = {
    {"{}", 0, NULL},
    {" {}", 0, NULL},
    {"\n\t{}", 0, NULL},
    {"{}   ", 0, NULL},
    {"{} \r\n\t", 0, NULL},
    {"", 0, "header"},
    {"[]", 0, "an array"},
    {"null", 0, "null"},
    {"\"a\"", 0, "a string"},
    {"7", 0, "an integer"},
    {"\xef\xbb\xbf{}", 0, "line 1"},
    {"{}x", 0, "line 1"},
    {"{}{}", 0, "line 1"},
    {"{\"a\":", 0, "line 1"},
    {"{}", 4, "4 too many"},
    {"{\"\xff\":1}", 0, "line 1"},
};

static const header_row metadata[] = {
    {"{\"__metadata__\":{}}", 0, NULL},
    {"{\"__metadata__\":{\"a\":\"b\",\"\":\"\"}}", 0, NULL},
    {"{\"__metadata__\":{\"a\":1}}", 0, "\"a\" is an integer"},
    {"{\"__metadata__\":{\"a\":{}}}", 0, "\"a\" is an object"},
    {"{\"__metadata__\":{\"a\":null}}", 0, "\"a\" is null"},
    {"{\"__metadata__\":{\"a\":\"x\\u0000y\"}}", 0, "NUL"},
    {"{\"__metadata__\":[]}", 0, "an array"},
    {"{\"__metadata__\":3}", 0, "an integer"},
    {"{\"__metadata__\":null}", 0, "null"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "duplicate"},
    {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"b\"}}", 0, "duplicate"},
};

static const header_row fields[] = {
    {A("U8", "[4]", "[0,4]"), 4, NULL},
    {A("F32", "[]", "[0,4]"), 4, NULL},
    {A("F32", "[0]", "[0,0]"), 0, NULL},
    {A("F32", "[3,0,5]", "[0,0]"), 0, NULL},
    {A("F32", "[1,1,1,1,1,1,1,1]", "[0,4]"), 4, NULL},
    {A("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "\"shape\" has 9"},
    {"{\"a\":[]}", 0, "tensor \"a\": is an array"},
    {"{\"a\":null}", 0, "tensor \"a\": is null"},
    {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,4]}}", 4, "\"shape\" is missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "\"data_offsets\" is missing"},
    {"{\"a\":{\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "\"dtype\" is missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"x\":1}}", 4,
     "unknown field \"x\""},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
     "duplicate"},
    {"{\"a\":{\"dtype\":7,\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "\"dtype\" is an integer"},
    {A("u8", "[4]", "[0,4]"), 4, "\"u8\" is unknown"},
    {A("f32", "[1]", "[0,4]"), 4, "\"f32\" is unknown"},
    {A("", "[4]", "[0,4]"), 4, "is unknown"},
    {A("F32\\u0000", "[1]", "[0,4]"), 4, "is unknown"},
    {A("U8", "4", "[0,4]"), 4, "\"shape\" is an integer"},
    {A("U8", "[4.0]", "[0,4]"), 4, "\"shape\", place 0 is a number with a fraction"},
    {A("U8", "[4e0]", "[0,4]"), 4, "place 0"},
    {A("U8", "[-4]", "[0,4]"), 4, "negative"},
    {A("U8", "[\"4\"]", "[0,4]"), 4, "place 0 is a string"},
    {A("U8", "[[4]]", "[0,4]"), 4, "place 0 is an array"},
    {A("U8", "[-0]", "[0,0]"), 0, "negative"},
    {A("U8", "[4]", "[0]"), 4, "\"data_offsets\" has 1"},
    {A("U8", "[4]", "[0,4,4]"), 4, "\"data_offsets\" has 3"},
    {A("U8", "[4]", "{}"), 4, "\"data_offsets\" is an object"},
    {A("U8", "[4]", "[0.0,4]"), 4, "place 0"},
    {A("U8", "[4]", "[-4,0]"), 4, "negative"},
    {A("U8", "[4]", "[0,true]"), 4, "place 1 is true or false"},
};

static const header_row places[] = {
    {PAIR("[0,4]", "[4,8]"), 8, NULL},
    {PAIR("[4,8]", "[0,4]"), 8, NULL},
    {PAIR("[0,4]", "[4,8]"), 9, "1 too many"},
    {PAIR("[0,4]", "[4,8]"), 7, "1 too few"},
    {PAIR("[0,4]", "[5,9]"), 9, "hole"},
    {PAIR("[0,4]", "[3,7]"), 7, "overlap"},
    {PAIR("[0,4]", "[0,4]"), 4, "overlap"},
    {PAIR("[1,5]", "[5,9]"), 9, "hole"},
    {"{" ENTRY("a", "[0,4]") "," ENTRY("a", "[0,4]") "}", 4, "duplicate"},
    {"{" ENTRY("a", "[0,4]") "," ENTRY("a", "[4,8]") "}", 8, "duplicate"},
    {"{" ENTRY("a", "[0,4]") ",\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "duplicate"},
    {"{" ENTRY("a", "[0,4]") ",\"z\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}", 4,
     NULL},
    {"{" ENTRY("a", "[0,4]") ",\"z\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[2,2]}}", 4,
     "overlap"},
    {A("U8", "[4]", "[4,0]"), 4, "before their begin"},
    {A("U8", "[5]", "[0,4]"), 4, "need 5"},
    {A("F32", "[4]", "[0,4]"), 4, "need 16"},
    {A("F32", "[]", "[0,0]"), 0, "need 4"},
    {A("U8", "[9223372036854775807]", "[0,9223372036854775807]"), 4, "64 bits"},
    {A("F32", "[4294967296,4294967296]", "[0,0]"), 0, "64 bits"},
    {A("F32", "[2,18446744073709551614]", "[0,0]"), 0, "line 1"},
    {A("F32", "[2,9223372036854775807]", "[0,0]"), 0, "64 bits"},
    {A("U8", "[18446744073709551615,2,0]", "[0,0]"), 0, "line 1"},
    {A("U8", "[9223372036854775807,4,0]", "[0,0]"), 0, "64 bits"},
    {A("U8", "[0,9223372036854775807,4]", "[0,0]"), 0, NULL},
    {A("F4", "[3]", "[0,1]"), 1, "whole number"},
    {A("F4", "[4]", "[0,2]"), 2, NULL},
    {A("F6_E2M3", "[4]", "[0,3]"), 3, NULL},
    {A("F6_E3M2", "[2]", "[0,1]"), 1, "whole number"},
};

static void check_rows(const header_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    image from = make_image(rows[i].header, strlen(rows[i].header), rows[i].data);
    tpt_status status = try_image(&from), want = rows[i].reason ? TPT_E_FORMAT : TPT_OK;
    ck_assert_msg(status == want, "%s: %d %s", rows[i].header, status, tpti_error_text());
    if (rows[i].reason) {
      ck_assert_msg(strstr(tpti_error_text(), rows[i].reason) != NULL, "%s: %s", rows[i].header,
                    tpti_error_text());
      ck_assert_ptr_nonnull(strstr(tpti_error_text(), "the data in memory"));
    }
    free(from.bytes);
  }
}

START_TEST(frame_rules) { check_rows(frames, sizeof frames / sizeof *frames); }
END_TEST

START_TEST(metadata_rules) { check_rows(metadata, sizeof metadata / sizeof *metadata); }
END_TEST

START_TEST(field_rules) { check_rows(fields, sizeof fields / sizeof *fields); }
END_TEST

START_TEST(place_rules) { check_rows(places, sizeof places / sizeof *places); }
END_TEST

START_TEST(nul_padding_and_deep_nesting_are_refused) {
  image padded = make_image("{}\0\0", 4, 0);
  ck_assert_int_eq(try_image(&padded), TPT_E_FORMAT);
  free(padded.bytes);
  char deep[420] = "{\"a\":";
  size_t length = strlen(deep);
  memset(deep + length, '[', 200);
  memset(deep + length + 200, ']', 200);
  deep[length + 400] = '}';
  image nested = make_image(deep, length + 401, 0);
  ck_assert_int_eq(try_image(&nested), TPT_E_FORMAT);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "nested"));
  free(nested.bytes);
}
END_TEST

START_TEST(every_dtype_has_its_size) {
  static const struct {
    const char *name;
    int bits;
  } rows[] = {{"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
              {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
              {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
              {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
              {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
              {"I64", 64},    {"U64", 64}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char header[200];
    int length =
        snprintf(header, sizeof header, A("%s", "[8]", "[0,%d]"), rows[i].name, rows[i].bits);
    image from = make_image(header, (size_t)length, (size_t)rows[i].bits);
    ck_assert_msg(try_image(&from) == TPT_OK, "%s: %s", rows[i].name, tpti_error_text());
    free(from.bytes);
  }
}
END_TEST

/* Whole characters, and room for what matters, however long a path and a name are. */
START_TEST(long_names_are_shortened_in_messages) {
  char path[3001], header[4000], name[2001];
  for (size_t i = 0; i < 3000; i += 2) memcpy(path + i, "\xc3\xa9", 3);
  for (size_t i = 0; i < 2000; i += 2) memcpy(name + i, "\xc3\xa4", 3);
  int length = snprintf(header, sizeof header,
                        "{\"x%s\":{\"dtype\":\"F3\",\"shape\":[],\"data_offsets\":[0,0]}}", name);
  image from = make_image(header, (size_t)length, 0);
  tpti_source source = {NULL, path, from.bytes, from.size};
  tpti_safetensors *tensors;
  ck_assert_int_eq(tpti_safetensors_open(&source, &tpti_memory_default, 5, &tensors), TPT_E_FORMAT);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "dtype \"F3\" is unknown"));
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "\xc3\xa4...\""));
  ck_assert_ptr_null(strchr(tpti_error_text(), '?'));
  free(from.bytes);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("safetensors header");
  TCase *group = tcase_create("header");
  tcase_add_test(group, frame_rules);
  tcase_add_test(group, metadata_rules);
  tcase_add_test(group, field_rules);
  tcase_add_test(group, place_rules);
  tcase_add_test(group, nul_padding_and_deep_nesting_are_refused);
  tcase_add_test(group, every_dtype_has_its_size);
  tcase_add_test(group, long_names_are_shortened_in_messages);
  suite_add_tcase(suite, group);
  return tpti_test_main(suite);
}
