/* Models in files: there and back, whole or not at all. */
#include "api/session.h"
#include "support/file.h"
#include "support/folder.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static char folder[64], path[96];

static void make_folder(void) {
  strcpy(folder, "/tmp/3pt-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model.safetensors", folder);
}

static void remove_folder(void) { tpti_test_remove_folder(folder); }

static size_t files(void) { return tpti_test_entries(folder); }

START_TEST(there_and_back) {
  session s = start("model.dc.profile=learned; train.lr=0.125; model.rotation.schedule=[1, 0.1]");
  train_step(&s, 1), train_step(&s, 2);
  size_t length, memory_length;
  unsigned char *memory = image_of(s.model, &memory_length);
  tpt_model *loaded;
  ok(tpt_model_save(s.model, path));
  unsigned char *file = tpti_test_read_file(path, &length);
  ck_assert(length == memory_length && memcmp(file, memory, length) == 0);
  ok(tpt_model_load(s.context, path, NULL, &loaded));
  ck_assert(same_model_bytes(loaded, s.model));
  char text[20];
  ok(tpt_config_get(tpt_model_config(loaded), "train.lr", text, sizeof text, &length));
  ck_assert_str_eq(text, "0.125");
  ck_assert_uint_eq(files(), 1);
  tpt_model_destroy(loaded);
  free(file);
  free(memory);
  end(&s);
}
END_TEST

START_TEST(short_buffers) {
  session s = start("");
  size_t whole;
  unsigned char *image = image_of(s.model, &whole), *part = malloc(whole + 8);
  ck_assert_ptr_nonnull(part);
  for (size_t capacity = 0; capacity <= whole + 8; capacity += 1 + whole / 23) {
    size_t length = 77, kept = capacity < whole ? capacity : whole;
    memset(part, 0xee, whole + 8);
    ok(tpt_model_save_memory(s.model, part, capacity, &length));
    ck_assert_uint_eq(length, whole);
    ck_assert(memcmp(part, image, kept) == 0);
    ck_assert_uint_eq(others(part + kept, whole + 8 - kept, 0xee), 0);
  }
  refused(s.model, tpt_model_save_memory(s.model, NULL, 1, &whole), TPT_E_ARGUMENT, "data");
  refused(s.model, tpt_model_save_memory(s.model, part, 1, NULL), TPT_E_ARGUMENT, "length");
  free(part);
  free(image);
  end(&s);
}
END_TEST

START_TEST(a_failed_save_leaves_the_old_file) {
  session s = start("");
  size_t length, again;
  ok(tpt_model_save(s.model, path));
  unsigned char *old = tpti_test_read_file(path, &length);
  train_step(&s, 1), train_step(&s, 2);
  ok(tpt_context_cancel(s.context, 1));
  refused(s.model, tpt_model_save(s.model, path), TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(s.context, 0));
  unsigned char *now = tpti_test_read_file(path, &again);
  ck_assert(length == again && memcmp(old, now, length) == 0);
  ck_assert_uint_eq(files(), 1);
  free(now);
  ok(tpt_model_save(s.model, path));
  now = tpti_test_read_file(path, &again);
  ck_assert(length == again && memcmp(old, now, length) != 0);
  free(old);
  free(now);
  end(&s);
}
END_TEST

/* The system takes some bytes and then no more, as where a disk is full; or opens no more files. */
START_TEST(the_system_refuses) {
  session s = start("");
  size_t length, again;
  tpt_model *model = s.model;
  ok(tpt_model_save(s.model, path));
  unsigned char *old = tpti_test_read_file(path, &length);
  train_step(&s, 1), train_step(&s, 2);
  struct rlimit before, little;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
  little = before;
  little.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &little);
  tpt_status full = tpt_model_save(s.model, path);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  refused(s.model, full, TPT_E_IO, path);
  unsigned char *now = tpti_test_read_file(path, &again);
  ck_assert(length == again && memcmp(old, now, length) == 0);
  ck_assert_uint_eq(files(), 1);
  ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
  little = before;
  little.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &little);
  tpt_status saved = tpt_model_save(s.model, path),
             loaded = tpt_model_load(NULL, path, NULL, &model);
  setrlimit(RLIMIT_NOFILE, &before);
  ck_assert(saved == TPT_E_IO && loaded == TPT_E_IO && model == NULL);
  ck_assert_uint_eq(files(), 1);
  free(now);
  free(old);
  end(&s);
}
END_TEST

START_TEST(places_that_cannot_be) {
  session s = start("");
  tpt_model *model = s.model;
  char inside[128];
  snprintf(inside, sizeof inside, "%s/none/model", folder);
  refused(s.model, tpt_model_save(s.model, inside), TPT_E_IO, inside);
  refused(s.context, tpt_model_load(s.context, inside, NULL, &model), TPT_E_IO, inside);
  ck_assert_ptr_null(model);
  ck_assert_int_eq(tpt_model_save(s.model, folder), TPT_E_IO);
  ck_assert_int_ne(tpt_model_load(s.context, folder, NULL, &model), TPT_OK);
  ck_assert_int_ne(tpt_model_save(s.model, ""), TPT_OK);
  ck_assert_int_ne(tpt_model_load(s.context, "", NULL, &model), TPT_OK);
  ck_assert_int_ne(tpt_model_load(s.context, "/dev/null", NULL, &model), TPT_OK);
  ck_assert_uint_eq(files(), 0);
  FILE *empty = fopen(path, "wb");
  ck_assert_ptr_nonnull(empty);
  fclose(empty);
  refused(s.context, tpt_model_load(s.context, path, NULL, &model), TPT_E_FORMAT, path);
  end(&s);
}
END_TEST

/* A path is bytes: no UTF-8, and relative to where the host is. */
START_TEST(paths_are_bytes) {
  session s = start("");
  tpt_model *model;
  char odd[128], before[512];
  snprintf(odd, sizeof odd, "%s/\xff\xfe name", folder);
  ok(tpt_model_save(s.model, odd));
  ok(tpt_model_load(NULL, odd, NULL, &model));
  tpt_model_destroy(model);
  ck_assert_ptr_nonnull(getcwd(before, sizeof before));
  ck_assert_int_eq(chdir(folder), 0);
  tpt_status status = tpt_model_save(s.model, "here"),
             loaded = tpt_model_load(NULL, "here", NULL, &model);
  ck_assert_int_eq(chdir(before), 0);
  ok(status);
  ok(loaded);
  tpt_model_destroy(model);
  ck_assert_uint_eq(files(), 2);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/model_file");
  TCase *tests = tcase_create("model_file");
  tcase_add_checked_fixture(tests, make_folder, remove_folder);
  tcase_add_test(tests, there_and_back);
  tcase_add_test(tests, short_buffers);
  tcase_add_test(tests, a_failed_save_leaves_the_old_file);
  tcase_add_test(tests, the_system_refuses);
  tcase_add_test(tests, places_that_cannot_be);
  tcase_add_test(tests, paths_are_bytes);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
