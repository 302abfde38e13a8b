/* The subset of YAML: what is visited, and what is refused before it can do harm. */
#include "io/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/runner.h"

/* Writes what is visited as one line of text a value. */
static tpt_status note(void *user, const tpti_yaml_node *node) {
  tpti_buffer *notes = user;
  static const char *const kinds[] = {"", "list", "mapping"};
  tpti_buffer_printf(notes, "%zu %s%s%s", node->line, node->key, node->plain ? "" : " quoted",
                     node->kind ? " " : "");
  tpti_buffer_printf(notes, "%s", kinds[node->kind]);
  for (size_t i = 0; i < node->count; i++) tpti_buffer_printf(notes, " <%s>", node->items[i]);
  tpti_buffer_append(notes, "\n", 1);
  return TPT_OK;
}

static void visits(const char *yaml, const char *expected) {
  tpti_buffer notes;
  tpti_buffer_init(&notes, &tpti_memory_default);
  tpt_status status = tpti_yaml_walk(yaml, strlen(yaml), note, &notes);
  ck_assert_msg(status == TPT_OK, "%s: %s", yaml, tpti_error_text());
  tpti_buffer_append(&notes, "", 1);
  ck_assert_str_eq(notes.data, expected);
  tpti_buffer_free(&notes);
}

static tpt_status walk(const char *yaml, size_t length) {
  tpti_buffer notes;
  tpti_buffer_init(&notes, &tpti_memory_default);
  tpt_status status = tpti_yaml_walk(yaml, length, note, &notes);
  tpti_buffer_free(&notes);
  return status;
}

static void refuses(const char *yaml, const char *fragment) {
  ck_assert_msg(walk(yaml, strlen(yaml)) == TPT_E_CONFIG, "accepted: %s", yaml);
  ck_assert_msg(strstr(tpti_error_text(), fragment), "%s: %s", yaml, tpti_error_text());
}

/* `unit` over and over, at least `size` bytes of it, is refused at once. */
static void refuses_repeated(const char *unit, size_t size, const char *fragment) {
  size_t step = strlen(unit), times = size / step + 1;
  char *text = malloc(times * step + 1);
  ck_assert_ptr_nonnull(text);
  for (size_t i = 0; i < times; i++) memcpy(text + i * step, unit, step + 1);
  refuses(text, fragment);
  free(text);
}

START_TEST(values_come_with_path_line_and_quotes) {
  visits("a:\n  b: 1\n  c: [x, 'y']\nd: \"z\"\n",
         "1 a mapping\n2 a.b <1>\n3 a.c quoted list <x> <y>\n4 d quoted <z>\n");
  visits("{a: {b: {c: [1, 2]}}}", "1 a mapping\n1 a.b mapping\n1 a.b.c list <1> <2>\n");
  visits("a:\n- 1\n- 2\nb: []\n", "1 a list <1> <2>\n4 b list\n");
  visits("a: |\n  text\n", "1 a quoted <text\n>\n");
}
END_TEST

START_TEST(nothing_is_a_text_without_values) {
  const char *const texts[] = {"",           "\n\n", "# only this\n", "---\n",
                               "---\n...\n", "{}",   "\xef\xbb\xbf"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) visits(texts[i], "");
  visits("\xef\xbb\xbf"
         "a: 1\r\nb: 2\r\n",
         "1 a <1>\n2 b <2>\n");
}
END_TEST

START_TEST(what_is_no_mapping_of_words_is_refused) {
  refuses("3", "line 1: keys with values");
  refuses("\n[1]", "line 2: keys with values");
  refuses("''", "line 1: keys with values");
  refuses("? [a]\n: 3", "line 1: a key must be a single word");
  refuses("{a: 1}\n---\n{b: 2}\n", "line 2: a second document");
  refuses("a: {b: 1, b: 2}", "line 1: the key \"a.b\" is given twice");
  refuses("a: {}\nb: 1\na: {}", "line 3: the key \"a\" is given twice");
  refuses("a.b: 1", "line 1: unknown key \"a.b\"");
  refuses("\"\": {a: 1}", "line 1: unknown key \"\"");
  refuses("a: [[1]]", "line 1: a list may hold");
  refuses("a: [{b: 1}]", "line 1: a list may hold");
}
END_TEST

START_TEST(what_refers_or_declares_is_refused) {
  refuses("a: &x 1", "line 1: anchors, aliases and tags");
  refuses("a: 1\nb: *x", "line 2: anchors, aliases and tags");
  refuses("a: !!int 1", "line 1: anchors, aliases and tags");
  refuses("a: ! 1", "line 1: anchors, aliases and tags");
  refuses("a: [!x 1]", "line 1: anchors, aliases and tags");
  refuses("a: &x {b: 1}", "line 1: anchors, aliases and tags");
  refuses("&x a: 1", "line 1: anchors, aliases and tags");
  refuses("%YAML 1.1\n---\na: 1", "line 1: a line that begins with %");
  refuses("a: 1\n...\n%TAG ! x\n---\n", "line 3: a line that begins with %");
  refuses("\xef\xbb\xbf%TAG ! x\n---\n", "begins with %");
  refuses("a: 1\r%TAG ! x\r", "begins with %");
  refuses("a: 1\xe2\x80\xa8%TAG ! x\n", "begins with %");
  visits("a: 5%\n", "1 a <5%>\n");
}
END_TEST

START_TEST(what_is_not_yaml_names_its_line) {
  refuses("a: 1\nb: {", "line 2: this is not YAML");
  refuses("a:\n\tb: 1\n", "line 2: a tab indents the line");
  refuses("a: 'x", "this is not YAML");
  refuses("a: 1\nb: @\n", "line 2: this is not YAML");
  refuses("a: b: c\n", "line 1: this is not YAML");
  refuses("a: 1\n\nb: \x01\n", "line 3: a control character");
  refuses("a: \"\\0\"\n", "line 1: a NUL character");
  refuses("\"a\\0b\": 1\n", "line 1: a NUL character");
  ck_assert_int_eq(walk("a: \0", 4), TPT_E_CONFIG);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "line 1: a control character"));
}
END_TEST

START_TEST(text_that_is_not_utf8_is_an_argument_error) {
  const char *const texts[] = {"a: \x80", "a: 1\n\xff\xfe", "\xfe\xff", "a: \xc0\xaf",
                               "a: \xed\xa0\x80"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    ck_assert_int_eq(walk(texts[i], strlen(texts[i])), TPT_E_ARGUMENT);
  walk(texts[1], strlen(texts[1]));
  ck_assert_str_eq(tpti_error_text(), "line 2: byte 5 is not UTF-8");
}
END_TEST

START_TEST(nesting_is_bounded) {
  visits("a: {b: {c: {d: 1}}}", "1 a mapping\n1 a.b mapping\n1 a.b.c mapping\n1 a.b.c.d <1>\n");
  refuses("a: {b: {c: {d: {e: 1}}}}", "line 1: nesting deeper than 4");
  refuses("a: {b: {c: {d: [1]}}}", "line 1: nesting deeper than 4");
  refuses_repeated("[", 1000000, "line 1: ");
  refuses_repeated("{", 1000000, "line 1: ");
  refuses_repeated("{a: ", 1000000, "line 1: nesting deeper than 4");
  refuses_repeated("- ", 1000000, "line 1: ");
  refuses_repeated("? ", 1000000, "line 1: ");
  refuses_repeated("[\n", 1000000, "line 1: ");
  refuses_repeated("%TAG !a! b\n", 1000000, "line 1: ");
}
END_TEST

START_TEST(sizes_are_bounded) {
  tpti_buffer text;
  tpti_buffer_init(&text, &tpti_memory_default);
  for (int i = 0; i <= TPTI_YAML_KEYS; i++) tpti_buffer_printf(&text, "k%d: 1\n", i);
  ck_assert_int_eq(walk(text.data, text.used), TPT_E_CONFIG);
  ck_assert_str_eq(tpti_error_text(), "line 257: more than 256 keys");
  text.used = 0;
  tpti_buffer_append(&text, "a: [", 4);
  for (int i = 0; i <= TPTI_YAML_ITEMS; i++) tpti_buffer_append(&text, "1,", 2);
  ck_assert_int_eq(walk(text.data, text.used), TPT_E_CONFIG);
  ck_assert_str_eq(tpti_error_text(), "line 1: a list of more than 262144 items");
  tpti_buffer_free(&text);
  char *spaces = malloc(TPTI_YAML_BYTES + 1);
  ck_assert_ptr_nonnull(spaces);
  memset(spaces, ' ', TPTI_YAML_BYTES + 1);
  ck_assert_int_eq(walk(spaces, TPTI_YAML_BYTES + 1), TPT_E_CONFIG);
  ck_assert_int_eq(walk(spaces, 1000000), TPT_OK);
  free(spaces);
}
END_TEST

static tpt_status one_value(const char *text, char notes_text[200]) {
  tpti_buffer notes;
  tpti_buffer_init(&notes, &tpti_memory_default);
  tpt_status status = tpti_yaml_value(text, "a.b", note, &notes);
  snprintf(notes_text, 200, "%.*s", (int)notes.used, notes.used ? notes.data : "");
  tpti_buffer_free(&notes);
  return status;
}

START_TEST(a_lone_value_belongs_to_its_key) {
  const char *const pairs[][2] = {
      {"3", "0 a.b <3>\n"},         {" x # c", "0 a.b <x>\n"}, {"[1, 2]", "0 a.b list <1> <2>\n"},
      {"", "0 a.b <>\n"},           {"# c", "0 a.b <>\n"},     {"- 1\n- 2", "0 a.b list <1> <2>\n"},
      {"'3'", "0 a.b quoted <3>\n"}};
  char notes[200];
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    ck_assert_int_eq(one_value(pairs[i][0], notes), TPT_OK);
    ck_assert_str_eq(notes, pairs[i][1]);
  }
  ck_assert_int_eq(one_value("3\n---\n4", notes), TPT_E_CONFIG);
  ck_assert_str_eq(tpti_error_text(), "a.b: a second document is not allowed");
  ck_assert_int_eq(one_value("[", notes), TPT_E_CONFIG);
  ck_assert_int_eq(one_value("[[1]]", notes), TPT_E_CONFIG);
}
END_TEST

static tpt_status fail_second(void *user, const tpti_yaml_node *node) {
  (void)node;
  return ++*(int *)user == 2 ? tpti_fail(TPT_E_STATE, "enough") : TPT_OK;
}

START_TEST(a_failed_visit_ends_the_walk) {
  int visited = 0;
  const char *yaml = "a: 1\nb: 2\nc: 3\n";
  ck_assert_int_eq(tpti_yaml_walk(yaml, strlen(yaml), fail_second, &visited), TPT_E_STATE);
  ck_assert_int_eq(visited, 2);
}
END_TEST

START_TEST(shown_text_is_cut_between_characters) {
  char shown[TPTI_YAML_SHOWN], text[301];
  ck_assert_str_eq(tpti_yaml_show("a\nb\x1b", shown), "\"a?b?\"");
  for (size_t i = 0; i < 300; i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
  size_t size = strlen(tpti_yaml_show(text, shown));
  ck_assert_uint_lt(size, TPTI_YAML_SHOWN);
  ck_assert_uint_eq((size - 5) % 3, 0);
  ck_assert_str_eq(shown + size - 4, "...\"");
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("yaml");
  TCase *c = tcase_create("subset");
  tcase_add_test(c, values_come_with_path_line_and_quotes);
  tcase_add_test(c, nothing_is_a_text_without_values);
  tcase_add_test(c, what_is_no_mapping_of_words_is_refused);
  tcase_add_test(c, what_refers_or_declares_is_refused);
  tcase_add_test(c, what_is_not_yaml_names_its_line);
  tcase_add_test(c, text_that_is_not_utf8_is_an_argument_error);
  tcase_add_test(c, nesting_is_bounded);
  tcase_add_test(c, sizes_are_bounded);
  tcase_add_test(c, a_lone_value_belongs_to_its_key);
  tcase_add_test(c, a_failed_visit_ends_the_walk);
  tcase_add_test(c, shown_text_is_cut_between_characters);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
