/* tpt_config from outside: handles, text results, files, and allocations that fail. The link wraps
 * malloc and posix_memalign of the library's own objects (-Wl,--wrap). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <3pt/3pt.h>

#include "support/runner.h"

static size_t calls, fail_at; /* fail_at 0: none fails */

void *__real_malloc(size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes) { return ++calls == fail_at ? NULL : __real_malloc(bytes); }

int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes) {
  return ++calls == fail_at ? 12 : __real_posix_memalign(block, alignment, bytes); /* ENOMEM */
}

static tpt_config *config;

static void begin(void) { ck_assert_int_eq(tpt_config_create(&config), TPT_OK); }
static void end(void) { tpt_config_destroy(config); }

static void says(const char *fragment) {
  ck_assert_msg(strstr(tpt_error_message(), fragment), "%s", tpt_error_message());
}

START_TEST(the_default_is_the_first_preset) {
  tpt_config *preset = NULL;
  char ours[2000], theirs[2000];
  size_t length;
  ck_assert_str_eq(tpt_config_preset_name(0), "3pt-5m");
  ck_assert_int_eq(tpt_config_preset("3pt-5m", &preset), TPT_OK);
  ck_assert_int_eq(tpt_config_format(config, ours, sizeof ours, &length), TPT_OK);
  ck_assert_uint_lt(length, sizeof ours);
  ck_assert_int_eq(tpt_config_format(preset, theirs, sizeof theirs, &length), TPT_OK);
  ck_assert_str_eq(ours, theirs);
  tpt_config_destroy(preset);
  ck_assert_ptr_null(tpt_config_preset_name(5));
}
END_TEST

START_TEST(texts_follow_the_rule_of_short_buffers) {
  char text[8] = "xxxxxxx";
  size_t length = 0;
  ck_assert_int_eq(tpt_config_get(config, "model.vocab_size", text, sizeof text, &length), TPT_OK);
  ck_assert_str_eq(text, "10000");
  ck_assert_uint_eq(length, 5);
  ck_assert_int_eq(tpt_config_get(config, "model.vocab_size", text, 3, &length), TPT_OK);
  ck_assert_str_eq(text, "10");
  ck_assert_uint_eq(length, 5);
  ck_assert_int_eq(tpt_config_get(config, "train.decay", NULL, 0, &length), TPT_OK);
  ck_assert_uint_eq(length, 3);
  ck_assert_int_eq(tpt_config_format(config, NULL, 0, &length), TPT_OK);
  ck_assert_uint_gt(length, 500);
}
END_TEST

START_TEST(what_is_null_is_an_argument_error) {
  char text[8];
  size_t length = 77;
  tpt_config *made = config;
  ck_assert_int_eq(tpt_config_create(NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_preset(NULL, &made), TPT_E_ARGUMENT);
  ck_assert_ptr_null(made);
  ck_assert_int_eq(tpt_config_load(NULL, &made), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_parse(NULL, 3, &made), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_parse("", 0, NULL), TPT_E_ARGUMENT);
  made = config;
  ck_assert_int_eq(tpt_config_copy(NULL, &made), TPT_E_ARGUMENT);
  ck_assert_ptr_null(made);
  ck_assert_int_eq(tpt_config_copy(config, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_set(NULL, "train.lr", "1"), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_set(config, NULL, "1"), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_set(config, "train.lr", NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_get(config, NULL, text, 8, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_get(config, "train.lr", NULL, 8, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_get(config, "train.lr", text, 8, NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_format(config, NULL, 8, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_check(NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_parameter_count(config, NULL), TPT_E_ARGUMENT);
  ck_assert_uint_eq(length, 77);
  tpt_config_destroy(NULL);
  ck_assert_int_eq(tpt_config_parse(NULL, 0, &made), TPT_OK);
  tpt_config_destroy(made);
}
END_TEST

START_TEST(text_that_is_not_utf8_is_an_argument_error) {
  tpt_config *made = config;
  size_t length;
  ck_assert_int_eq(tpt_config_preset("\xff", &made), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_parse("a: \xff", 4, &made), TPT_E_ARGUMENT);
  ck_assert_ptr_null(made);
  ck_assert_int_eq(tpt_config_set(config, "train.\xff", "1"), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_config_set(config, "train.lr", "\xc0\x80"), TPT_E_ARGUMENT);
  says("value is not UTF-8 (byte 0)");
  ck_assert_int_eq(tpt_config_get(config, "\x80", NULL, 0, &length), TPT_E_ARGUMENT);
}
END_TEST

START_TEST(the_handle_keeps_its_last_failure) {
  char text[600];
  size_t length;
  ck_assert_int_eq(tpt_config_set(config, "train.lr", "fast"), TPT_E_CONFIG);
  ck_assert_int_eq(tpt_config_check(NULL), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_error_of(config, text, sizeof text, &length), TPT_OK);
  ck_assert_str_eq(text, "train.lr is \"fast\", a number from 0 to 1000000 is allowed");
}
END_TEST

START_TEST(a_copy_stands_for_itself) {
  tpt_config *copy = NULL;
  char text[32];
  size_t length;
  ck_assert_int_eq(tpt_config_set(config, "model.dc.profile", "[3, 2, 1]"), TPT_OK);
  ck_assert_int_eq(tpt_config_copy(config, &copy), TPT_OK);
  ck_assert_int_eq(tpt_config_set(config, "model.dc.profile", "zero"), TPT_OK);
  ck_assert_int_eq(tpt_config_get(copy, "model.dc.profile", text, sizeof text, &length), TPT_OK);
  ck_assert_str_eq(text, "[3, 2, 1]");
  tpt_config_destroy(copy);
}
END_TEST

START_TEST(rules_between_keys_wait_for_the_check) {
  size_t count = 5;
  ck_assert_int_eq(tpt_config_set(config, "model.n_phases", "4"), TPT_OK);
  ck_assert_int_eq(tpt_config_check(config), TPT_E_CONFIG);
  ck_assert_int_eq(tpt_config_parameter_count(config, &count), TPT_E_CONFIG);
  says("model.n_phases is 4");
  ck_assert_uint_eq(count, 5);
  ck_assert_int_eq(tpt_config_set(config, "model.n_phases", "3"), TPT_OK);
  ck_assert_int_eq(tpt_config_parameter_count(config, &count), TPT_OK);
  ck_assert_uint_eq(count, 5463872);
}
END_TEST

/* Loads a file of these bytes; the message is without the path, which must begin it. */
static tpt_status load(const void *bytes, size_t size, const char *fragment) {
  char path[] = "/tmp/3pt-test-XXXXXX";
  tpt_config *made = config;
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
  close(file);
  tpt_status status = tpt_config_load(path, &made);
  unlink(path);
  ck_assert_int_eq(made == NULL, status != TPT_OK);
  tpt_config_destroy(made);
  if (status) says(path);
  if (status) says(fragment);
  return status;
}

START_TEST(files_are_named_in_every_message) {
  tpt_config *made = config;
  ck_assert_int_eq(load("train: {lr: 1}\n", 15, ""), TPT_OK);
  ck_assert_int_eq(load("", 0, ""), TPT_OK);
  ck_assert_int_eq(load("\ntrain: {lr: x}\n", 16,
                        "line 2: train.lr is \"x\", a number from 0 to 1000000 is allowed: /tmp/"),
                   TPT_E_CONFIG);
  ck_assert_int_eq(load("# \xff\n", 4, "byte 2 is not UTF-8: /tmp/"), TPT_E_FORMAT);
  ck_assert_int_eq(tpt_config_load("/nowhere/3pt.yaml", &made), TPT_E_IO);
  says("/nowhere/3pt.yaml");
  ck_assert_ptr_null(made);
  ck_assert_int_ne(tpt_config_load("/", &made), TPT_OK);
}
END_TEST

START_TEST(other_files_are_told) {
  static const char model[] = "\2\0\0\0\0\0\0\0{}", json[] = "{\"version\":1,\"added_tokens\":[]}";
  const char *text = "; a description (YAML) is wanted, this looks like a safetensors file: /tmp/";
  ck_assert_int_ne(load(model, sizeof model - 1, text), TPT_OK);
  text = "; a description (YAML) is wanted, this looks like a tokenizer.json: /tmp/";
  ck_assert_int_ne(load(json, sizeof json - 1, text), TPT_OK);
  static char large[(8 << 20) + 1];
  memcpy(large, model, sizeof model);
  text = "at most 8388608 are allowed; a description (YAML) is wanted, this looks like a "
         "safetensors file: /tmp/";
  ck_assert_int_eq(load(large, sizeof large, text), TPT_E_FORMAT);
  tpt_config *made;
  ck_assert_int_ne(tpt_config_parse(json, sizeof json - 1, &made), TPT_OK);
  says("; a description (YAML) is wanted, this looks like a tokenizer.json");
}
END_TEST

/* By the system's reason and the path; a preset's name is never what is missed. */
START_TEST(files_that_cannot_be_read) {
  char folder[] = "/tmp/3pt-test-XXXXXX", path[64], wanted[128];
  tpt_config *made = config;
  ck_assert_ptr_nonnull(mkdtemp(folder));
  ck_assert_int_eq(tpt_config_load(folder, &made), TPT_E_IO);
  snprintf(wanted, sizeof wanted, "cannot read (it is a folder): %s", folder);
  ck_assert_str_eq(tpt_error_message(), wanted);
  snprintf(path, sizeof path, "%s/mine.yaml", folder);
  ck_assert_int_eq(tpt_config_load(path, &made), TPT_E_IO);
  snprintf(wanted, sizeof wanted, "cannot open for reading (No such file or directory): %s", path);
  ck_assert_str_eq(tpt_error_message(), wanted);
  close(creat(path, 0));
  if (access(path, R_OK)) { /* root may read all */
    ck_assert_int_eq(tpt_config_load(path, &made), TPT_E_IO);
    snprintf(wanted, sizeof wanted, "cannot open for reading (Permission denied): %s", path);
    ck_assert_str_eq(tpt_error_message(), wanted);
  }
  ck_assert_int_eq(tpt_config_preset(path, &made), TPT_E_ARGUMENT);
  snprintf(wanted, sizeof wanted, "\"%s\" is a path, which tpt_config_load takes; of presets",
           path);
  says(wanted);
  ck_assert_ptr_null(made);
  unlink(path);
  rmdir(folder);
}
END_TEST

typedef tpt_status (*make_fn)(tpt_config **made);

static tpt_status make_default(tpt_config **made) { return tpt_config_create(made); }
static tpt_status make_copy(tpt_config **made) { return tpt_config_copy(config, made); }

static tpt_status make_parsed(tpt_config **made) {
  static const char yaml[] = "model: {max_seq_len: 2, dc: {profile: [1, 2]}}\ntrain: {lr: 1}\n";
  return tpt_config_parse(yaml, sizeof yaml - 1, made);
}

static const make_fn makers[] = {make_default, make_copy, make_parsed};

START_TEST(a_failed_allocation_makes_nothing) {
  tpt_status status = TPT_E_MEMORY;
  ck_assert_int_eq(tpt_config_set(config, "model.dc.profile", "[1, 2]"), TPT_OK);
  for (size_t n = 1; status; n++) {
    tpt_config *made = config;
    calls = 0;
    fail_at = n;
    status = makers[_i](&made);
    fail_at = 0;
    ck_assert(status == TPT_OK || status == TPT_E_MEMORY);
    ck_assert_int_eq(made == NULL, status != TPT_OK);
    tpt_config_destroy(made);
    ck_assert_uint_lt(n, 100);
  }
}
END_TEST

START_TEST(a_failed_allocation_leaves_the_description) {
  tpt_status status = TPT_E_MEMORY;
  char text[32];
  size_t length, n = 1;
  for (; status; n++) {
    ck_assert_int_eq(tpt_config_set(config, "model.dc.profile", "[1, 2]"), TPT_OK);
    calls = 0;
    fail_at = n;
    status = tpt_config_set(config, "model.dc.profile", "[3, 4, 5]");
    fail_at = 0;
    ck_assert(status == TPT_OK || status == TPT_E_MEMORY);
    tpt_config_get(config, "model.dc.profile", text, sizeof text, &length);
    ck_assert_str_eq(text, status ? "[1, 2]" : "[3, 4, 5]");
  }
  ck_assert_uint_gt(n, 3);
  for (int format = 0; format < 2; format++) {
    length = 9;
    calls = 0;
    fail_at = 1;
    status = format ? tpt_config_format(config, NULL, 0, &length)
                    : tpt_config_get(config, "train.lr", NULL, 0, &length);
    fail_at = 0;
    ck_assert_int_eq(status, TPT_E_MEMORY);
    ck_assert_uint_eq(length, 9);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("config");
  TCase *c = tcase_create("descriptions");
  tcase_add_checked_fixture(c, begin, end);
  tcase_add_test(c, the_default_is_the_first_preset);
  tcase_add_test(c, texts_follow_the_rule_of_short_buffers);
  tcase_add_test(c, what_is_null_is_an_argument_error);
  tcase_add_test(c, text_that_is_not_utf8_is_an_argument_error);
  tcase_add_test(c, the_handle_keeps_its_last_failure);
  tcase_add_test(c, a_copy_stands_for_itself);
  tcase_add_test(c, rules_between_keys_wait_for_the_check);
  tcase_add_test(c, files_are_named_in_every_message);
  tcase_add_test(c, other_files_are_told);
  tcase_add_test(c, files_that_cannot_be_read);
  tcase_add_loop_test(c, a_failed_allocation_makes_nothing, 0,
                      (int)(sizeof makers / sizeof *makers));
  tcase_add_test(c, a_failed_allocation_leaves_the_description);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
