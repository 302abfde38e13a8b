/* What comes out of a trainer: that all ways to the gradients agree, and what they are where that
 * can be said without a second implementation. */
#include "api/session.h"

#include <math.h>

static float *stepwise(session *s, size_t batch, size_t seq, double *loss, size_t *count) {
  ok(tpt_trainer_zero_gradients(s->trainer));
  ok(tpt_trainer_forward(s->trainer, s->tokens, batch, seq));
  ok(tpt_trainer_loss(s->trainer, s->targets, loss));
  ok(tpt_trainer_backward(s->trainer));
  return copy_gradients(s->trainer, count);
}

static int all_zero(const float *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i] != 0.0f) return 0;
  return 1;
}

static const char *const variants[] = {"",
                                       "train.recompute=block",
                                       "train.aux_coef=0.5",
                                       "model.dc.profile=learned",
                                       "model.dc.profile=none; model.rotation.mode=none",
                                       "model.rotation.mode=residual",
                                       "model.embedding.scale=sqrt_d; train.ignore_index=3"};
enum { VARIANTS = sizeof variants / sizeof *variants };

START_TEST(two_ways_the_same_bits) {
  static const size_t shapes[][2] = {{BATCH, MOST}, {1, MOST}, {2, 7}, {BATCH, 1}, {1, 1}};
  session s = start(variants[_i]);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    size_t count;
    double a, b;
    float *want = stepwise(&s, shapes[i][0], shapes[i][1], &a, &count);
    ok(tpt_trainer_zero_gradients(s.trainer));
    ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, shapes[i][0], shapes[i][1], &b));
    float *got = copy_gradients(s.trainer, &count);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert_uint_eq(tpti_test_first_difference(got, want, count), count);
    free(got);
    free(want);
  }
  end(&s);
}
END_TEST

/* (softmax - one) / targets counted, in double. */
static void gradient_of_logits(float *dlogits, const float *logits, const int32_t *targets) {
  size_t counted = 0;
  for (size_t m = 0; m < ROWS; m++) counted += targets[m] != -1;
  memset(dlogits, 0, ROWS * V * sizeof *dlogits);
  for (size_t m = 0; m < ROWS; m++) {
    double sum = 0;
    if (targets[m] == -1) continue;
    for (size_t v = 0; v < V; v++) sum += exp((double)logits[m * V + v]);
    for (size_t v = 0; v < V; v++) {
      double share = exp((double)logits[m * V + v]) / sum - (targets[m] == (int32_t)v);
      dlogits[m * V + v] = (float)(share / (double)counted);
    }
  }
}

/* With the auxiliary loss on, backward_logits leaves it out. */
START_TEST(a_loss_of_the_callers_own) {
  session s = start("");
  session aux = start("train.aux_coef=2");
  float dlogits[ROWS * V];
  const float *logits;
  size_t count;
  double loss;
  s.targets[4] = s.targets[17] = -1;
  float *want = stepwise(&s, BATCH, MOST, &loss, &count);
  ok(tpt_trainer_forward(aux.trainer, s.tokens, BATCH, MOST));
  ok(tpt_trainer_logits(aux.trainer, &logits));
  gradient_of_logits(dlogits, logits, s.targets);
  ok(tpt_trainer_backward_logits(aux.trainer, dlogits, ROWS * V)); /* no _loss is needed */
  float *got = copy_gradients(aux.trainer, &count);
  ck_assert_double_le(tpti_test_error_float(got, want, count), 1e-6);
  free(got);
  free(want);
  end(&aux);
  end(&s);
}
END_TEST

START_TEST(the_loss_is_the_mean_of_the_logits_surprise) {
  session s = start("train.ignore_index=3");
  const float *logits;
  double loss, want = 0, counted = 0;
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_trainer_logits(s.trainer, &logits));
  for (size_t m = 0; m < ROWS; m++) {
    double sum = 0;
    if (s.targets[m] == 3) continue;
    for (size_t v = 0; v < V; v++) sum += exp((double)logits[m * V + v]);
    want += log(sum) - (double)logits[m * V + (size_t)s.targets[m]];
    counted++;
  }
  ck_assert(counted < ROWS);
  ok(tpt_trainer_loss(s.trainer, s.targets, &loss));
  ck_assert_double_eq_tol(loss, want / counted, 1e-6 * loss);
  end(&s);
}
END_TEST

START_TEST(all_targets_ignored) {
  session s = start(_i ? "train.recompute=block; train.ignore_index=3" : "");
  size_t count;
  double loss = -1;
  for (size_t m = 0; m < ROWS; m++) s.targets[m] = _i ? 3 : -1;
  float *gradients = stepwise(&s, BATCH, MOST, &loss, &count);
  ck_assert(loss == 0.0);
  ck_assert(all_zero(gradients, count));
  free(gradients);
  gradients = accumulated(&s, BATCH, MOST, &count);
  ck_assert(all_zero(gradients, count));
  free(gradients);
  double norm = -1;
  ok(tpt_optimizer_step(s.optimizer, &norm));
  ck_assert(norm == 0.0);
  end(&s);
}
END_TEST

/* Then the auxiliary loss is left: aux_coef mean((sum of the phase means)^2). With a profile it
 * would have no gradient: the sum is N r(p) whatever the weights are. */
START_TEST(all_ignored_but_the_auxiliary_loss) {
  session s = start("train.aux_coef=0.5; model.dc.profile=none");
  const float *x;
  size_t count;
  double loss = -1, want = 0;
  for (size_t m = 0; m < ROWS; m++) s.targets[m] = -1;
  float *gradients = stepwise(&s, BATCH, MOST, &loss, &count);
  ck_assert(!all_zero(gradients, V * D));
  free(gradients);
  ok(tpt_trainer_activation(s.trainer, TPT_POINT_EMBEDDING, 0, &x, &count));
  for (size_t m = 0; m < ROWS; m++) {
    double sum = 0;
    for (size_t d = 0; d < D; d++) sum += (double)x[m * D + d] / P;
    want += sum * sum / ROWS;
  }
  ck_assert_double_eq_tol(loss, 0.5 * want, 1e-5 * loss);
  end(&s);
}
END_TEST

/* A position that sees itself alone has no use for its scores. */
START_TEST(one_position_has_no_score_gradient) {
  session s = start(variants[_i]);
  size_t count;
  float q[D * D], k[D * D / 2], v[D * D / 2];
  float *gradients = accumulated(&s, BATCH, 1, &count);
  for (int l = 0; l < L; l++) {
    char name[64];
    snprintf(name, sizeof name, "blocks.%d.attn.q.weight", l);
    ok(tpt_trainer_get_gradient(s.trainer, name, q, D * D));
    snprintf(name, sizeof name, "blocks.%d.attn.k.weight", l);
    ok(tpt_trainer_get_gradient(s.trainer, name, k, D * D / 2));
    snprintf(name, sizeof name, "blocks.%d.attn.v.weight", l);
    ok(tpt_trainer_get_gradient(s.trainer, name, v, D * D / 2));
    ck_assert(all_zero(q, D * D) && all_zero(k, D * D / 2) && !all_zero(v, D * D / 2));
  }
  free(gradients);
  end(&s);
}
END_TEST

START_TEST(gradients_are_sums) {
  session s = start("");
  size_t count;
  double loss;
  float *one = accumulated(&s, 2, MOST, &count);
  float *gradients;
  ok(tpt_trainer_gradients(s.trainer, &gradients, &count));
  for (int i = 1; i < 3; i++) {
    ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, 2, MOST, &loss));
  }
  for (size_t i = 0; i < count; i++) one[i] *= 3;
  ck_assert_double_le(tpti_test_error_float(gradients, one, count), 1e-6);
  free(one);
  end(&s);
}
END_TEST

/* forward, logits, loss and reading leave the gradients alone. */
START_TEST(only_backward_touches_them) {
  session s = start("");
  size_t count;
  double loss;
  const float *logits;
  float *gradients;
  ok(tpt_trainer_gradients(s.trainer, &gradients, &count));
  ck_assert(all_zero(gradients, count));
  tpti_test_fill(gradients, count, 5);
  float *before = copy_gradients(s.trainer, &count);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_trainer_logits(s.trainer, &logits));
  ok(tpt_trainer_loss(s.trainer, s.targets, &loss));
  ck_assert_uint_eq(tpti_test_first_difference(gradients, before, count), count);
  ok(tpt_optimizer_step(s.optimizer, NULL)); /* and a step leaves them as they were */
  ck_assert_uint_eq(tpti_test_first_difference(gradients, before, count), count);
  ok(tpt_trainer_zero_gradients(s.trainer));
  ck_assert(all_zero(gradients, count));
  free(before);
  end(&s);
}
END_TEST

START_TEST(gradients_by_name) {
  session s = start("");
  size_t count, tensors;
  float *all = accumulated(&s, BATCH, MOST, &count), one[D * D];
  ok(tpt_model_tensor_count(s.model, &tensors));
  for (size_t i = 0; i < tensors; i++) {
    tpt_tensor_info info;
    info.size = sizeof info;
    ok(tpt_model_tensor_info(s.model, i, &info));
    ok(tpt_trainer_get_gradient(s.trainer, info.name, one, info.count));
    ck_assert_mem_eq(one, all + info.offset, info.count * sizeof *one);
    refused(s.trainer, tpt_trainer_get_gradient(s.trainer, info.name, one, info.count + 1),
            TPT_E_ARGUMENT, "count");
    refused(s.trainer, tpt_trainer_get_gradient(s.trainer, info.name, one, info.count - 1),
            TPT_E_ARGUMENT, "count");
  }
  refused(s.trainer, tpt_trainer_get_gradient(s.trainer, "head.bias", one, V), TPT_E_ARGUMENT,
          "head.bias");
  refused(s.trainer, tpt_trainer_get_gradient(s.trainer, "embedding.dc_profile", one, MOST),
          TPT_E_ARGUMENT, "dc_profile"); /* a fixed one has no gradient */
  free(all);
  end(&s);
}
END_TEST

START_TEST(recompute_gives_the_same_bits) {
  session a = start(""), b = start("train.recompute=block");
  size_t count;
  float *want = accumulated(&a, BATCH, MOST, &count), *got = accumulated(&b, BATCH, MOST, &count);
  ck_assert_uint_eq(tpti_test_first_difference(got, want, count), count);
  for (size_t l = 0; l < L; l++) {
    const float *x = NULL, *y;
    ok(tpt_trainer_activation(a.trainer, TPT_POINT_BLOCK, l, &y, &count));
    ok(tpt_trainer_activation(b.trainer, TPT_POINT_BLOCK, l, &x, &count));
    ck_assert_uint_eq(tpti_test_first_difference(x, y, count), count);
    x = NULL;
    for (int p = TPT_POINT_ATTENTION; p <= TPT_POINT_ROTATION; p++)
      refused(b.trainer, tpt_trainer_activation(b.trainer, (tpt_point)p, l, &x, &count),
              TPT_E_UNSUPPORTED, "recompute");
    ck_assert_ptr_null(x);
  }
  free(want);
  free(got);
  end(&a);
  end(&b);
}
END_TEST

/* The change of the loss along the gradient is the gradient's square: a central difference. */
START_TEST(the_slope_of_the_loss) {
  session s = start(variants[_i]);
  size_t count;
  float *gradients = accumulated(&s, BATCH, MOST, &count), *weights;
  double square = 0, loss[2];
  ok(tpt_model_parameters(s.model, &weights, &count));
  for (size_t i = 0; i < count; i++) square += (double)gradients[i] * (double)gradients[i];
  float step = (float)(2e-2 / sqrt(square));
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < count; i++) weights[i] += (side ? -2 : 1) * step * gradients[i];
    ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
    ok(tpt_trainer_loss(s.trainer, s.targets, &loss[side]));
  }
  double slope = (loss[0] - loss[1]) / (2 * (double)step);
  ck_assert_double_eq_tol(slope, square, 3e-3 * square);
  free(gradients);
  end(&s);
}
END_TEST

/* Rows do not see each other, nor a position a later one. */
START_TEST(what_a_row_may_see) {
  session s = start("");
  static float all[ROWS * V];
  const float *logits;
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_trainer_logits(s.trainer, &logits));
  memcpy(all, logits, sizeof all);
  for (size_t b = 0; b < BATCH; b++) {
    ok(tpt_trainer_forward(s.trainer, s.tokens + b * MOST, 1, 9));
    ok(tpt_trainer_logits(s.trainer, &logits));
    ck_assert_double_le(tpti_test_error_float(logits, all + b * MOST * V, 9 * V), 1e-6);
  }
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/trainer_gradients");
  TCase *tests = tcase_create("gradients");
  tcase_add_loop_test(tests, two_ways_the_same_bits, 0, VARIANTS);
  tcase_add_test(tests, a_loss_of_the_callers_own);
  tcase_add_test(tests, the_loss_is_the_mean_of_the_logits_surprise);
  tcase_add_loop_test(tests, all_targets_ignored, 0, 2);
  tcase_add_test(tests, all_ignored_but_the_auxiliary_loss);
  tcase_add_loop_test(tests, one_position_has_no_score_gradient, 0, VARIANTS);
  tcase_add_test(tests, gradients_are_sums);
  tcase_add_test(tests, only_backward_touches_them);
  tcase_add_test(tests, gradients_by_name);
  tcase_add_test(tests, recompute_gives_the_same_bits);
  tcase_add_loop_test(tests, the_slope_of_the_loss, 0, VARIANTS);
  tcase_add_test(tests, what_a_row_may_see);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
