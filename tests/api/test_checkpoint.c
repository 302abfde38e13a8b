/* Checkpoints: a run that is resumed, also in another process, is the run that never stopped; a
 * load changes all or nothing. */
#include "api/one_file.h"
#include "api/session.h"
#include "support/file.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTINGS "train.recompute=block"

/* ---- other processes: this program once more, with arguments ---- */

static const char *second_mode, *second_checkpoint, *second_model;

static void train(session *s, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) train_step(s, i);
}

/* "first": ten steps and a checkpoint; "rest": ten more from it; "whole": twenty without a stop. */
START_TEST(in_another_process) {
  session s = start(SETTINGS);
  uint64_t place = 10;
  size_t size = 0;
  if (strcmp(second_mode, "rest")) {
    train(&s, 0, second_mode[0] == 'f' ? place : 2 * place);
  } else {
    place = 0;
    ok(tpt_checkpoint_load(s.trainer, s.optimizer, second_checkpoint, &place, sizeof place, &size));
    ck_assert_uint_eq(size, sizeof place);
    train(&s, place, 2 * place);
  }
  if (second_mode[0] == 'f')
    ok(tpt_checkpoint_save(s.trainer, s.optimizer, second_checkpoint, &place, sizeof place));
  ok(tpt_model_save(s.model, second_model));
  end(&s);
}
END_TEST

/* What it reports is not for our stdout. */
static void run_self(const char *mode, const char *checkpoint, const char *model) {
  char self[512];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  ck_assert_int_gt(length, 0);
  self[length] = '\0';
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(self, self, mode, checkpoint, model, (char *)NULL);
    _exit(127);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* All three in processes of their own: under valgrind the processor seems another one in this. */
START_TEST(resumed_in_another_process) {
  char parts[80], whole[80];
  size_t want_length, got_length;
  snprintf(parts, sizeof parts, "%s.parts", path);
  snprintf(whole, sizeof whole, "%s.whole", path);
  run_self("first", path, parts);
  run_self("rest", path, parts);
  run_self("whole", path, whole);
  unsigned char *want = tpti_test_read_file(whole, &want_length),
                *got = tpti_test_read_file(parts, &got_length);
  ck_assert_uint_eq(got_length, want_length);
  ck_assert(memcmp(got, want, want_length) == 0);
  remove(parts);
  remove(whole);
  free(want);
  free(got);
}
END_TEST

/* And in this one, into handles that had been used. */
START_TEST(resumed_in_this_process) {
  session a = start(""), b = start("");
  train(&a, 0, 10);
  ok(tpt_checkpoint_save(a.trainer, a.optimizer, path, NULL, 0));
  train(&a, 10, 20);
  train(&b, 30, 33);
  ok(tpt_checkpoint_load(b.trainer, b.optimizer, path, NULL, 0, NULL));
  train(&b, 10, 20);
  ck_assert(same_model_bytes(a.model, b.model));
  end(&a);
  end(&b);
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
    ck_assert_uint_eq(others(back + kept, sizeof back - kept, 0xee), 0);
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
          "model.d_ff is 28, and 20 in the checkpoint: ");
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), path));
  end(&a);
  end(&b);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/checkpoint");
  TCase *tests = tcase_create("checkpoint");
  tcase_add_checked_fixture(tests, make_path, remove_path);
  tcase_add_test(tests, resumed_in_another_process);
  tcase_add_test(tests, resumed_in_this_process);
  tcase_add_test(tests, rate_and_step_come_back);
  tcase_add_test(tests, the_callers_bytes);
  tcase_add_test(tests, a_checkpoint_is_a_model_file);
  tcase_add_test(tests, a_model_file_is_no_checkpoint);
  tcase_add_test(tests, the_optimizer_must_be_this_trainers);
  tcase_add_test(tests, of_another_model);
  suite_add_tcase(suite, tests);
  return suite;
}

static Suite *second_process(void) {
  Suite *suite = suite_create("api/checkpoint, resumed");
  TCase *tests = tcase_create("resumed");
  tcase_add_test(tests, in_another_process);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(int count, char **arguments) {
  if (count != 4) return tpti_test_main(suite());
  second_mode = arguments[1];
  second_checkpoint = arguments[2];
  second_model = arguments[3];
  return tpti_test_main(second_process());
}
