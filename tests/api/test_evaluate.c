/* Evaluation: the mean over windows that a trainer would give, and its limits. */
#include "api/session.h"

#include <math.h>
#include <unistd.h>

enum { TOKENS = 150 };

typedef struct exam {
  session s;
  int32_t tokens[TOKENS];
  tpt_dataset *dataset;
} exam;

static exam prepare(const char *settings, size_t count) {
  exam e = {.s = start(settings)};
  tpti_test_tokens(e.tokens, TOKENS, V, 11);
  ok(tpt_dataset_from_tokens(e.s.context, e.tokens, count, &e.dataset));
  return e;
}

static void finish(exam *e) {
  tpt_dataset_destroy(e->dataset);
  end(&e->s);
}

static tpt_evaluation evaluate(const exam *e, const tpt_config *config, size_t seq, size_t most) {
  tpt_evaluation result = {.size = sizeof result, .loss = -1, .perplexity = -1, .tokens = 777};
  ok(tpt_evaluate(e->s.model, config, e->dataset, seq, most, &result));
  ck_assert_uint_eq(result.size, sizeof result);
  return result;
}

/* Mean over targets of the trainer's losses of the same windows. */
static double by_trainer(const exam *e, size_t seq, size_t windows, int32_t ignored,
                         uint64_t *tokens) {
  double sum = 0;
  *tokens = 0;
  for (size_t w = 0; w < windows; w++) {
    const int32_t *at = e->tokens + w * seq;
    double loss, counted = 0;
    for (size_t t = 1; t <= seq; t++) counted += at[t] != ignored;
    ok(tpt_trainer_forward(e->s.trainer, at, 1, seq));
    ok(tpt_trainer_loss(e->s.trainer, at + 1, &loss));
    sum += loss * counted;
    *tokens += (uint64_t)counted;
  }
  return sum / (double)*tokens;
}

START_TEST(the_mean_of_the_windows) {
  exam e =
      prepare(_i ? "model.dc.profile=ramp; model.rotation.mode=residual; train.ignore_index=4" : "",
              TOKENS);
  static const size_t lengths[] = {1, 2, 7, MOST};
  for (size_t i = 0; i < 4; i++) {
    size_t seq = lengths[i], windows = (TOKENS - 1) / seq;
    for (size_t most = 0; most < 4; most++) {
      uint64_t tokens;
      size_t used = most && most < windows ? most : windows;
      double want = by_trainer(&e, seq, used, _i ? 4 : -1, &tokens);
      tpt_evaluation got = evaluate(&e, NULL, seq, most);
      ck_assert_double_eq_tol(got.loss, want, 1e-6 * want);
      ck_assert_double_eq_tol(got.perplexity, exp(got.loss), 1e-12 * got.perplexity);
      ck_assert_uint_eq(got.tokens, tokens);
    }
  }
  finish(&e);
}
END_TEST

START_TEST(more_windows_than_there_are) {
  exam e = prepare("", TOKENS);
  tpt_evaluation all = evaluate(&e, NULL, MOST, 0), more = evaluate(&e, NULL, MOST, SIZE_MAX);
  ck_assert_mem_eq(&all, &more, sizeof all);
  ck_assert_uint_eq(all.tokens, (TOKENS - 1) / MOST * MOST);
  finish(&e);
}
END_TEST

/* train.ignore_index of the description that is given; without the auxiliary loss. */
START_TEST(another_description) {
  exam e = prepare("train.aux_coef=5", TOKENS);
  tpt_config *config = describe("train.ignore_index=7"), *other = describe("model.d_ff=2");
  uint64_t tokens;
  session plain = start("train.ignore_index=7");
  tpt_trainer *trainer = e.s.trainer;
  e.s.trainer = plain.trainer; /* same seed, hence the same weights; no auxiliary loss */
  double want = by_trainer(&e, 7, 3, 7, &tokens);
  tpt_evaluation got = evaluate(&e, config, 7, 3);
  ck_assert_double_eq_tol(got.loss, want, 1e-6 * want);
  ck_assert_uint_eq(got.tokens, tokens);
  tpt_evaluation result = {.size = sizeof result, .loss = -1};
  refused(e.s.model, tpt_evaluate(e.s.model, other, e.dataset, 7, 0, &result), TPT_E_CONFIG,
          "model.d_ff");
  ck_assert(result.loss == -1);
  e.s.trainer = trainer;
  tpt_config_destroy(config);
  tpt_config_destroy(other);
  end(&plain);
  finish(&e);
}
END_TEST

START_TEST(all_ignored) {
  exam e = prepare("train.ignore_index=0", TOKENS);
  tpt_dataset_destroy(e.dataset);
  static const int32_t zeros[40];
  ok(tpt_dataset_from_tokens(e.s.context, zeros, 40, &e.dataset));
  tpt_evaluation got = evaluate(&e, NULL, 8, 0);
  ck_assert(got.loss == 0 && got.perplexity == 1 && got.tokens == 0);
  finish(&e);
}
END_TEST

START_TEST(limits) {
  exam e = prepare("", 9);
  tpt_evaluation r = {.size = sizeof r, .loss = -1, .perplexity = -2, .tokens = 3};
  const tpt_evaluation before = r;
  const tpt_model *m = e.s.model;
  evaluate(&e, NULL, 8, 0); /* exactly one window */
  refused(m, tpt_evaluate(m, NULL, e.dataset, 9, 0, &r), TPT_E_ARGUMENT,
          "the dataset has 9 tokens; a window of seq 9 needs 10 (seq + 1): the dataset in memory");
  refused(m, tpt_evaluate(m, NULL, e.dataset, 0, 0, &r), TPT_E_ARGUMENT, "seq");
  refused(m, tpt_evaluate(m, NULL, e.dataset, MOST + 1, 0, &r), TPT_E_ARGUMENT, "seq");
  refused(m, tpt_evaluate(m, NULL, NULL, 8, 0, &r), TPT_E_ARGUMENT, "dataset");
  refused(m, tpt_evaluate(m, NULL, e.dataset, 8, 0, NULL), TPT_E_ARGUMENT, "evaluation");
  ck_assert_mem_eq(&r, &before, sizeof r);
  tpt_dataset *empty;
  ok(tpt_dataset_from_tokens(e.s.context, NULL, 0, &empty));
  refused(m, tpt_evaluate(m, NULL, empty, 1, 0, &r), TPT_E_ARGUMENT, "dataset");
  tpt_dataset_destroy(empty);
  finish(&e);
}
END_TEST

/* An id the model does not know: said, with its window; windows before it may be taken alone. */
START_TEST(foreign_ids) {
  exam e = prepare("", TOKENS);
  tpt_evaluation r = {.size = sizeof r, .loss = -1};
  e.tokens[40] = V;
  tpt_dataset_destroy(e.dataset);
  ok(tpt_dataset_from_tokens(e.s.context, e.tokens, TOKENS, &e.dataset));
  refused(e.s.model, tpt_evaluate(e.s.model, NULL, e.dataset, 8, 0, &r), TPT_E_ARGUMENT,
          "window 4: targets[7] is 23; ids from 0 to below model.vocab_size (23) and -1 "
          "(train.ignore_index) are allowed: the dataset in memory");
  ck_assert(r.loss == -1);
  evaluate(&e, NULL, 8, 4);
  finish(&e);
}
END_TEST

START_TEST(a_file_with_foreign_ids_is_named) {
  exam e = prepare("", TOKENS);
  char path[] = "/tmp/3pt-test-XXXXXX.u16";
  const uint16_t ids[3] = {1, 340, 2};
  tpt_evaluation r = {.size = sizeof r};
  int file = mkstemps(path, 4);
  ck_assert_int_eq(write(file, ids, sizeof ids), sizeof ids);
  close(file);
  tpt_dataset_destroy(e.dataset);
  ok(tpt_dataset_open(e.s.context, path, &e.dataset));
  unlink(path);
  const tpt_model *m = e.s.model;
  refused(m, tpt_evaluate(m, NULL, e.dataset, 2, 0, &r), TPT_E_ARGUMENT, "tokens[1] is 340; ");
  refused(m, tpt_evaluate(m, NULL, e.dataset, 2, 0, &r), TPT_E_ARGUMENT, path);
  refused(m, tpt_evaluate(m, NULL, e.dataset, 3, 0, &r), TPT_E_ARGUMENT, path);
  finish(&e);
}
END_TEST

START_TEST(not_a_number) {
  exam e = prepare("", TOKENS);
  float *weights;
  size_t count;
  ok(tpt_model_parameters(e.s.model, &weights, &count));
  weights[count - 1] = NAN;
  tpt_evaluation r = {.size = sizeof r, .loss = -1};
  tpt_status status = tpt_evaluate(e.s.model, NULL, e.dataset, 8, 0, &r);
  refused(e.s.model, status, TPT_E_NUMERIC, "window 0");
  ck_assert(r.loss == -1);
  finish(&e);
}
END_TEST

/* Of a folded model, and of a model in another precision where there is one. */
START_TEST(of_a_folded_model) {
  exam e = prepare("", TOKENS);
  tpt_model *folded;
  tpt_evaluation want = evaluate(&e, NULL, 9, 0);
  ok(tpt_model_fold(e.s.model, &folded));
  tpt_evaluation got = {.size = sizeof got};
  ok(tpt_evaluate(folded, NULL, e.dataset, 9, 0, &got));
  ck_assert_double_eq_tol(got.loss, want.loss, 1e-5 * want.loss);
  tpt_model_destroy(folded);
  finish(&e);
}
END_TEST

START_TEST(cancelled) {
  exam e = prepare("", TOKENS);
  tpt_evaluation r = {.size = sizeof r, .loss = -1}, want = evaluate(&e, NULL, 8, 0);
  ok(tpt_context_cancel(e.s.context, 1));
  refused(e.s.model, tpt_evaluate(e.s.model, NULL, e.dataset, 8, 0, &r), TPT_E_CANCELLED, "cancel");
  ck_assert(r.loss == -1);
  ok(tpt_context_cancel(e.s.context, 0));
  r = evaluate(&e, NULL, 8, 0);
  ck_assert_mem_eq(&r, &want, sizeof r);
  finish(&e);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/evaluate");
  TCase *tests = tcase_create("evaluate");
  tcase_add_loop_test(tests, the_mean_of_the_windows, 0, 2);
  tcase_add_test(tests, more_windows_than_there_are);
  tcase_add_test(tests, another_description);
  tcase_add_test(tests, all_ignored);
  tcase_add_test(tests, limits);
  tcase_add_test(tests, foreign_ids);
  tcase_add_test(tests, a_file_with_foreign_ids_is_named);
  tcase_add_test(tests, not_a_number);
  tcase_add_test(tests, of_a_folded_model);
  tcase_add_test(tests, cancelled);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
