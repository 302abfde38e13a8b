/* The optimizer through public calls: schedule, AdamW's arithmetic in double, what a step keeps. */
#include "api/session.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double lr_of(const session *s) {
  double lr = -1;
  ok(tpt_optimizer_lr(s->optimizer, &lr));
  return lr;
}

static float *weights_of(session *s, size_t *count) {
  float *weights;
  ok(tpt_model_parameters(s->model, &weights, count));
  return weights;
}

static float *copy_weights(session *s, size_t *count) {
  float *weights = weights_of(s, count), *copy = malloc(*count * sizeof *copy);
  ck_assert_ptr_nonnull(copy);
  return memcpy(copy, weights, *count * sizeof *copy);
}

START_TEST(the_schedule) {
  session s = start("train.lr=0.25; train.warmup=4; train.steps=10; train.lr_floor=0.2");
  for (uint64_t step = 0; step < 14; step++) {
    double along = fmin(1.0, ((double)step - 4) / 6);
    double want =
        step < 4 ? 0.25 * (double)step / 4 : 0.25 * (0.2 + 0.8 * (1 + cos(pi * along)) / 2);
    uint64_t steps = 99;
    ck_assert_double_eq_tol(lr_of(&s), want, 1e-15);
    ok(tpt_optimizer_step_count(s.optimizer, &steps));
    ck_assert_uint_eq(steps, step);
    train_step(&s, step);
  }
  end(&s);
}
END_TEST

START_TEST(a_rate_instead_of_the_schedule) {
  session s = start("train.lr=0.25; train.warmup=0");
  ck_assert(lr_of(&s) == 0.25);
  ok(tpt_optimizer_set_lr(s.optimizer, 0.125));
  train_step(&s, 1);
  ck_assert(lr_of(&s) == 0.125);
  ok(tpt_optimizer_set_lr(s.optimizer, 0));
  ck_assert(lr_of(&s) == 0);
  refused(s.optimizer, tpt_optimizer_set_lr(s.optimizer, -1e-9), TPT_E_ARGUMENT, "lr");
  refused(s.optimizer, tpt_optimizer_set_lr(s.optimizer, INFINITY), TPT_E_ARGUMENT, "lr");
  refused(s.optimizer, tpt_optimizer_set_lr(s.optimizer, 1e300), TPT_E_ARGUMENT, "lr");
  refused(s.optimizer, tpt_optimizer_set_lr(s.optimizer, -INFINITY), TPT_E_ARGUMENT, "lr");
  ck_assert(lr_of(&s) == 0);
  ok(tpt_optimizer_set_lr(s.optimizer, NAN));
  ck_assert_double_eq_tol(lr_of(&s), 0.25 * (0.1 + 0.9 * (1 + cos(pi / 100)) / 2), 1e-12);
  end(&s);
}
END_TEST

START_TEST(a_rate_of_0_moves_nothing) {
  session s = start("train.warmup=5");
  size_t count;
  float *before = copy_weights(&s, &count);
  train_step(&s, 1);
  ck_assert_uint_eq(tpti_test_first_difference(before, weights_of(&s, &count), count), count);
  train_step(&s, 2);
  ck_assert_uint_ne(tpti_test_first_difference(before, weights_of(&s, &count), count), count);
  free(before);
  end(&s);
}
END_TEST

/* What a step must do to weight i, in double. */
typedef struct rule {
  double lr, theta_lr, decay, clip, accumulated;
  int all;
} rule;

static double moved(const rule *r, double w, double g, double m, double v, int theta, int matrix) {
  double lr = theta ? r->theta_lr : r->lr;
  double decay = r->all || matrix ? lr * r->decay : 0;
  (void)g;
  return w - decay * w - lr * m / (sqrt(v) + 1e-8);
}

/* Two steps with gradients of our own against the equations. */
static void check_two_steps(session *s, const rule *r) {
  size_t count, tensors;
  float *weights = weights_of(s, &count), *gradients;
  double *w = malloc(count * sizeof *w), *m = calloc(count, sizeof *m),
         *v = calloc(count, sizeof *v);
  ck_assert(w && m && v);
  ok(tpt_trainer_gradients(s->trainer, &gradients, &count));
  ok(tpt_model_tensor_count(s->model, &tensors));
  for (size_t i = 0; i < count; i++) w[i] = (double)weights[i];
  for (int t = 1; t <= 2; t++) {
    double square = 0, norm = -1;
    tpti_test_fill(gradients, count, (uint64_t)t);
    for (size_t i = 0; i < count; i++) square += (double)gradients[i] * (double)gradients[i];
    double want = sqrt(square) / r->accumulated;
    double scale = (r->clip > 0 && want > r->clip ? r->clip / (want + 1e-6) : 1) / r->accumulated;
    ok(tpt_optimizer_step(s->optimizer, &norm));
    ck_assert_double_eq_tol(norm, want, 1e-6 * want);
    for (size_t i = 0; i < tensors; i++) {
      tpt_tensor_info info;
      info.size = sizeof info;
      ok(tpt_model_tensor_info(s->model, i, &info));
      for (size_t j = info.offset; j < info.offset + info.count; j++) {
        double g = (double)gradients[j] * scale;
        m[j] = 0.9 * m[j] + 0.1 * g;
        v[j] = 0.99 * v[j] + 0.01 * g * g;
        w[j] = moved(r, w[j], g, m[j] / (1 - pow(0.9, t)), v[j] / (1 - pow(0.99, t)),
                     strstr(info.name, "theta") != NULL, info.ndim == 2);
      }
    }
  }
  for (size_t i = 0; i < count; i++)
    if (!(fabs((double)weights[i] - w[i]) <= 1e-6 * (1 + fabs(w[i]))))
      ck_abort_msg("weight %zu: %.9g in place of %.9g", i, (double)weights[i], w[i]);
  free(w);
  free(m);
  free(v);
}

#define OWN "train.beta1=0.9; train.beta2=0.99; train.warmup=0; train.lr=1e-2; train.steps=1000000;"

static const struct {
  const char *settings;
  rule rule;
} cases[] = {
    {OWN "train.weight_decay=0.1; train.clip=0", {1e-2, 1e-2, 0.1, 0, 1, 1}},
    {OWN "train.weight_decay=0.5; train.decay=matrices", {1e-2, 1e-2, 0.5, 1, 1, 0}},
    {OWN "train.weight_decay=0.1; train.clip=0.5; train.grad_accum=4",
     {1e-2, 1e-2, 0.1, 0.5, 4, 1}},
    {OWN "train.theta_lr=1e-3; train.weight_decay=0", {1e-2, 1e-3, 0, 1, 1, 1}},
    {OWN "train.theta_lr=0; train.weight_decay=0.3; train.clip=1e9", {1e-2, 0, 0.3, 1e9, 1, 1}},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(the_equations) {
  session s = start(cases[_i].settings);
  check_two_steps(&s, &cases[_i].rule);
  end(&s);
}
END_TEST

/* An override keeps the ratio of theta_lr to lr. */
START_TEST(the_angles_follow_an_override) {
  session s = start(OWN "train.theta_lr=2e-3; train.weight_decay=0");
  const rule r = {0.5, 0.1, 0, 1, 1, 1};
  ok(tpt_optimizer_set_lr(s.optimizer, 0.5));
  check_two_steps(&s, &r);
  end(&s);
}
END_TEST

START_TEST(frozen_angles_stay) {
  session s = start("train.theta_lr=0; train.warmup=0");
  float before[L][P / 2], after[L][P / 2];
  for (size_t l = 0; l < L; l++) ok(tpt_geometry_theta(s.model, l, before[l], P / 2));
  for (uint64_t i = 0; i < 5; i++) train_step(&s, i);
  for (size_t l = 0; l < L; l++) ok(tpt_geometry_theta(s.model, l, after[l], P / 2));
  ck_assert_mem_eq(before, after, sizeof before);
  end(&s);
}
END_TEST

/* A gradient that is no number: weights, moments and count stay, so that the next step is as if
 * nothing had been. */
START_TEST(not_a_number) {
  session a = start("train.warmup=0"), b = start("train.warmup=0");
  size_t count, place;
  float *gradients;
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  train_step(&a, 1);
  train_step(&b, 1);
  ok(tpt_trainer_gradients(a.trainer, &gradients, &count));
  for (int i = 0; i < 3; i++) {
    double norm = -7;
    uint64_t steps = 0;
    place = count / 3 * (size_t)i;
    float right = gradients[place];
    gradients[place] = bad[i];
    refused(a.optimizer, tpt_optimizer_step(a.optimizer, &norm), TPT_E_NUMERIC, "gradient of ");
    gradients[place] = right;
    ok(tpt_optimizer_step_count(a.optimizer, &steps));
    ck_assert(norm == -7 && steps == 1);
  }
  ck_assert(same_model_bytes(a.model, b.model));
  train_step(&a, 2);
  train_step(&b, 2);
  ck_assert(same_model_bytes(a.model, b.model));
  end(&a);
  end(&b);
}
END_TEST

/* The largest floats are numbers: their norm is too. */
START_TEST(the_largest_gradients) {
  session s = start("train.warmup=0");
  size_t count;
  float *gradients;
  double norm = 0;
  ok(tpt_trainer_gradients(s.trainer, &gradients, &count));
  for (size_t i = 0; i < count; i++) gradients[i] = 3e38f;
  ok(tpt_optimizer_step(s.optimizer, &norm));
  ck_assert_double_eq_tol(norm / (3e38 * sqrt((double)count)), 1, 1e-6);
  ck_assert_double_lt(train_step(&s, 3), 1e3);
  end(&s);
}
END_TEST

/* Cancelling does not cut a step. */
START_TEST(never_cancelled) {
  session s = start("train.warmup=0");
  double loss, norm = -1;
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, &loss));
  stop now = {.at = 1};
  ok(tpt_context_set_progress(s.context, stop_at, &now, NULL));
  ok(tpt_context_cancel(s.context, 1));
  ok(tpt_optimizer_step(s.optimizer, &norm));
  ok(tpt_optimizer_set_lr(s.optimizer, 0.5));
  ck_assert(norm > 0 && now.calls == 0 && lr_of(&s) == 0.5);
  end(&s);
}
END_TEST

/* Training pays: the loss of one batch falls. */
START_TEST(it_learns) {
  session s = start("train.warmup=0");
  double first = train_step(&s, 1), last = first;
  for (int i = 0; i < 25; i++) last = train_step(&s, 1);
  ck_assert_double_lt(last, 0.5 * first);
  end(&s);
}
END_TEST

START_TEST(two_optimizers_of_one_trainer) {
  session s = start("train.warmup=0");
  tpt_config *config = describe("train.warmup=0; train.lr=0.5"), *other = describe("model.d_ff=2");
  tpt_optimizer *second = NULL, *third = (tpt_optimizer *)s.model;
  double lr;
  ok(tpt_optimizer_create(s.trainer, config, &second));
  ok(tpt_optimizer_lr(second, &lr));
  ck_assert(lr == 0.5 && lr_of(&s) == 1e-2);
  refused(s.trainer, tpt_optimizer_create(s.trainer, other, &third), TPT_E_CONFIG, "model.d_ff");
  ck_assert_ptr_null(third);
  tpt_config_destroy(config);
  tpt_config_destroy(other);
  tpt_optimizer_destroy(second);
  end(&s);
}
END_TEST

/* The model's own description, whatever it has become since the trainer was made. */
START_TEST(a_changed_profile_is_the_models) {
  session s = start("");
  float profile[MOST];
  tpt_optimizer *second;
  for (size_t p = 0; p < MOST; p++) profile[p] = (float)p;
  ok(tpt_model_set_tensor(s.model, "embedding.dc_profile", profile, MOST));
  ok(tpt_optimizer_create(s.trainer, tpt_model_config(s.model), &second));
  tpt_optimizer_destroy(second);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/optimizer");
  TCase *tests = tcase_create("optimizer");
  tcase_add_test(tests, the_schedule);
  tcase_add_test(tests, a_rate_instead_of_the_schedule);
  tcase_add_test(tests, a_rate_of_0_moves_nothing);
  tcase_add_loop_test(tests, the_equations, 0, CASES);
  tcase_add_test(tests, the_angles_follow_an_override);
  tcase_add_test(tests, frozen_angles_stay);
  tcase_add_test(tests, not_a_number);
  tcase_add_test(tests, the_largest_gradients);
  tcase_add_test(tests, never_cancelled);
  tcase_add_test(tests, it_learns);
  tcase_add_test(tests, two_optimizers_of_one_trainer);
  tcase_add_test(tests, a_changed_profile_is_the_models);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
