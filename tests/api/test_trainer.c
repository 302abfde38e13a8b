/* A trainer's states: which call may follow which, and what can be read. */
#include "api/session.h"

#define NOWHERE ((double)-77)

static void forward(session *s) { ok(tpt_trainer_forward(s->trainer, s->tokens, BATCH, MOST)); }

static double loss_of(session *s) {
  double loss;
  ok(tpt_trainer_loss(s->trainer, s->targets, &loss));
  return loss;
}

/* No forward stands: loss, logits and both ways back are refused, and their results untouched. */
static void no_forward(session *s) {
  double loss = NOWHERE;
  const float *logits = NULL;
  static const float dlogits[ROWS * V];
  refused(s->trainer, tpt_trainer_loss(s->trainer, s->targets, &loss), TPT_E_STATE,
          "there is no forward");
  refused(s->trainer, tpt_trainer_logits(s->trainer, &logits), TPT_E_STATE, "there is no forward");
  refused(s->trainer, tpt_trainer_backward(s->trainer), TPT_E_STATE, "there is no forward");
  refused(s->trainer, tpt_trainer_backward_logits(s->trainer, dlogits, ROWS * V), TPT_E_STATE,
          "there is no forward");
  ck_assert(loss == NOWHERE && logits == NULL);
}

START_TEST(first_comes_forward) {
  session s = start("");
  no_forward(&s);
  forward(&s);
  refused(s.trainer, tpt_trainer_backward(s.trainer), TPT_E_STATE, "loss");
  ck_assert_double_gt(loss_of(&s), 0);
  ok(tpt_trainer_backward(s.trainer));
  end(&s);
}
END_TEST

START_TEST(accumulate_ends_a_forward) {
  session s = start("");
  double loss;
  forward(&s);
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  no_forward(&s);
  forward(&s);
  loss_of(&s);
  end(&s);
}
END_TEST

START_TEST(one_backward_a_forward) {
  session s = start("");
  static const float dlogits[ROWS * V];
  size_t count;
  forward(&s);
  loss_of(&s);
  ok(tpt_trainer_backward(s.trainer));
  float *before = copy_gradients(s.trainer, &count);
  refused(s.trainer, tpt_trainer_backward(s.trainer), TPT_E_STATE, "backward");
  refused(s.trainer, tpt_trainer_backward_logits(s.trainer, dlogits, ROWS * V), TPT_E_STATE,
          "backward");
  float *after = copy_gradients(s.trainer, &count);
  ck_assert_uint_eq(tpti_test_first_difference(before, after, count), count);
  forward(&s);
  ok(tpt_trainer_backward_logits(s.trainer, dlogits, ROWS * V));
  refused(s.trainer, tpt_trainer_backward(s.trainer), TPT_E_STATE, "backward");
  free(before);
  free(after);
  end(&s);
}
END_TEST

/* Even a step with a zero gradient, or a tensor set to what it was. */
START_TEST(changed_weights_end_a_forward) {
  session s = start("");
  char path[] = "/tmp/3pt-test-XXXXXX";
  float gain[P];
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  ok(tpt_checkpoint_save(s.trainer, s.optimizer, path, NULL, 0));
  double before = -1;
  for (int way = 0; way < 3; way++) {
    forward(&s);
    before = loss_of(&s);
    if (way == 0) ok(tpt_optimizer_step(s.optimizer, NULL));
    if (way == 1) {
      ok(tpt_model_get_tensor(s.model, "norm_f.norms.0.weight", gain, P));
      ok(tpt_model_set_tensor(s.model, "norm_f.norms.0.weight", gain, P));
    }
    if (way == 2) ok(tpt_checkpoint_load(s.trainer, s.optimizer, path, NULL, 0, NULL));
    double loss = NOWHERE;
    ck_assert_int_eq(tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_STATE);
    ck_assert_int_eq(tpt_trainer_backward(s.trainer), TPT_E_STATE);
    ck_assert(loss == NOWHERE);
  }
  forward(&s);
  ck_assert_double_gt(before, 0);
  ok(tpt_trainer_backward_logits(s.trainer, (const float[ROWS * V]){0}, ROWS * V));
  remove(path);
  end(&s);
}
END_TEST

/* A failure before any work leaves the forward as it stands. */
START_TEST(a_refused_call_ends_nothing) {
  session s = start("");
  double loss = NOWHERE;
  forward(&s);
  double first = loss_of(&s);
  s.targets[5] = V;
  refused(s.trainer, tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_ARGUMENT, "targets[5]");
  refused(s.trainer, tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss),
          TPT_E_ARGUMENT, "targets[5]");
  s.targets[5] = 0;
  s.tokens[6] = -1;
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST), TPT_E_ARGUMENT,
          "tokens[6]");
  refused(s.trainer, tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss),
          TPT_E_ARGUMENT, "tokens[6]");
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, BATCH + 1, MOST), TPT_E_ARGUMENT,
          "batch");
  ck_assert(loss == NOWHERE);
  ok(tpt_trainer_backward(s.trainer));
  ck_assert_double_gt(first, 0);
  end(&s);
}
END_TEST

/* The loss may be asked more than once; the last one counts. */
START_TEST(loss_again_with_other_targets) {
  session s = start("");
  size_t count;
  float *want = accumulated(&s, BATCH, MOST, &count);
  int32_t others[ROWS];
  double loss;
  tpti_test_tokens(others, ROWS, V, 99);
  ok(tpt_trainer_zero_gradients(s.trainer));
  forward(&s);
  ok(tpt_trainer_loss(s.trainer, others, &loss));
  double last = loss_of(&s);
  ck_assert(last != loss);
  memset(s.targets, 0, sizeof s.targets); /* targets were copied */
  ok(tpt_trainer_backward(s.trainer));
  float *got = copy_gradients(s.trainer, &count);
  ck_assert_uint_eq(tpti_test_first_difference(got, want, count), count);
  free(got);
  free(want);
  end(&s);
}
END_TEST

START_TEST(activations_stay_until_the_next) {
  session s = start("");
  const float *values;
  float copy[ROWS * D];
  size_t count;
  double loss;
  ck_assert_int_eq(tpt_trainer_activation(s.trainer, TPT_POINT_EMBEDDING, 0, &values, &count),
                   TPT_E_STATE);
  for (int p = TPT_POINT_EMBEDDING; p <= TPT_POINT_BLOCK; p++) {
    for (size_t l = 0; l < (p == TPT_POINT_EMBEDDING ? 1 : L); l++) {
      forward(&s);
      ok(tpt_trainer_activation(s.trainer, (tpt_point)p, l, &values, &count));
      ck_assert_uint_eq(count, ROWS * D);
      memcpy(copy, values, sizeof copy);
      loss_of(&s);
      ok(tpt_trainer_backward(s.trainer));
      ok(tpt_optimizer_set_lr(s.optimizer, 0));
      ok(tpt_optimizer_step(s.optimizer, NULL));
      ok(tpt_trainer_activation(s.trainer, (tpt_point)p, l, &values, &count));
      ck_assert_uint_eq(tpti_test_first_difference(copy, values, ROWS * D), ROWS * D);
      ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
      ok(tpt_trainer_activation(s.trainer, (tpt_point)p, l, &values, &count));
      ck_assert_uint_eq(tpti_test_first_difference(copy, values, ROWS * D), ROWS * D);
    }
  }
  refused(s.trainer, tpt_trainer_activation(s.trainer, TPT_POINT_BLOCK, L, &values, &count),
          TPT_E_ARGUMENT, "layer is 2; 0 to 1 is allowed");
  refused(s.trainer, tpt_trainer_activation(s.trainer, TPT_POINT_EMBEDDING, 1, &values, &count),
          TPT_E_ARGUMENT, "layer is 1; the embedding stands before all layers");
  refused(s.trainer, tpt_trainer_activation(s.trainer, (tpt_point)4, 0, &values, &count),
          TPT_E_ARGUMENT, "point");
  end(&s);
}
END_TEST

/* A backward takes neither the logits nor the loss of its forward away, nor what is kept outside a
 * block that is computed again. */
START_TEST(after_a_backward) {
  session s = start(_i ? "train.recompute=block" : "");
  static float logits[ROWS * V], block[ROWS * D];
  const float *values;
  size_t count;
  forward(&s);
  ok(tpt_trainer_logits(s.trainer, &values));
  memcpy(logits, values, sizeof logits);
  ok(tpt_trainer_activation(s.trainer, TPT_POINT_BLOCK, 0, &values, &count));
  memcpy(block, values, sizeof block);
  double before = loss_of(&s);
  ok(tpt_trainer_backward(s.trainer));
  ck_assert(loss_of(&s) == before);
  ok(tpt_trainer_logits(s.trainer, &values));
  ck_assert_uint_eq(tpti_test_first_difference(logits, values, ROWS * V), ROWS * V);
  ok(tpt_trainer_activation(s.trainer, TPT_POINT_BLOCK, 0, &values, &count));
  ck_assert_uint_eq(tpti_test_first_difference(block, values, ROWS * D), ROWS * D);
  end(&s);
}
END_TEST

/* Tokens were copied; another trainer's step is a change of the weights like any other. */
START_TEST(two_trainers_of_one_model) {
  session s = start("train.warmup=0");
  tpt_trainer *second;
  size_t count;
  double loss;
  float *want = accumulated(&s, BATCH, MOST, &count);
  ok(tpt_trainer_create(s.model, NULL, &second));
  ok(tpt_trainer_forward(second, s.tokens, BATCH, MOST));
  memset(s.tokens, 0, sizeof s.tokens);
  ok(tpt_trainer_loss(second, s.targets, &loss));
  ok(tpt_trainer_backward(second));
  float *got = copy_gradients(second, &count);
  ck_assert_uint_eq(tpti_test_first_difference(got, want, count), count);
  ok(tpt_trainer_forward(second, s.tokens, BATCH, MOST));
  ok(tpt_optimizer_step(s.optimizer, NULL));
  refused(second, tpt_trainer_loss(second, s.targets, &loss), TPT_E_STATE, "changed");
  tpt_trainer_destroy(second);
  free(got);
  free(want);
  end(&s);
}
END_TEST

START_TEST(room_and_shapes) {
  session s = start("train.seq_len=4; train.batch=5");
  double loss;
  ok(tpt_trainer_forward(s.trainer, s.tokens, 1, MOST)); /* 16 of 20 */
  ok(tpt_trainer_forward(s.trainer, s.tokens, 20, 1));
  ok(tpt_trainer_forward(s.trainer, s.tokens, 1, 1));
  ok(tpt_trainer_loss(s.trainer, s.targets, &loss));
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, 21, 1), TPT_E_ARGUMENT, "20");
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, 1, MOST + 1), TPT_E_ARGUMENT, "seq");
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, 0, 4), TPT_E_ARGUMENT, "batch");
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, 4, 0), TPT_E_ARGUMENT, "seq");
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, SIZE_MAX / 2 + 1, 2), TPT_E_ARGUMENT,
          "batch");
  end(&s);
}
END_TEST

/* With what is allowed beside the ids; an ignore_index that is an id says nothing of itself. */
START_TEST(targets_that_are_not_ids) {
  static const char *const settings[] = {"", "train.ignore_index=-100", "train.ignore_index=3"};
  static const char *const words[] = {
      "targets[5] is 99; ids from 0 to below model.vocab_size (23) and -1 (train.ignore_index) are "
      "allowed",
      "targets[5] is 99; ids from 0 to below model.vocab_size (23) and -100 (train.ignore_index) "
      "are "
      "allowed",
      "targets[5] is 99; ids from 0 to below model.vocab_size (23) are allowed"};
  session s = start(settings[_i]);
  double loss;
  s.targets[5] = 99;
  refused(s.trainer, tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss),
          TPT_E_ARGUMENT, words[_i]);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  refused(s.trainer, tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_ARGUMENT, words[_i]);
  s.tokens[7] = -1;
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST), TPT_E_ARGUMENT,
          "tokens[7] is -1; ids from 0 to below model.vocab_size (23) are allowed");
  end(&s);
}
END_TEST

START_TEST(the_description_must_be_the_models) {
  session s = start("");
  tpt_trainer *trainer = (tpt_trainer *)s.model;
  tpt_config *other = describe("model.d_ff=28"), *larger = describe("train.batch=7");
  refused(s.model, tpt_trainer_create(s.model, other, &trainer), TPT_E_CONFIG, "model.d_ff");
  ck_assert_ptr_null(trainer);
  ok(tpt_trainer_create(s.model, larger, &trainer));
  int32_t tokens[7 * MOST] = {0};
  ok(tpt_trainer_forward(trainer, tokens, 7, MOST));
  tpt_config_destroy(other);
  tpt_config_destroy(larger);
  tpt_trainer_destroy(trainer);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/trainer");
  TCase *tests = tcase_create("trainer");
  tcase_add_test(tests, first_comes_forward);
  tcase_add_test(tests, accumulate_ends_a_forward);
  tcase_add_test(tests, one_backward_a_forward);
  tcase_add_test(tests, changed_weights_end_a_forward);
  tcase_add_test(tests, a_refused_call_ends_nothing);
  tcase_add_test(tests, loss_again_with_other_targets);
  tcase_add_test(tests, activations_stay_until_the_next);
  tcase_add_loop_test(tests, after_a_backward, 0, 2);
  tcase_add_test(tests, two_trainers_of_one_model);
  tcase_add_test(tests, room_and_shapes);
  tcase_add_loop_test(tests, targets_that_are_not_ids, 0, 3);
  tcase_add_test(tests, the_description_must_be_the_models);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
