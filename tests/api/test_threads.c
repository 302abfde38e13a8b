/* The same bits at every number of threads, with one context used by two host threads at once, and
 * with many decoders over one model in several. */
#include "api/session.h"

#include <pthread.h>

/* Large enough that its work is cut in several pieces. */
#define WIDE                                                                                       \
  "model.vocab_size=300; model.d_model=48; model.d_ff=64; model.max_seq_len=40; train.batch=2"
enum { WIDE_V = 300, WIDE_T = 40, WIDE_ROWS = 80, STEPS = 20 };

static const int32_t threads[] = {1, 2, 3, 7};
enum { COUNTS = 4 };

typedef struct run {
  session s;
  int32_t tokens[WIDE_ROWS], targets[WIDE_ROWS];
} run;

static run begin(int32_t count, const char *settings) {
  tpt_context *context;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, count));
  run r = {.s = start_in(context, settings)};
  tpti_test_tokens(r.tokens, WIDE_ROWS, WIDE_V, 3);
  tpti_test_tokens(r.targets, WIDE_ROWS, WIDE_V, 4);
  return r;
}

#define EVERY                                                                                      \
  "; train.recompute=block; train.aux_coef=0.1;"                                                   \
  "model.dc.profile=learned; model.rotation.mode=residual"

static const char *const variants[] = {WIDE, WIDE EVERY, WIDE "; train.precision=bf16",
                                       WIDE EVERY "; train.precision=bf16x3",
                                       WIDE "; train.precision=bf16x6"};
enum { VARIANTS = sizeof variants / sizeof *variants };

START_TEST(logits_and_gradients) {
  size_t count = 0, parameters = 0;
  float *logits[COUNTS], *gradients[COUNTS];
  for (int i = 0; i < COUNTS; i++) {
    run r = begin(threads[i], variants[_i]);
    const float *values;
    double loss;
    ok(tpt_trainer_forward(r.s.trainer, r.tokens, 2, WIDE_T));
    ok(tpt_trainer_logits(r.s.trainer, &values));
    count = WIDE_ROWS * WIDE_V;
    logits[i] = malloc(count * sizeof **logits);
    ck_assert_ptr_nonnull(logits[i]);
    memcpy(logits[i], values, count * sizeof **logits);
    ok(tpt_trainer_loss(r.s.trainer, r.targets, &loss));
    ok(tpt_trainer_backward(r.s.trainer));
    gradients[i] = copy_gradients(r.s.trainer, &parameters);
    end(&r.s);
  }
  for (int i = 0; i < COUNTS; i++) {
    ck_assert_uint_eq(tpti_test_first_difference(logits[0], logits[i], count), count);
    ck_assert_uint_eq(tpti_test_first_difference(gradients[0], gradients[i], parameters),
                      parameters);
  }
  for (int i = 0; i < COUNTS; i++) free(logits[i]), free(gradients[i]);
}
END_TEST

static void train(run *r, int steps) {
  for (int i = 0; i < steps; i++) {
    double loss;
    ok(tpt_trainer_zero_gradients(r->s.trainer));
    ok(tpt_trainer_accumulate(r->s.trainer, r->tokens, r->targets, 2, WIDE_T, &loss));
    ok(tpt_optimizer_step(r->s.optimizer, NULL));
  }
}

/* Also where the number changes on the way. */
START_TEST(twenty_steps) {
  run a = begin(1, WIDE);
  train(&a, STEPS);
  for (int i = 1; i < COUNTS; i++) {
    run b = begin(threads[i], WIDE);
    train(&b, STEPS / 2);
    if (i == 3) ok(tpt_context_set_threads(b.s.context, 2));
    train(&b, STEPS / 2);
    ck_assert(same_model_bytes(a.s.model, b.s.model));
    end(&b.s);
  }
  end(&a.s);
}
END_TEST

/* Prompt, single feeds and feed_many: the last logits of all that. */
static void decode(const tpt_model *model, const int32_t *tokens, float *result) {
  tpt_decoder *d[5];
  const float *logits, *many[5];
  for (int i = 0; i < 5; i++) {
    ok(tpt_decoder_create(model, 0, &d[i]));
    ok(tpt_decoder_feed(d[i], tokens + i, 20 + (size_t)i, NULL));
    for (size_t t = 0; t < 5; t++) ok(tpt_decoder_feed(d[i], tokens + 40 + t, 1, &logits));
  }
  for (int i = 0; i < 5; i++) ok(tpt_decoder_feed_many(d, 5, tokens + 50 + i, many));
  for (int i = 0; i < 5; i++) {
    memcpy(result + i * WIDE_V, many[i], WIDE_V * sizeof *result);
    tpt_decoder_destroy(d[i]);
  }
}

START_TEST(decoding) {
  static float want[5 * WIDE_V], got[5 * WIDE_V];
  for (int i = 0; i < COUNTS; i++) {
    run r = begin(threads[i], WIDE);
    decode(r.s.model, r.tokens, i ? got : want);
    if (i) ck_assert_uint_eq(tpti_test_first_difference(got, want, 5 * WIDE_V), 5 * WIDE_V);
    end(&r.s);
  }
}
END_TEST

/* ---- several host threads ---- */

/* Check's assertions are for one thread: a worker says only whether all went well. */
typedef struct job {
  const tpt_model *model;
  const int32_t *tokens;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  float logits[WIDE_V];
  tpt_status status;
} job;

static void *train_some(void *argument) {
  job *j = argument;
  for (int i = 0; i < 4 && !j->status; i++) {
    double loss;
    j->status = tpt_trainer_zero_gradients(j->trainer);
    if (!j->status)
      j->status = tpt_trainer_accumulate(j->trainer, j->tokens, j->tokens + 1, 1, WIDE_T, &loss);
    if (!j->status) j->status = tpt_optimizer_step(j->optimizer, NULL);
  }
  return NULL;
}

/* Two trainers, each of its own model, in one context at once. */
START_TEST(one_context_two_trainers) {
  run alone = begin(2, WIDE), shared = begin(2, WIDE);
  tpt_model *second;
  job jobs[2] = {
      {.trainer = shared.s.trainer, .optimizer = shared.s.optimizer, .tokens = shared.tokens},
      {.tokens = shared.tokens}};
  ok(tpt_model_create(shared.s.context, shared.s.config, 7, &second));
  ok(tpt_trainer_create(second, NULL, &jobs[1].trainer));
  ok(tpt_optimizer_create(jobs[1].trainer, NULL, &jobs[1].optimizer));
  pthread_t host[2];
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(pthread_create(&host[i], NULL, train_some, &jobs[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(host[i], NULL);
  job one = {.trainer = alone.s.trainer, .optimizer = alone.s.optimizer, .tokens = alone.tokens};
  train_some(&one);
  ck_assert(one.status == TPT_OK && jobs[0].status == TPT_OK && jobs[1].status == TPT_OK);
  ck_assert(same_model_bytes(alone.s.model, shared.s.model));
  ck_assert(same_model_bytes(alone.s.model, second));
  tpt_optimizer_destroy(jobs[1].optimizer);
  tpt_trainer_destroy(jobs[1].trainer);
  tpt_model_destroy(second);
  end(&alone.s);
  end(&shared.s);
}
END_TEST

/* Decoders made, fed and destroyed in this thread, over a model that others use as well. */
static void *decode_some(void *argument) {
  job *j = argument;
  for (int i = 0; i < 4 && !j->status; i++) {
    tpt_decoder *d;
    tpt_model *folded;
    const float *logits;
    if ((j->status = tpt_decoder_create(j->model, 0, &d))) break;
    j->status = tpt_decoder_feed(d, j->tokens, 30, NULL);
    for (int t = 0; t < 5 && !j->status; t++)
      j->status = tpt_decoder_feed(d, j->tokens + t, 1, &logits);
    if (!j->status) memcpy(j->logits, logits, sizeof j->logits);
    tpt_decoder_destroy(d);
    if (!j->status) j->status = tpt_model_fold(j->model, &folded);
    if (!j->status) tpt_model_destroy(folded);
    /* a failing const call of several threads at once: each keeps its own text */
    if (tpt_model_get_tensor(j->model, "none", j->logits, 1) != TPT_E_ARGUMENT)
      j->status = TPT_E_INTERNAL;
    if (!strstr(tpt_error_message(), "none")) j->status = TPT_E_INTERNAL;
  }
  return NULL;
}

START_TEST(one_model_many_decoders) {
  run r = begin(3, WIDE);
  static job jobs[4];
  pthread_t host[4];
  for (int i = 0; i < 4; i++) jobs[i] = (job){.model = r.s.model, .tokens = r.tokens};
  for (int i = 1; i < 4; i++)
    ck_assert_int_eq(pthread_create(&host[i], NULL, decode_some, &jobs[i]), 0);
  for (int i = 1; i < 4; i++) pthread_join(host[i], NULL);
  decode_some(&jobs[0]);
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(jobs[i].status, TPT_OK);
    ck_assert_uint_eq(tpti_test_first_difference(jobs[0].logits, jobs[i].logits, WIDE_V), WIDE_V);
  }
  end(&r.s);
}
END_TEST

/* A trainer and decoders of a folded snapshot of its model: training and decoding at once. */
START_TEST(training_beside_decoding) {
  run r = begin(2, WIDE);
  tpt_model *folded;
  static job decoding_job, again;
  ok(tpt_model_fold(r.s.model, &folded));
  decoding_job = again = (job){.model = folded, .tokens = r.tokens};
  job training_job = {.trainer = r.s.trainer, .optimizer = r.s.optimizer, .tokens = r.tokens};
  pthread_t host;
  ck_assert_int_eq(pthread_create(&host, NULL, decode_some, &decoding_job), 0);
  train_some(&training_job);
  pthread_join(host, NULL);
  decode_some(&again);
  ck_assert(decoding_job.status == TPT_OK && training_job.status == TPT_OK);
  ck_assert_uint_eq(tpti_test_first_difference(decoding_job.logits, again.logits, WIDE_V), WIDE_V);
  tpt_model_destroy(folded);
  end(&r.s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/threads");
  TCase *tests = tcase_create("threads");
  tcase_add_loop_test(tests, logits_and_gradients, 0, VARIANTS);
  tcase_add_test(tests, twenty_steps);
  tcase_add_test(tests, decoding);
  tcase_add_test(tests, one_context_two_trainers);
  tcase_add_test(tests, one_model_many_decoders);
  tcase_add_test(tests, training_beside_decoding);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
