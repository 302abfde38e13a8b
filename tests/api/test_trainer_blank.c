/* Gradients that count as 0 without having been cleared: nobody can tell them from cleared ones. */
#include "api/session.h"

#include "support/allocator.h"

/* Several groups of rows. */
static const char description[] =
    "model: {vocab_size: 60, d_model: 12, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 10,\n"
    "  max_seq_len: 64, dc: {profile: learned}, rotation: {mode: residual}}\n"
    "train: {batch: 40, aux_coef: 0.1, decay: matrices}\n";
enum { SEQS = 40, LONG = 64, ALL = SEQS * LONG, WORDS = 60 };

static const char *const precisions[] = {"f32", "bf16x6", "bf16x3", "bf16"};
static const char *const recomputes[] = {"none", "block"};
enum { VARIANTS = 8, LARGE = 8 };

/* So many words make several chunks of logits; one variant has them. */
static const char many_words[] = "4000";

typedef struct pair {
  tpti_test_allocator allocator; /* fills what it gives with NaN */
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *blank, *shown; /* the memory of one is the test's to see, of the other it is not */
  int32_t *tokens, *targets;
} pair;

static pair *begin(int variant) {
  pair *p = calloc(1, sizeof *p);
  float *values;
  size_t count;
  ck_assert_ptr_nonnull(p);
  tpti_test_allocator_init(&p->allocator);
  ok(tpt_context_create(&p->context));
  ok(tpt_context_set_allocator(p->context, &p->allocator.allocator));
  ok(tpt_config_parse(description, strlen(description), &p->config));
  ok(tpt_config_set(p->config, "train.precision", precisions[variant % 4]));
  ok(tpt_config_set(p->config, "train.recompute", recomputes[variant / 4 % 2]));
  if (variant == LARGE) ok(tpt_config_set(p->config, "model.vocab_size", many_words));
  ok(tpt_model_create(p->context, p->config, 3, &p->model));
  ok(tpt_trainer_create(p->model, NULL, &p->blank));
  ok(tpt_trainer_create(p->model, NULL, &p->shown));
  ok(tpt_trainer_gradients(p->shown, &values, &count));
  for (size_t i = 0; i < count; i++) ck_assert(values[i] == 0);
  p->tokens = malloc(2 * ALL * sizeof *p->tokens);
  ck_assert_ptr_nonnull(p->tokens);
  p->targets = p->tokens + ALL;
  tpti_test_tokens(p->tokens, ALL, WORDS, 1);
  tpti_test_tokens(p->targets, ALL, WORDS, 2);
  return p;
}

static void finish(pair *p) {
  tpt_trainer_destroy(p->blank);
  tpt_trainer_destroy(p->shown);
  tpt_model_destroy(p->model);
  tpt_config_destroy(p->config);
  tpt_context_destroy(p->context);
  ck_assert_uint_eq(tpti_test_allocator_live(&p->allocator), 0);
  free(p->tokens);
  free(p);
}

static void accumulate(const pair *p, tpt_trainer *trainer, size_t batch) {
  double loss;
  ok(tpt_trainer_accumulate(trainer, p->tokens, p->targets, batch, LONG, &loss));
}

/* Every tensor's gradient, asked for by name; it leaves a blank trainer blank. */
static void same_gradients(const pair *p) {
  size_t tensors;
  ok(tpt_model_tensor_count(p->model, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info;
    info.size = sizeof info;
    ok(tpt_model_tensor_info(p->model, i, &info));
    size_t count = info.count;
    float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
    ck_assert(a && b);
    ok(tpt_trainer_get_gradient(p->blank, info.name, a, count));
    ok(tpt_trainer_get_gradient(p->shown, info.name, b, count));
    ck_assert_msg(tpti_test_first_difference(a, b, count) == count, "%s", info.name);
    free(a), free(b);
  }
}

START_TEST(one_accumulate_and_three) {
  pair *p = begin(_i);
  same_gradients(p);
  for (int round = 0; round < 2; round++) {
    ok(tpt_trainer_zero_gradients(p->blank));
    ok(tpt_trainer_zero_gradients(p->shown));
    same_gradients(p);
    for (size_t i = 0; i < (round ? 3 : 1); i++) {
      accumulate(p, p->blank, SEQS - i);
      accumulate(p, p->shown, SEQS - i);
    }
    same_gradients(p);
  }
  finish(p);
}
END_TEST

START_TEST(three_calls_and_logits_of_ones_own) {
  pair *p = begin(_i);
  tpt_trainer *trainers[] = {p->blank, p->shown};
  float *dlogits = malloc(8 * LONG * WORDS * sizeof *dlogits);
  double loss;
  ck_assert_ptr_nonnull(dlogits);
  for (size_t i = 0; i < 8 * LONG * WORDS; i++) dlogits[i] = (float)(i % 7) * 1e-4f;
  for (size_t i = 0; i < 2; i++) {
    ok(tpt_trainer_forward(trainers[i], p->tokens, SEQS, LONG));
    ok(tpt_trainer_loss(trainers[i], p->targets, &loss));
    ok(tpt_trainer_backward(trainers[i]));
  }
  same_gradients(p);
  for (size_t i = 0; i < 2; i++) {
    ok(tpt_trainer_zero_gradients(trainers[i]));
    ok(tpt_trainer_forward(trainers[i], p->tokens, 8, LONG));
    ok(tpt_trainer_backward_logits(trainers[i], dlogits, 8 * LONG * WORDS));
  }
  same_gradients(p);
  free(dlogits);
  finish(p);
}
END_TEST

/* AdamW on blank gradients: decay alone. */
START_TEST(a_step_of_nothing) {
  float *weights[2];
  size_t count = 0;
  for (int i = 0; i < 2; i++) {
    pair *p = begin(0);
    tpt_trainer *trainer = i ? p->shown : p->blank;
    tpt_optimizer *optimizer;
    float *values;
    double norm;
    ok(tpt_optimizer_create(trainer, NULL, &optimizer));
    ok(tpt_optimizer_set_lr(optimizer, 1e-2));
    for (int step = 0; step < 3; step++) {
      if (step == 1) accumulate(p, trainer, SEQS);
      ok(tpt_optimizer_step(optimizer, &norm));
      ck_assert((norm == 0) == (step != 1));
      ok(tpt_trainer_zero_gradients(trainer));
    }
    ok(tpt_model_parameters(p->model, &values, &count));
    weights[i] = malloc(count * sizeof **weights);
    ck_assert_ptr_nonnull(weights[i]);
    memcpy(weights[i], values, count * sizeof *values);
    tpt_optimizer_destroy(optimizer);
    finish(p);
  }
  ck_assert_uint_eq(tpti_test_first_difference(weights[0], weights[1], count), count);
  free(weights[0]), free(weights[1]);
}
END_TEST

typedef struct patience {
  int calls, most;
} patience;

static int32_t lose_patience(void *user, const void *handle, double done) {
  patience *p = user;
  (void)handle, (void)done;
  return p->calls++ >= p->most;
}

/* Whatever was cut short, after zero_gradients it is as if it had never been. */
START_TEST(cut_short) {
  pair *p = begin(_i);
  double loss;
  accumulate(p, p->shown, SEQS);
  for (int most = 0; most < 6; most += 2) {
    patience patient = {0, most};
    ok(tpt_context_set_progress(p->context, lose_patience, &patient, NULL));
    tpt_status zero = tpt_trainer_zero_gradients(p->blank);
    tpt_status status = tpt_trainer_accumulate(p->blank, p->tokens, p->targets, SEQS, LONG, &loss);
    ok(tpt_context_set_progress(p->context, NULL, NULL, NULL));
    ck_assert(zero == TPT_OK || zero == TPT_E_CANCELLED);
    ck_assert(status == TPT_OK || status == TPT_E_CANCELLED || status == TPT_E_STATE);
    ok(tpt_trainer_zero_gradients(p->blank));
    accumulate(p, p->blank, SEQS);
    same_gradients(p);
  }
  finish(p);
}
END_TEST

/* To look at gradients is never cancelled, and shows no memory that was never written. */
START_TEST(looking) {
  pair *p = begin(0);
  float *values;
  size_t count;
  double loss;
  ok(tpt_context_cancel(p->context, 1));
  ck_assert_int_eq(tpt_trainer_accumulate(p->blank, p->tokens, p->targets, SEQS, LONG, &loss),
                   TPT_E_CANCELLED);
  ck_assert_int_eq(tpt_trainer_zero_gradients(p->blank), TPT_E_CANCELLED);
  ok(tpt_trainer_gradients(p->blank, &values, &count));
  for (size_t i = 0; i < count; i++) ck_assert(values[i] == 0);
  ok(tpt_context_cancel(p->context, 0));
  finish(p);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/trainer_blank");
  TCase *tests = tcase_create("blank");
  tcase_add_loop_test(tests, one_accumulate_and_three, 0, VARIANTS + 1);
  tcase_add_loop_test(tests, three_calls_and_logits_of_ones_own, 0, VARIANTS);
  tcase_add_test(tests, a_step_of_nothing);
  tcase_add_loop_test(tests, cut_short, 2, 5);
  tcase_add_test(tests, looking);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
