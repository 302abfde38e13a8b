/* What spoils a trainer's gradients, and what failures end or leave. */
#include "api/session.h"

#include <math.h>

#define NOWHERE ((double)-77)

static void forward(session *s) { ok(tpt_trainer_forward(s->trainer, s->tokens, BATCH, MOST)); }

static double loss_of(session *s) {
  double loss;
  ok(tpt_trainer_loss(s->trainer, s->targets, &loss));
  return loss;
}

static void spoil_embedding(session *s, float value) {
  float *weights;
  size_t count;
  ok(tpt_model_parameters(s->model, &weights, &count));
  weights[s->tokens[0] * D] = value;
}

/* Gradients that must not be used: every call that would is refused until they are cleared. */
static void spoiled(session *s) {
  double loss = NOWHERE, norm = NOWHERE;
  refused(s->optimizer, tpt_optimizer_step(s->optimizer, &norm), TPT_E_STATE, "zero_gradients");
  forward(s);
  loss_of(s);
  refused(s->trainer, tpt_trainer_backward(s->trainer), TPT_E_STATE, "zero_gradients");
  refused(s->trainer, tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, BATCH, MOST, &loss),
          TPT_E_STATE, "zero_gradients");
  ck_assert(loss == NOWHERE && norm == NOWHERE);
  ok(tpt_trainer_zero_gradients(s->trainer));
  forward(s);
  loss_of(s);
  ok(tpt_trainer_backward(s->trainer));
  ok(tpt_optimizer_step(s->optimizer, &norm));
  ck_assert_double_gt(norm, 0);
}

START_TEST(a_loss_that_is_no_number) {
  session s = start("");
  double loss = NOWHERE;
  float right = 0;
  float *weights;
  size_t count;
  ok(tpt_model_parameters(s.model, &weights, &count));
  right = weights[s.tokens[0] * D];
  spoil_embedding(&s, NAN);
  forward(&s);
  refused(s.trainer, tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_NUMERIC, "not finite");
  refused(s.trainer, tpt_trainer_backward(s.trainer), TPT_E_STATE, "loss");
  refused(s.trainer, tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss),
          TPT_E_NUMERIC, "not finite");
  ck_assert(loss == NOWHERE);
  spoil_embedding(&s, right);
  spoiled(&s);
  end(&s);
}
END_TEST

/* _loss alone does not touch gradients, so its failure spoils none. */
START_TEST(loss_spoils_nothing) {
  session s = start("");
  double loss;
  float *weights;
  size_t count;
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  ok(tpt_model_parameters(s.model, &weights, &count));
  float right = weights[s.tokens[0] * D];
  spoil_embedding(&s, INFINITY);
  forward(&s);
  ck_assert_int_eq(tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_NUMERIC);
  spoil_embedding(&s, right);
  ok(tpt_optimizer_step(s.optimizer, NULL));
  end(&s);
}
END_TEST

START_TEST(cancelled_ways_back_spoil) {
  session s = start("");
  double loss = NOWHERE;
  static const float dlogits[ROWS * V];
  for (int way = 0; way < 3; way++) {
    forward(&s);
    loss_of(&s);
    ok(tpt_context_cancel(s.context, 1));
    tpt_status status =
        way == 0   ? tpt_trainer_backward(s.trainer)
        : way == 1 ? tpt_trainer_backward_logits(s.trainer, dlogits, ROWS * V)
                   : tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss);
    refused(s.trainer, status, TPT_E_CANCELLED, "cancel");
    ok(tpt_context_cancel(s.context, 0));
    spoiled(&s);
  }
  ck_assert(loss == NOWHERE);
  end(&s);
}
END_TEST

/* A cancelled forward is none, and spoils no gradients. */
START_TEST(cancelled_forward) {
  session s = start("");
  double loss;
  const float *values = NULL;
  size_t count = 0;
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  forward(&s);
  ok(tpt_context_cancel(s.context, 1));
  refused(s.trainer, tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST), TPT_E_CANCELLED, "");
  ok(tpt_context_cancel(s.context, 0));
  refused(s.trainer, tpt_trainer_loss(s.trainer, s.targets, &loss), TPT_E_STATE, "forward");
  refused(s.trainer, tpt_trainer_activation(s.trainer, TPT_POINT_BLOCK, 0, &values, &count),
          TPT_E_STATE, "forward");
  ck_assert(values == NULL && count == 0);
  ok(tpt_optimizer_step(s.optimizer, NULL));
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/trainer_spoiled");
  TCase *tests = tcase_create("spoiled");
  tcase_add_test(tests, a_loss_that_is_no_number);
  tcase_add_test(tests, loss_spoils_nothing);
  tcase_add_test(tests, cancelled_ways_back_spoil);
  tcase_add_test(tests, cancelled_forward);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
