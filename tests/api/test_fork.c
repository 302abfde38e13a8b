/* A fork while no call is in flight: both sides go on, each with threads of its own, and give the
 * same bits. */
#include "api/session.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/fork.h"

enum { MORE = 4 };

/* What a side makes of its session after the fork; in the child nothing is asserted. */
static int go_on(session *s, const char *path) {
  double loss, norm;
  const float *logits;
  tpt_decoder *decoder;
  for (uint64_t i = 0; i < MORE; i++) {
    int32_t tokens[ROWS];
    tpti_test_tokens(tokens, ROWS, V, 50 + i);
    if (tpt_trainer_zero_gradients(s->trainer)) return 1;
    if (tpt_trainer_accumulate(s->trainer, tokens, s->targets, BATCH, MOST, &loss)) return 2;
    if (tpt_optimizer_step(s->optimizer, &norm)) return 3;
  }
  if (tpt_decoder_create(s->model, 0, &decoder)) return 4;
  if (tpt_decoder_feed(decoder, s->tokens, MOST, &logits)) return 5;
  tpt_decoder_destroy(decoder);
  return tpt_model_save(s->model, path) ? 6 : 0;
}

static int wait_for(pid_t child) {
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void same_files(const char *a, const char *b) {
  tpt_model *x, *y;
  ok(tpt_model_load(NULL, a, NULL, &x));
  ok(tpt_model_load(NULL, b, NULL, &y));
  ck_assert(same_model_bytes(x, y));
  tpt_model_destroy(x);
  tpt_model_destroy(y);
}

/* `used`: the parent's threads were started before, or not yet. */
static void fork_and_compare(int used, int grandchild) {
  char folder[] = "/tmp/3pt-test-XXXXXX", mine[64], theirs[64];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(mine, sizeof mine, "%s/mine", folder);
  snprintf(theirs, sizeof theirs, "%s/theirs", folder);
  session s = start("");
  ok(tpt_context_set_threads(s.context, 3));
  if (used) train_step(&s, 1);
  pid_t child = tpti_test_fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    int failed = 0;
    if (grandchild && (child = tpti_test_fork()) != 0) {
      int status;
      failed = child < 0 || waitpid(child, &status, 0) != child || status != 0;
      _exit(failed);
    }
    failed = go_on(&s, theirs);
    end(&s);
    _exit(failed);
  }
  ck_assert_int_eq(go_on(&s, mine), 0);
  ck_assert_int_eq(wait_for(child), 0);
  ck_assert_int_eq(go_on(&s, mine) + go_on(&s, mine), 0); /* the parent still can */
  end(&s);
  session again = start("");
  if (used) train_step(&again, 1);
  ck_assert_int_eq(go_on(&again, mine), 0);
  same_files(mine, theirs);
  end(&again);
  remove(mine);
  remove(theirs);
  ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left there */
}

START_TEST(after_use) { fork_and_compare(1, 0); }
END_TEST

START_TEST(before_use) { fork_and_compare(0, 0); }
END_TEST

START_TEST(a_grandchild) { fork_and_compare(1, 1); }
END_TEST

/* A child that only destroys what it was given. */
START_TEST(a_child_that_goes_away) {
  session s = start("");
  train_step(&s, 1);
  pid_t child = tpti_test_fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    end(&s);
    _exit(0);
  }
  ck_assert_int_eq(wait_for(child), 0);
  train_step(&s, 2);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/fork");
  TCase *tests = tcase_create("fork");
  tcase_add_test(tests, after_use);
  tcase_add_test(tests, before_use);
  tcase_add_test(tests, a_grandchild);
  tcase_add_test(tests, a_child_that_goes_away);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
