/* What files look like by their first bytes, and what is said of it. */
#include "io/looks.h"

#include "io/files.h"
#include "support/runner.h"

#define BYTES(text) (text), sizeof(text) - 1

START_TEST(kinds_are_told_apart) {
  static const struct {
    const char *bytes;
    size_t size;
    const char *name;
  } rows[] = {
      {BYTES(""), "an empty file"},
      {BYTES("\x02\0\0\0\0\0\0\0{}"), "a safetensors file"},
      {BYTES("\x02\0\0\0\0\0\0\0 {}"), "a safetensors file"},
      {BYTES("\x02\0\0\0\0\0\0\1{}"), "binary data"},
      {BYTES("\x02\0\0\0\0\0\0\0"), "binary data"},
      {BYTES("{\"version\": \"1.0\", \"added_tokens\": []}"), "a tokenizer.json"},
      {BYTES("\xef\xbb\xbf { \"a\": 1}"), "JSON"},
      {BYTES("[[1]]"), "JSON"},
      {BYTES("{}"), "JSON"},
      {BYTES("[1] A footnote."), "text"},
      {BYTES("{a: 1}"), "text"},
      {BYTES("{model: {n_phases: 3}}"), "a description (YAML)"},
      {BYTES("# mine\n\nmodel:\n  n_phases: 3\n"), "a description (YAML)"},
      {BYTES("# no model:\nlr: 3\ntrain:\n"), "a description (YAML)"},
      {BYTES("The model: it is small.\nmode"), "text"},
      {BYTES("caf\xc3\xa9\n"), "text"},
      {BYTES("caf\xc3"), "text"}, /* the window ends inside a character */
      {BYTES("caf\xe9 au lait"), "text that is not UTF-8"},
      {BYTES("\x1b[1mbold\x1b[0m\r\n"), "text"},
      {BYTES("a\0b\0"), "binary data"},
      {BYTES("PK\3\4\24\0"), "a ZIP archive, as PyTorch saves models"},
      {BYTES("GGUF\3\0\0\0"), "a GGUF model"},
      {BYTES("\x93NUMPY\1\0"), "a NumPy array"},
      {BYTES("\xff\xfeT\0"), "UTF-16 text"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_str_eq(tpti_looks_like(rows[i].bytes, rows[i].size), rows[i].name);
}
END_TEST

/* Each kind at every shorter size, at the end of a block of its own: nothing behind is read. */
START_TEST(no_byte_behind_is_read) {
  static const char *const texts[] = {"{\"added_tokens\"", "model:", "{train:", "\n\nmodel:",
                                      "\xef\xbb\xbf{ \"",  "PK\3\4", "GGUF",    "  [ {"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (size_t size = 1; size <= strlen(texts[i]); size++) {
      char *copy = malloc(size);
      memcpy(copy, texts[i], size);
      ck_assert_ptr_nonnull(tpti_looks_like(copy, size));
      free(copy);
    }
}
END_TEST

START_TEST(only_another_kind_is_said) {
  static const struct {
    tpti_want wanted;
    const char *bytes, *message;
  } rows[] = {
      {TPTI_WANT_DESCRIPTION, "lr: 3\n", "bad"},
      {TPTI_WANT_DESCRIPTION, "{\"train\": {}}", "bad"},
      {TPTI_WANT_DESCRIPTION, "{\"added_tokens\": []}",
       "bad; a description (YAML) is wanted, this looks like a tokenizer.json"},
      {TPTI_WANT_TOKENIZER, "{\"a\": 1}", "bad"},
      {TPTI_WANT_TOKENIZER, "Once", "bad; a tokenizer.json is wanted, this looks like text"},
      {TPTI_WANT_TOKENIZER, "", "bad; a tokenizer.json is wanted, this looks like an empty file"},
      {TPTI_WANT_SAFETENSORS, "train:\n",
       "bad; a safetensors file is wanted, this looks like a description (YAML)"},
      {TPTI_WANT_TOKENS, "\1\2", "bad"},
      {TPTI_WANT_TOKENS, "Once", "bad; a token file is wanted, this looks like text"},
      {TPTI_WANT_TEXT, "\1\2", "bad"},
      {TPTI_WANT_TEXT, "GGUF", "bad; text is wanted, this looks like a GGUF model"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tpti_fail(TPT_E_IO, "bad");
    tpt_status status =
        tpti_fail_looks(TPT_E_FORMAT, rows[i].wanted, rows[i].bytes, strlen(rows[i].bytes));
    ck_assert_int_eq(status, TPT_E_FORMAT);
    ck_assert_str_eq(tpti_error_text(), rows[i].message);
  }
}
END_TEST

/* Bytes behind the window change nothing, and a character that it cuts is no fault. */
START_TEST(only_the_beginning_is_looked_at) {
  static char text[TPTI_LOOK_BYTES + 8];
  memset(text, 'a', sizeof text);
  memcpy(text + TPTI_LOOK_BYTES - 1, "\xc3\xa9", 2);
  text[TPTI_LOOK_BYTES + 2] = '\1';
  ck_assert_str_eq(tpti_looks_like(text, sizeof text), "text");
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("io/looks");
  TCase *c = tcase_create("looks");
  tcase_add_test(c, kinds_are_told_apart);
  tcase_add_test(c, no_byte_behind_is_read);
  tcase_add_test(c, only_another_kind_is_said);
  tcase_add_test(c, only_the_beginning_is_looked_at);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
