/* What the messages of readers say: what was wrong, what was given in its place, and the source. */
#include <3pt/3pt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/runner.h"

#define ck_assert_message(part)                                                                    \
  ck_assert_msg(strstr(tpt_error_message(), part) != NULL, "message \"%s\" lacks \"%s\"",          \
                tpt_error_message(), part)

#define BYTES(text) (text), sizeof(text) - 1

static void put_file(char path[64], const char *bytes, size_t size) {
  strcpy(path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
  close(file);
}

/* What was wrong, what it looks like, and last the file, or that it was a text. */
START_TEST(messages_end_with_the_source) {
  static const struct {
    const char *bytes;
    size_t size;
    const char *wrong, *looks;
  } rows[] = {
      {BYTES("[]"), "the outermost value: an object is wanted, not an array",
       "; a tokenizer.json is wanted, this looks like text: "},
      {BYTES("{\"x\":1,\"model\":{}}"),
       "the outermost value: \"x\" is not known; known: version truncation padding added_tokens "
       "normalizer pre_tokenizer post_processor decoder model",
       " model: "},
      {BYTES("{\"version\":1,\"model\":{}}"), "version: a string is wanted, not an integer",
       "an integer: "},
      {BYTES("{\"a\"\n:"),
       "line 2, column 2: not JSON as it must be: a value is wanted, not the end of the text",
       ": "},
      {BYTES("Once\n"), "line 1, column 1: not JSON as it must be: a value is wanted, not Once",
       "; a tokenizer.json is wanted, this looks like text: "},
      {BYTES("\2\0\0\0\0\0\0\0{}\xff"), "byte 10 is not UTF-8",
       "; a tokenizer.json is wanted, this looks like a safetensors file: "},
      {BYTES(""), "not JSON", "; a tokenizer.json is wanted, this looks like an empty file: "},
  };
  tpt_tokenizer *none;
  char path[64], end[600];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *sources[] = {path, "the text given"};
    put_file(path, rows[i].bytes, rows[i].size);
    for (size_t s = 0; s < 2; s++) {
      tpt_status status = s ? tpt_tokenizer_parse(NULL, rows[i].bytes, rows[i].size, &none)
                            : tpt_tokenizer_load(NULL, path, &none);
      ck_assert_int_ne(status, TPT_OK);
      const char *message = tpt_error_message();
      ck_assert_msg(strncmp(message, rows[i].wrong, strlen(rows[i].wrong)) == 0 || !rows[i].size,
                    "\"%s\" does not begin with \"%s\"", message, rows[i].wrong);
      snprintf(end, sizeof end, "%s%s", rows[i].looks, sources[s]);
      ck_assert_uint_gt(strlen(message), strlen(end));
      ck_assert_str_eq(message + strlen(message) - strlen(end), end);
    }
    remove(path);
  }
}
END_TEST

START_TEST(ids_are_below_the_vocabulary_size) {
  tpt_tokenizer *t;
  char text[8];
  size_t length;
  const int32_t ids[] = {1, 256};
  ck_assert_int_eq(tpt_tokenizer_bytes(NULL, &t), TPT_OK);
  ck_assert_int_eq(tpt_tokenizer_decode(t, ids, 2, text, 8, &length), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "ids[1] is 256; ids from 0 to below the tokenizer's "
                                        "vocabulary size (256) are allowed");
  ck_assert_int_eq(tpt_tokenizer_token(t, -1, text, 8, &length), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "id is -1; ids from 0 to below the tokenizer's "
                                        "vocabulary size (256) are allowed");
  tpt_tokenizer_destroy(t);
}
END_TEST

/* A token file, a description and PyTorch's own format in place of a model. */
START_TEST(models_of_another_kind) {
  static const struct {
    const char *bytes;
    size_t size;
    const char *message;
  } rows[] = {
      {BYTES("\1\0\2\0\3\0\4\0\5\0"), "this looks like binary data: "},
      {BYTES("train:\n  lr: 1\n"), "this looks like a description (YAML): "},
      {BYTES("PK\3\4\24\0\0\0\10\0"), "this looks like a ZIP archive, as PyTorch saves models: "},
      {BYTES("{\"version\":1,\"added_tokens\":[]}"), "this looks like a tokenizer.json: "},
  };
  tpt_model *none;
  char path[64];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    put_file(path, rows[i].bytes, rows[i].size);
    ck_assert_int_eq(tpt_model_load(NULL, path, NULL, &none), TPT_E_FORMAT);
    ck_assert_message("; a safetensors file is wanted, ");
    ck_assert_message(rows[i].message);
    ck_assert_message(path);
    remove(path);
    ck_assert_int_eq(tpt_model_load_memory(NULL, rows[i].bytes, rows[i].size, NULL, &none),
                     TPT_E_FORMAT);
    ck_assert_message(rows[i].message);
    ck_assert_message(": the data in memory");
  }
}
END_TEST

START_TEST(text_to_train_on) {
  tpt_tokenizer *none;
  const char model[] = "\2\0\0\0\0\0\0\0{}\xff", text[] = "caf\xe9";
  ck_assert_int_eq(tpt_tokenizer_bpe(NULL, model, sizeof model - 1, 300, &none), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(),
                   "text is not UTF-8 at byte 10 (0xff) of 11; text is wanted, "
                   "this looks like a safetensors file");
  ck_assert_int_eq(tpt_tokenizer_bpe(NULL, text, sizeof text - 1, 300, &none), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "text is not UTF-8 at byte 3 (0xe9) of 4");
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("api/messages");
  TCase *c = tcase_create("messages");
  tcase_add_test(c, messages_end_with_the_source);
  tcase_add_test(c, ids_are_below_the_vocabulary_size);
  tcase_add_test(c, models_of_another_kind);
  tcase_add_test(c, text_to_train_on);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
