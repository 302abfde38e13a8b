/* How often long calls look at the clock, and what a stop at each look leaves. The clock is this
 * program's own: at each look 6 ms have gone by, so that progress is called whenever it could be,
 * and nothing depends on the machine. One thread. */
#include "api/one_file.h"
#include "api/session.h"
#include "support/file.h"

#include <time.h>

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now) {
  static long long milliseconds;
  (void)clock;
  milliseconds += 6;
  now->tv_sec = (time_t)(milliseconds / 1000);
  now->tv_nsec = (long)(milliseconds % 1000) * 1000000;
  return 0;
}

#define WIDE "model.vocab_size=1500; model.d_model=48; model.d_ff=64"

static session start_alone(const char *settings) {
  tpt_context *context;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 1));
  return start_in(context, settings);
}

static void watch(session *s, stop *from) {
  ok(tpt_context_set_progress(s->context, stop_at, from, NULL));
}

/* The state that a checkpoint holds, as a file's bytes; to be freed. */
static unsigned char *state_of(session *s, size_t *length) {
  char other[] = "/tmp/3pt-test-XXXXXX";
  int file = mkstemp(other);
  ck_assert_int_ge(file, 0);
  ok(tpt_checkpoint_save(s->trainer, s->optimizer, other, NULL, 0));
  close(file);
  unsigned char *bytes = tpti_test_read_file(other, length);
  remove(other);
  return bytes;
}

/* All or nothing, wherever it is stopped: also while what was read takes its place. */
START_TEST(a_load_stopped_anywhere_changes_nothing) {
  session s = start_alone(WIDE);
  size_t length, again, size = 77;
  char own[3] = "xy";
  make_path();
  train_step(&s, 1);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, "abc", 3));
  train_step(&s, 2);
  unsigned char *before = state_of(&s, &length);
  tpt_status status = TPT_E_CANCELLED;
  int at = 1;
  for (; status == TPT_E_CANCELLED; at++) {
    stop from = {.at = at};
    watch(&s, &from);
    status = tpt_checkpoint_load(s.trainer, s.optimizer, path, own, sizeof own, &size);
    ok(tpt_context_set_progress(s.context, NULL, NULL, NULL));
    unsigned char *now = state_of(&s, &again);
    bool same = again == length && memcmp(now, before, length) == 0;
    free(now);
    ck_assert_msg(same == (status != TPT_OK), "stopped at call %d", at);
    if (status) ck_assert(own[0] == 'x' && size == 77);
  }
  ck_assert_int_eq(status, TPT_OK);
  ck_assert(memcmp(own, "abc", 3) == 0 && size == 3);
  ck_assert_int_gt(at, 3 * 5); /* 150,000 parameters are five pieces, weights and moments */
  free(before);
  remove(path);
  end(&s);
}
END_TEST

/* A description of 40,000 words: reading, and giving back what was read, is done in pieces. */
START_TEST(a_tokenizer_stopped_anywhere) {
  enum { WORDS = 40000, ROOM = WORDS * 24 };
  session s = start_alone("");
  char *json = malloc(ROOM);
  ck_assert_ptr_nonnull(json);
  size_t used = (size_t)sprintf(
      json, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
            "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"post_processor\":"
            "null,\"decoder\":null,\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"w0\",\"vocab\""
            ":{");
  for (int i = 0; i < WORDS; i++)
    used += (size_t)sprintf(json + used, "%s\"w%d\":%d", i ? "," : "", i, i);
  used += (size_t)sprintf(json + used, "}}}");
  tpt_status status = TPT_E_CANCELLED;
  int at = 1;
  for (; status == TPT_E_CANCELLED; at++) {
    stop from = {.at = at};
    tpt_tokenizer *made = NULL;
    watch(&s, &from);
    status = tpt_tokenizer_parse(s.context, json, used, &made);
    ck_assert_int_eq(status == TPT_OK, made != NULL);
    ck_assert_int_eq(from.calls, status ? at : at - 1);
    tpt_tokenizer_destroy(made);
  }
  ck_assert_int_eq(status, TPT_OK);
  /* 600 KB, twice in pieces of 32 KiB; the model, and its members given back. */
  ck_assert_int_gt(at, 2 * (int)(used / 32768) + WORDS / 4096);
  ok(tpt_context_set_progress(s.context, NULL, NULL, NULL));
  free(json);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/ticks");
  TCase *tests = tcase_create("ticks");
  tcase_add_test(tests, a_load_stopped_anywhere_changes_nothing);
  tcase_add_test(tests, a_tokenizer_stopped_anywhere);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
