/* Where numbers stop being finite is said by name: the embedding, the block or the head for a loss,
 * the tensor for a gradient. */
#include "api/session.h"

#include <math.h>

/* The only value of a tensor, its first, is bad; what the loss then says. */
static void spoil(session *s, const char *name, float value, const char *where) {
  float values[D * D], was; /* the largest of them */
  size_t count = 0;
  double loss = -7;
  tpt_tensor_info info = {.size = sizeof info};
  for (size_t i = 0; count == 0; i++) {
    ok(tpt_model_tensor_info(s->model, i, &info));
    if (strcmp(info.name, name) == 0) count = info.count;
  }
  ck_assert_uint_le(count, D * D);
  ok(tpt_model_get_tensor(s->model, name, values, count));
  was = values[0];
  values[0] = value;
  ok(tpt_model_set_tensor(s->model, name, values, count));
  ok(tpt_trainer_zero_gradients(s->trainer));
  tpt_status status = tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, BATCH, MOST, &loss);
  refused(s->trainer, status, TPT_E_NUMERIC, where);
  ok(tpt_trainer_forward(s->trainer, s->tokens, BATCH, MOST));
  refused(s->trainer, tpt_trainer_loss(s->trainer, s->targets, &loss), TPT_E_NUMERIC, where);
  ck_assert(loss == -7);
  values[0] = was;
  ok(tpt_model_set_tensor(s->model, name, values, count));
}

/* The first token is 0, so that row 0 of the embedding is read. */
START_TEST(the_loss_says_where) {
  static const char *const settings[] = {"", "train.recompute=block", "model.rotation.mode=none",
                                         "train.precision=bf16x3"};
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  session s = start(settings[_i]);
  s.tokens[0] = 0;
  for (int i = 0; i < 3; i++) {
    spoil(&s, "embedding.token_emb.weight", bad[i], "the embedding is not");
    spoil(&s, "blocks.0.attn.q.weight", bad[i], "the stream is not after block 0");
    spoil(&s, "blocks.0.n2.norms.1.weight", bad[i], "the stream is not after block 0");
    spoil(&s, "blocks.1.ff.down.weight", bad[i], "the stream is not after block 1");
    spoil(&s, "head.weight", bad[i], "so it is the head");
  }
  ok(tpt_trainer_zero_gradients(s.trainer));
  train_step(&s, 1);
  end(&s);
}
END_TEST

/* One bad element in each tensor in turn, first, middle or last of it. */
START_TEST(the_gradient_is_named) {
  session s = start("train.warmup=0");
  float *gradients;
  size_t count, tensors;
  train_step(&s, 1);
  ok(tpt_trainer_gradients(s.trainer, &gradients, &count));
  ok(tpt_model_tensor_count(s.model, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info = {.size = sizeof info};
    char want[128];
    ok(tpt_model_tensor_info(s.model, i, &info));
    snprintf(want, sizeof want, "the gradient of %s is not finite", info.name);
    size_t place = info.offset + i % 3 * (info.count - 1) / 2;
    float right = gradients[place];
    gradients[place] = i % 2 ? INFINITY : NAN;
    if (i + 1 < tensors) gradients[count - 1] = NAN; /* a later one as well: the first is named */
    refused(s.optimizer, tpt_optimizer_step(s.optimizer, NULL), TPT_E_NUMERIC, want);
    gradients[count - 1] = 0;
    gradients[place] = right;
  }
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/not_finite");
  TCase *tests = tcase_create("not_finite");
  tcase_add_loop_test(tests, the_loss_says_where, 0, 4);
  tcase_add_test(tests, the_gradient_is_named);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
