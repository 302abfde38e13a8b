/* Progress and cancellation of long calls, and that short ones know neither. */
#include "api/session.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* A model whose calls last longer than the 5 ms between two calls of progress. */
#define LARGE                                                                                      \
  "model.vocab_size=1000; model.d_model=192; model.d_ff=384; model.n_layers=3;"                    \
  "model.max_seq_len=512; train.batch=1"
enum { LARGE_V = 1000, MOST_SEQ = 512, LEAST_SEQ = 16, LONG_ENOUGH = 15000000 /* ns */ };

typedef struct watch {
  pthread_t thread; /* the only one that may call */
  const void *handle;
  int calls, wrong, stop_at;
  double last;
} watch;

static int32_t look(void *user, const void *handle, double done) {
  watch *w = user;
  if (!pthread_equal(w->thread, pthread_self()) || handle != w->handle) w->wrong++;
  if (!isnan(done) && !(done >= 0 && done <= 1)) w->wrong++;
  if (!isnan(done) && done < w->last) w->wrong++;
  if (!isnan(done)) w->last = done;
  return ++w->calls == w->stop_at ? -3 : 0;
}

typedef struct workload {
  session s;
  int32_t tokens[MOST_SEQ + 1];
  size_t seq; /* of each call */
  tpt_decoder *decoder;
  tpt_dataset *dataset;
} workload;

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* As short as this machine allows: under valgrind it is some hundred times slower. */
static workload prepare(void) {
  workload w = {.s = start(LARGE), .seq = LEAST_SEQ};
  tpti_test_tokens(w.tokens, MOST_SEQ + 1, LARGE_V, 5);
  ok(tpt_decoder_create(w.s.model, 0, &w.decoder));
  for (; w.seq < MOST_SEQ; w.seq *= 2) {
    int64_t before = nanoseconds();
    ok(tpt_trainer_forward(w.s.trainer, w.tokens, 1, w.seq));
    if (nanoseconds() - before > LONG_ENOUGH) break;
  }
  ok(tpt_trainer_forward(w.s.trainer, w.tokens, 1, w.seq)); /* for a backward */
  ok(tpt_dataset_from_tokens(w.s.context, w.tokens, w.seq + 1, &w.dataset));
  return w;
}

static void finish(workload *w) {
  tpt_decoder_destroy(w->decoder);
  tpt_dataset_destroy(w->dataset);
  end(&w->s);
}

static tpt_status accumulate(workload *w) {
  double loss;
  return tpt_trainer_accumulate(w->s.trainer, w->tokens, w->tokens + 1, 1, w->seq, &loss);
}

static tpt_status forward(workload *w) {
  return tpt_trainer_forward(w->s.trainer, w->tokens, 1, w->seq);
}

static tpt_status feed(workload *w) {
  ok(tpt_decoder_rewind(w->decoder, 0));
  return tpt_decoder_feed(w->decoder, w->tokens, w->seq, NULL);
}

static tpt_status score(workload *w) {
  double scores[MOST_SEQ];
  ok(tpt_decoder_rewind(w->decoder, 0));
  return tpt_decoder_score(w->decoder, w->tokens, w->seq, scores);
}

static tpt_status evaluate(workload *w) {
  tpt_evaluation result = {.size = sizeof result};
  return tpt_evaluate(w->s.model, NULL, w->dataset, w->seq, 0, &result);
}

static tpt_status fold(workload *w) {
  tpt_model *model;
  tpt_status status = tpt_model_fold(w->s.model, &model);
  if (!status) tpt_model_destroy(model);
  return status;
}

static tpt_status convert(workload *w) {
  tpt_model *model;
  tpt_status status = tpt_model_convert(w->s.model, "int8", &model);
  if (!status) tpt_model_destroy(model);
  return status;
}

static tpt_status make_optimizer(workload *w) {
  tpt_optimizer *optimizer;
  tpt_status status = tpt_optimizer_create(w->s.trainer, NULL, &optimizer);
  if (!status) tpt_optimizer_destroy(optimizer);
  return status;
}

static tpt_status backward_logits(workload *w) {
  static float dlogits[MOST_SEQ * LARGE_V];
  return tpt_trainer_backward_logits(w->s.trainer, dlogits, w->seq * LARGE_V);
}

static const struct {
  tpt_status (*call)(workload *w);
  size_t handle; /* where in the workload the call's first argument is */
} calls[] = {{accumulate, offsetof(workload, s.trainer)},
             {forward, offsetof(workload, s.trainer)},
             {feed, offsetof(workload, decoder)},
             {score, offsetof(workload, decoder)},
             {evaluate, offsetof(workload, s.model)},
             {fold, offsetof(workload, s.model)},
             {convert, offsetof(workload, s.model)},
             {make_optimizer, offsetof(workload, s.trainer)},
             {backward_logits, offsetof(workload, s.trainer)}};
enum { CALLS = sizeof calls / sizeof *calls };

static watch watched(const workload *w, int call, int stop_at_call) {
  watch look_out = {.thread = pthread_self(), .stop_at = stop_at_call, .last = -1};
  memcpy(&look_out.handle, (const char *)w + calls[call].handle, sizeof look_out.handle);
  return look_out;
}

/* Called with the call's own handle, on its thread, with what grows from 0 to 1. */
START_TEST(what_progress_is_told) {
  workload w = prepare();
  watch out = watched(&w, _i, 0);
  ok(tpt_context_set_progress(w.s.context, look, &out, NULL));
  ok(calls[_i].call(&w));
  ck_assert_int_eq(out.wrong, 0);
  ok(tpt_context_set_progress(w.s.context, NULL, NULL, NULL));
  finish(&w);
}
END_TEST

/* Tables of RoPE that take longer than the 5 ms: they are part of a fold like all else. */
START_TEST(tables_are_part_of_a_fold) {
  session s = start("model.max_seq_len=262144; model.d_model=48; train.seq_len=16");
  tpt_model *folded;
  watch out = {.thread = pthread_self(), .handle = s.model, .last = -1};
  ok(tpt_context_set_progress(s.context, look, &out, NULL));
  ok(tpt_model_fold(s.model, &folded));
  ck_assert_int_eq(out.wrong, 0);
  tpt_model_destroy(folded);
  end(&s);
}
END_TEST

/* Waits, so that the next look at the clock calls progress again. Whether it comes to a first call
 * depends on the machine: these tests hold with and without one. */
static int32_t wait_and_look(void *user, const void *handle, double done) {
  nanosleep(&(struct timespec){0, 6000000}, NULL);
  return look(user, handle, done);
}

static size_t position_of(const workload *w) {
  size_t position;
  ok(tpt_decoder_position(w->decoder, &position));
  return position;
}

/* A result other than 0 ends the call; the handle then works as ever. */
START_TEST(what_progress_may_stop) {
  workload w = prepare();
  watch out = watched(&w, _i, 1);
  ok(tpt_context_set_progress(w.s.context, wait_and_look, &out, NULL));
  tpt_status status = calls[_i].call(&w);
  if (out.calls) {
    refused(out.handle, status, TPT_E_CANCELLED, "progress");
    ck_assert_int_eq(out.calls, 1); /* and is not called again */
    ck_assert_uint_eq(position_of(&w), 0);
  }
  ok(tpt_context_set_progress(w.s.context, NULL, NULL, NULL));
  ok(tpt_trainer_zero_gradients(w.s.trainer));
  ok(forward(&w));
  ok(calls[_i].call(&w));
  finish(&w);
}
END_TEST

/* In the middle of a long prompt: everything as it was, and the same prompt gives the same. */
START_TEST(a_prompt_cut_in_the_middle) {
  workload w = prepare();
  const float *logits;
  static float want[LARGE_V], before[LARGE_V];
  size_t first = w.seq / 8, rest = w.seq - first;
  int cut = 0;
  ok(tpt_decoder_feed(w.decoder, w.tokens, first, &logits));
  memcpy(before, logits, sizeof before);
  for (int at = 1; at < 4 && cut == at - 1; at++) { /* until one comes through */
    watch out = {.thread = pthread_self(), .stop_at = at, .last = -1, .handle = w.decoder};
    const float *none = NULL;
    int32_t was, is;
    ok(tpt_decoder_sample(w.decoder, &was));
    ok(tpt_context_set_progress(w.s.context, wait_and_look, &out, NULL));
    tpt_status status = tpt_decoder_feed(w.decoder, w.tokens + first, rest, &none);
    ok(tpt_context_set_progress(w.s.context, NULL, NULL, NULL));
    if (status == TPT_OK) break;
    cut++;
    ck_assert(none == NULL && position_of(&w) == first);
    ok(tpt_decoder_sample(w.decoder, &is));
    ck_assert_int_eq(was, is);
    ck_assert_uint_eq(tpti_test_first_difference(logits, before, LARGE_V), LARGE_V);
  }
  ok(tpt_decoder_rewind(w.decoder, first)); /* where the last one came through */
  ok(tpt_decoder_feed(w.decoder, w.tokens + first, rest, &logits));
  memcpy(want, logits, sizeof want);
  tpt_decoder *twin;
  ok(tpt_decoder_create(w.s.model, 0, &twin));
  ok(tpt_decoder_feed(twin, w.tokens, first, NULL));
  ok(tpt_decoder_feed(twin, w.tokens + first, rest, &logits));
  ck_assert_uint_eq(tpti_test_first_difference(logits, want, LARGE_V), LARGE_V);
  tpt_decoder_destroy(twin);
  finish(&w);
}
END_TEST

/* Ended again and again in the middle, with a token in peace after each end: all together is what
 * one call makes. */
START_TEST(a_generation_cut_in_the_middle) {
  workload w = prepare();
  static int32_t want[MOST_SEQ], got[MOST_SEQ];
  const size_t count = 4 * w.seq < MOST_SEQ ? 4 * w.seq : MOST_SEQ - 1;
  size_t made, done = 0;
  for (int round = 0; round < 2; round++) {
    ok(tpt_decoder_rewind(w.decoder, 0));
    ok(tpt_decoder_set_sampling(w.decoder, 2, 0, 1, 3));
    ok(tpt_decoder_feed(w.decoder, w.tokens, 1, NULL));
    if (round == 0) ok(tpt_decoder_generate(w.decoder, -1, want, count, &made));
  }
  for (bool peace = false; done < count; peace = !peace) {
    watch out = {.thread = pthread_self(), .stop_at = !peace, .last = -1, .handle = w.decoder};
    size_t asked = peace ? 1 : count - done;
    ok(tpt_context_set_progress(w.s.context, look, &out, NULL));
    tpt_status status = tpt_decoder_generate(w.decoder, -1, got + done, asked, &made);
    ok(tpt_context_set_progress(w.s.context, NULL, NULL, NULL));
    ck_assert_int_eq(status, made < asked ? TPT_E_CANCELLED : TPT_OK);
    ck_assert_int_eq(out.wrong, 0);
    done += made;
    ck_assert_uint_eq(position_of(&w), 1 + done);
  }
  ck_assert_mem_eq(got, want, count * sizeof *got);
  finish(&w);
}
END_TEST

/* ---- tpt_context_cancel ---- */

static void *cancel_soon(void *context) {
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  tpt_context_cancel(context, 1);
  return NULL;
}

/* From another thread: whatever runs then ends, in bounded time, and all after it until 0. */
START_TEST(cancelled_from_another_thread) {
  workload w = prepare();
  pthread_t other;
  ck_assert_int_eq(pthread_create(&other, NULL, cancel_soon, w.s.context), 0);
  tpt_status status = TPT_OK;
  for (int i = 0; i < 100000 && status == TPT_OK; i++) status = feed(&w);
  refused(w.decoder, status, TPT_E_CANCELLED, "tpt_context_cancel");
  pthread_join(other, NULL);
  ck_assert_int_eq(feed(&w), TPT_E_CANCELLED);
  ok(tpt_context_cancel(w.s.context, 0));
  ok(feed(&w));
  finish(&w);
}
END_TEST

/* Getters, setters, sample, copy, rewind and a step are never cancelled. */
START_TEST(never_cancelled) {
  session s = start("");
  tpt_decoder *a, *b;
  double number;
  size_t count;
  int32_t token;
  uint64_t steps;
  float *values, theta[P / 2], profile[MOST];
  double means[N];
  char text[40];
  tpt_tensor_info info = {.size = sizeof info};
  tpt_drift drift = {.size = sizeof drift};
  tpt_dataset *dataset;
  ok(tpt_decoder_create(s.model, 0, &a));
  ok(tpt_decoder_create(s.model, 0, &b));
  ok(tpt_decoder_feed(a, s.tokens, 3, NULL));
  ok(tpt_dataset_from_tokens(s.context, s.tokens, ROWS, &dataset));
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &number));
  ok(tpt_context_cancel(s.context, 1));
  ok(tpt_decoder_set_sampling(a, 1, 0, 1, 1));
  ok(tpt_decoder_sample(a, &token));
  ok(tpt_decoder_copy(a, b));
  ok(tpt_decoder_position(b, &count));
  ok(tpt_decoder_rewind(a, 1));
  ok(tpt_optimizer_step(s.optimizer, &number));
  ok(tpt_optimizer_lr(s.optimizer, &number));
  ok(tpt_optimizer_set_lr(s.optimizer, 1));
  ok(tpt_optimizer_step_count(s.optimizer, &steps));
  ok(tpt_model_tensor_count(s.model, &count));
  ok(tpt_model_tensor_info(s.model, 0, &info));
  ok(tpt_model_parameters(s.model, &values, &count));
  ok(tpt_model_get_tensor(s.model, "embedding.dc_profile", profile, MOST));
  ok(tpt_model_set_tensor(s.model, "embedding.dc_profile", profile, MOST));
  ok(tpt_trainer_gradients(s.trainer, &values, &count));
  ok(tpt_geometry_theta(s.model, 0, theta, P / 2));
  ok(tpt_geometry_drift(s.model, 0, &drift));
  ok(tpt_geometry_phase_means(s.trainer, TPT_POINT_BLOCK, 0, means, N));
  ok(tpt_dataset_count(dataset, &count));
  ok(tpt_dataset_window_count(dataset, 3, &count));
  ok(tpt_config_get(tpt_model_config(s.model), "train.lr", text, sizeof text, &count));
  ok(tpt_context_threads(s.context, &token));
  ok(tpt_error_of(s.context, text, sizeof text, &count));
  tpt_dataset_destroy(dataset);
  tpt_decoder_destroy(a);
  tpt_decoder_destroy(b);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/progress");
  TCase *tests = tcase_create("progress");
  tcase_add_loop_test(tests, what_progress_is_told, 0, CALLS);
  tcase_add_test(tests, tables_are_part_of_a_fold);
  tcase_add_loop_test(tests, what_progress_may_stop, 0, CALLS);
  tcase_add_test(tests, a_generation_cut_in_the_middle);
  tcase_add_test(tests, a_prompt_cut_in_the_middle);
  tcase_add_test(tests, cancelled_from_another_thread);
  tcase_add_test(tests, never_cancelled);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
