/* Checkpoints: a run that is resumed, also in another process, is the run that never stopped; a
 * load changes all or nothing. */
#include "api/session.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTINGS "train.recompute=block"

static char path[64];

static void make_path(void) {
  strcpy(path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
}

static void remove_path(void) { remove(path); }

static unsigned char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  ck_assert_ptr_nonnull(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  unsigned char *data = malloc(*length + 1);
  ck_assert_ptr_nonnull(data);
  ck_assert_uint_eq(fread(data, 1, *length, file), *length);
  fclose(file);
  return data;
}

static void write_file(const char *name, const unsigned char *data, size_t length) {
  FILE *file = fopen(name, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(data, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}

/* ---- the second process: loads, trains ten more steps, writes the model ---- */

static const char *resume_from, *resume_to;

START_TEST(resume_and_save) {
  session s = start(SETTINGS);
  uint64_t place = 0;
  size_t size = 0;
  ok(tpt_checkpoint_load(s.trainer, s.optimizer, resume_from, &place, sizeof place, &size));
  ck_assert_uint_eq(size, sizeof place);
  for (uint64_t i = place; i < place + 10; i++) train_step(&s, i);
  ok(tpt_model_save(s.model, resume_to));
  end(&s);
}
END_TEST

/* This program once more, with arguments; what it reports is not for our stdout. */
static void run_self(const char *checkpoint, const char *model) {
  char self[512];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  ck_assert_int_gt(length, 0);
  self[length] = '\0';
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(self, self, "resume", checkpoint, model, (char *)NULL);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(resumed_in_another_process) {
  session s = start(SETTINGS);
  uint64_t place = 10;
  size_t want_length, got_length;
  for (uint64_t i = 0; i < 10; i++) train_step(&s, i);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, &place, sizeof place));
  char model[80];
  snprintf(model, sizeof model, "%s.model", path);
  run_self(path, model);
  for (uint64_t i = 10; i < 20; i++) train_step(&s, i);
  unsigned char *want = image_of(s.model, &want_length), *got = read_file(model, &got_length);
  ck_assert_uint_eq(got_length, want_length);
  ck_assert_mem_eq(got, want, want_length);
  remove(model);
  free(want);
  free(got);
  end(&s);
}
END_TEST

/* ---- what is in it ---- */

START_TEST(rate_and_step_come_back) {
  session a = start(""), b = start("");
  double lr = -1;
  uint64_t steps = 0;
  for (uint64_t i = 0; i < 3; i++) train_step(&a, i);
  ok(tpt_checkpoint_save(a.trainer, a.optimizer, path, NULL, 0));
  ok(tpt_optimizer_set_lr(b.optimizer, 0.3)); /* a load takes it back to the schedule */
  ok(tpt_checkpoint_load(b.trainer, b.optimizer, path, NULL, 0, NULL));
  ok(tpt_optimizer_step_count(b.optimizer, &steps));
  ok(tpt_optimizer_lr(b.optimizer, &lr));
  double want;
  ok(tpt_optimizer_lr(a.optimizer, &want));
  ck_assert(steps == 3 && lr == want);
  ok(tpt_optimizer_set_lr(a.optimizer, 0.1));
  ok(tpt_checkpoint_save(a.trainer, a.optimizer, path, NULL, 0));
  ok(tpt_checkpoint_load(b.trainer, b.optimizer, path, NULL, 0, NULL));
  ok(tpt_optimizer_lr(b.optimizer, &lr));
  ck_assert(lr == 0.1);
  train_step(&a, 9);
  train_step(&b, 9);
  ck_assert(same_model_bytes(a.model, b.model));
  end(&a);
  end(&b);
}
END_TEST

START_TEST(the_callers_bytes) {
  session s = start("");
  unsigned char bytes[1000], back[1001];
  size_t size = 0;
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, bytes, sizeof bytes));
  for (size_t capacity = 0; capacity <= 1001; capacity += 91) {
    size_t kept = capacity < sizeof bytes ? capacity : sizeof bytes;
    memset(back, 0xee, sizeof back);
    ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, capacity ? back : NULL, capacity, &size));
    ck_assert_uint_eq(size, sizeof bytes);
    ck_assert(memcmp(back, bytes, kept) == 0);
    for (size_t i = kept; i < sizeof back; i++) ck_assert_uint_eq(back[i], 0xee);
  }
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, back, sizeof back, &size));
  ck_assert_uint_eq(size, 0);
  end(&s);
}
END_TEST

START_TEST(a_checkpoint_is_a_model_file) {
  session s = start("");
  tpt_model *model = NULL;
  train_step(&s, 1);
  train_step(&s, 2);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "abc", 3));
  ok(tpt_model_load(NULL, path, NULL, &model));
  ck_assert(same_model_bytes(model, s.model));
  tpt_model_destroy(model);
  end(&s);
}
END_TEST

START_TEST(a_model_file_is_no_checkpoint) {
  session s = start("");
  ok(tpt_model_save(s.model, path));
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL), TPT_E_FORMAT,
          "not a checkpoint");
  end(&s);
}
END_TEST

START_TEST(the_optimizer_must_be_this_trainers) {
  session a = start(""), b = start("");
  size_t size = 77;
  remove(path);
  refused(a.trainer, tpt_checkpoint_save(a.trainer, b.optimizer, path, NULL, 0), TPT_E_ARGUMENT,
          "optimizer");
  ck_assert_int_ne(access(path, F_OK), 0);
  ok(tpt_checkpoint_save(a.trainer, a.optimizer, path, NULL, 0));
  refused(a.trainer, tpt_checkpoint_load(a.trainer, b.optimizer, path, NULL, 0, &size),
          TPT_E_ARGUMENT, "optimizer");
  refused(a.trainer, tpt_checkpoint_load(a.trainer, NULL, path, NULL, 0, &size), TPT_E_ARGUMENT,
          "optimizer");
  ck_assert_uint_eq(size, 77);
  end(&a);
  end(&b);
}
END_TEST

START_TEST(of_another_model) {
  session a = start(""), b = start("model.d_ff=28");
  ok(tpt_checkpoint_save(a.trainer, a.optimizer, path, NULL, 0));
  refused(b.trainer, tpt_checkpoint_load(b.trainer, b.optimizer, path, NULL, 0, NULL), TPT_E_CONFIG,
          "model.d_ff");
  end(&a);
  end(&b);
}
END_TEST

/* ---- all or nothing ---- */

/* Everything that a load might change. */
typedef struct facts {
  unsigned char *image;
  size_t length, count;
  float *gradients;
  double lr;
  uint64_t steps;
} facts;

static facts facts_of(session *s) {
  facts f = {0};
  f.image = image_of(s->model, &f.length);
  f.gradients = copy_gradients(s->trainer, &f.count);
  ok(tpt_optimizer_lr(s->optimizer, &f.lr));
  ok(tpt_optimizer_step_count(s->optimizer, &f.steps));
  return f;
}

static void same_facts(session *s, const facts *want) {
  facts now = facts_of(s);
  ck_assert_uint_eq(now.length, want->length);
  ck_assert(memcmp(now.image, want->image, now.length) == 0);
  ck_assert_uint_eq(tpti_test_first_difference(now.gradients, want->gradients, now.count),
                    now.count);
  ck_assert(now.lr == want->lr && now.steps == want->steps);
  free(now.image);
  free(now.gradients);
}

/* After a failed load: as before, and the moments too, which a further step shows. */
static void refuse_file(session *s, const facts *before, const unsigned char *data, size_t length) {
  unsigned char user[8] = "unmoved";
  size_t size = 77;
  write_file(path, data, length);
  tpt_status status = tpt_checkpoint_load(s->trainer, s->optimizer, path, user, sizeof user, &size);
  ck_assert_msg(status == TPT_E_FORMAT || status == TPT_E_CONFIG, "%zu bytes: %s: %s", length,
                tpt_status_name(status), tpt_error_message());
  ck_assert_str_ne(tpt_error_message(), "");
  ck_assert(size == 77);
  same_facts(s, before);
}

START_TEST(truncated_files) {
  session s = start("");
  size_t length;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "12345678", 8));
  unsigned char *data = read_file(path, &length);
  session other = start("");
  train_step(&other, 5);
  train_step(&other, 6);
  session twin = start("");
  train_step(&twin, 5);
  train_step(&twin, 6);
  facts before = facts_of(&other);
  for (size_t cut = 0; cut < length; cut += 1 + length / 37)
    refuse_file(&other, &before, data, cut);
  refuse_file(&other, &before, data, length - 1);
  train_step(&other, 7);
  train_step(&twin, 7);
  ck_assert(same_model_bytes(other.model, twin.model));
  free(before.image);
  free(before.gradients);
  free(data);
  end(&twin);
  end(&other);
  end(&s);
}
END_TEST

/* One word of the header spoiled, each time another. */
START_TEST(corrupt_files) {
  static const char *const words[] = {"3pt.step",    "3pt.lr",     "3pt.adamw.m",    "3pt.adamw.v",
                                      "3pt.user",    "3pt.config", "3pt.checkpoint", "head.weight",
                                      "blocks.1.pr", "d_model",    "data_offsets",   "dtype"};
  session s = start("");
  size_t length;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "12345678", 8));
  unsigned char *data = read_file(path, &length);
  facts before = facts_of(&s);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    unsigned char *at = memmem(data, length, words[i], strlen(words[i]));
    ck_assert_msg(at != NULL, "%s is not in the file", words[i]);
    at[strlen(words[i]) - 1] ^= 1;
    refuse_file(&s, &before, data, length);
    at[strlen(words[i]) - 1] ^= 1;
  }
  write_file(path, data, length);
  ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL));
  free(before.image);
  free(before.gradients);
  free(data);
  end(&s);
}
END_TEST

/* A cancelled save leaves the old file; a cancelled load the handles. */
START_TEST(cancelled) {
  session s = start("");
  size_t length, again, size = 77;
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  unsigned char *old = read_file(path, &length);
  train_step(&s, 2);
  facts before = facts_of(&s);
  ok(tpt_context_cancel(s.context, 1));
  refused(s.trainer, tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0), TPT_E_CANCELLED,
          "cancel");
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, &size),
          TPT_E_CANCELLED, "cancel");
  ok(tpt_context_cancel(s.context, 0));
  ck_assert_uint_eq(size, 77);
  same_facts(&s, &before);
  unsigned char *now = read_file(path, &again);
  ck_assert(again == length && memcmp(old, now, length) == 0);
  free(before.image);
  free(before.gradients);
  free(old);
  free(now);
  end(&s);
}
END_TEST

START_TEST(places_that_cannot_be) {
  session s = start("");
  refused(s.trainer, tpt_checkpoint_load(s.trainer, s.optimizer, "/tmp/3pt-none/x", NULL, 0, NULL),
          TPT_E_IO, "/tmp/3pt-none/x");
  refused(s.trainer, tpt_checkpoint_save(s.trainer, s.optimizer, "/tmp/3pt-none/x", NULL, 0),
          TPT_E_IO, "/tmp/3pt-none/x");
  ck_assert_int_ne(tpt_checkpoint_save(s.trainer, s.optimizer, "/tmp", NULL, 0), TPT_OK);
  ck_assert_int_ne(tpt_checkpoint_load(s.trainer, s.optimizer, "/tmp", NULL, 0, NULL), TPT_OK);
  ck_assert_int_ne(tpt_checkpoint_save(s.trainer, s.optimizer, "", NULL, 0), TPT_OK);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/checkpoint");
  TCase *tests = tcase_create("checkpoint");
  tcase_add_checked_fixture(tests, make_path, remove_path);
  tcase_add_test(tests, resumed_in_another_process);
  tcase_add_test(tests, rate_and_step_come_back);
  tcase_add_test(tests, the_callers_bytes);
  tcase_add_test(tests, a_checkpoint_is_a_model_file);
  tcase_add_test(tests, a_model_file_is_no_checkpoint);
  tcase_add_test(tests, the_optimizer_must_be_this_trainers);
  tcase_add_test(tests, of_another_model);
  tcase_add_test(tests, truncated_files);
  tcase_add_test(tests, corrupt_files);
  tcase_add_test(tests, cancelled);
  tcase_add_test(tests, places_that_cannot_be);
  suite_add_tcase(suite, tests);
  return suite;
}

static Suite *second_process(void) {
  Suite *suite = suite_create("api/checkpoint, resumed");
  TCase *tests = tcase_create("resumed");
  tcase_add_test(tests, resume_and_save);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(int count, char **arguments) {
  if (count != 4) return tpti_test_main(suite());
  resume_from = arguments[2];
  resume_to = arguments[3];
  return tpti_test_main(second_process());
}
