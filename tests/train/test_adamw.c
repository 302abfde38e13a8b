/* The optimizer's step against AdamW in double, for every class of tensor. */
#include "train/adamw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"
#include "train/clip.h"

/* Larger than one block of the flat arrays, so that tensors are cut. */
static const tpti_dims dims = {.V = 3000,
                               .D = 12,
                               .L = 2,
                               .H = 3,
                               .K = 3,
                               .F = 10,
                               .N = 3,
                               .max_seq_len = 8,
                               .dc = TPTI_DC_LEARNED};

static const tpti_recipe plain = {.grad_accum = 2,
                                  .steps = 100,
                                  .warmup = 1,
                                  .lr = 0.01,
                                  .lr_floor = 0.1,
                                  .theta_lr = 0.03,
                                  .beta1 = 0.9,
                                  .beta2 = 0.99,
                                  .eps = 1e-8,
                                  .weight_decay = 0.1,
                                  .decay = TPTI_DECAY_MATRICES,
                                  .clip = 1.0};

typedef struct bench {
  tpti_params params;
  tpti_adamw adamw;
  float *weights, *gradients;
  double *w, *m, *v; /* the reference */
  void *block;
  tpti_run *run;
} bench;

static void layout(bench *b, tpti_plan *plan) {
  tpti_params_layout(&b->params, &dims, plan);
  tpti_adamw_layout(&b->adamw, &b->params, plan);
  b->weights = tpti_place(plan, b->params.count, sizeof(float));
  b->gradients = tpti_place(plan, b->params.count, sizeof(float));
  b->w = tpti_place(plan, b->params.count, sizeof(double));
  b->m = tpti_place(plan, b->params.count, sizeof(double));
  b->v = tpti_place(plan, b->params.count, sizeof(double));
}

/* Filled in place: the optimizer points at the table beside it. */
static void start(bench *at) {
  *at = (bench){0};
  tpti_plan plan = {0};
  layout(at, &plan);
  size_t bytes = plan.used;
  at->block = aligned_alloc(TPTI_ALIGNMENT, bytes);
  ck_assert_ptr_nonnull(at->block);
  memset(at->block, 0, bytes);
  plan = (tpti_plan){.base = at->block};
  layout(at, &plan);
  tpti_test_fill(at->weights, at->params.count, 1);
  for (size_t i = 0; i < at->params.count; i++) at->w[i] = (double)at->weights[i];
  at->run = tpti_test_run(2);
}

static void end(bench *b) {
  tpti_test_run_free(b->run);
  free(b->block);
}

/* One step in double, tensor by tensor, from the equations. */
static double reference_step(bench *b, const tpti_recipe *r, double t, double share) {
  double sum = 0.0;
  for (size_t i = 0; i < b->params.count; i++) sum += pow((double)b->gradients[i], 2);
  double norm = sqrt(sum) / (double)r->grad_accum;
  double scale = (norm > r->clip ? r->clip / norm : 1.0) / (double)r->grad_accum;
  for (size_t j = 0; j < b->params.tensor_count; j++) {
    const tpti_tensor *x = &b->params.tensors[j];
    bool theta = strstr(x->name, "pr.theta") != NULL;
    double lr = share * (theta ? r->theta_lr : r->lr);
    double decay = r->decay == TPTI_DECAY_ALL || x->ndim == 2 ? r->weight_decay : 0.0;
    for (size_t i = x->offset; i < x->offset + x->count; i++) {
      double g = (double)b->gradients[i] * scale;
      b->w[i] -= lr * decay * b->w[i];
      b->m[i] = r->beta1 * b->m[i] + (1 - r->beta1) * g;
      b->v[i] = r->beta2 * b->v[i] + (1 - r->beta2) * g * g;
      double m = b->m[i] / (1 - pow(r->beta1, t)), v = b->v[i] / (1 - pow(r->beta2, t));
      b->w[i] -= lr * m / (sqrt(v) + r->eps);
    }
  }
  return norm;
}

static void check_steps(const tpti_recipe *r, double override) {
  bench b;
  start(&b);
  b.adamw.lr_override = override;
  static const double shares[3] = {0.0, 1.0,
                                   0.99977}; /* of the schedule at 0, 1 and 2 steps done */
  for (int step = 0; step < 3; step++) {
    double norm, share = isnan(override) ? shares[step] : override / r->lr;
    tpti_test_fill(b.gradients, b.params.count, 10 + (uint64_t)step);
    ck_assert_int_eq(tpti_adamw_step_all(b.run, &b.adamw, r, b.weights, b.gradients, &norm),
                     TPT_OK);
    double want = reference_step(&b, r, step + 1.0, share);
    ck_assert_double_eq_tol(norm, want, 1e-9 * want);
    tpti_test_near(b.weights, b.w, b.params.count, 1e-6);
  }
  ck_assert_uint_eq(b.adamw.steps, 3);
  end(&b);
}

START_TEST(three_steps_of_the_schedule) { check_steps(&plain, (double)NAN); }
END_TEST

START_TEST(override_keeps_the_ratio_of_the_angles) { check_steps(&plain, 0.02); }
END_TEST

START_TEST(decay_of_everything) {
  tpti_recipe all = plain;
  all.decay = TPTI_DECAY_ALL;
  all.clip = 0.0;
  all.grad_accum = 1;
  tpti_recipe unclipped = all;
  unclipped.clip = 1e30; /* the reference's way to say: off */
  bench b;
  start(&b);
  b.adamw.lr_override = 0.01;
  double norm;
  tpti_test_fill(b.gradients, b.params.count, 3);
  ck_assert_int_eq(tpti_adamw_step_all(b.run, &b.adamw, &all, b.weights, b.gradients, &norm),
                   TPT_OK);
  reference_step(&b, &unclipped, 1.0, 1.0);
  tpti_test_near(b.weights, b.w, b.params.count, 1e-6);
  end(&b);
}
END_TEST

START_TEST(not_finite_changes_nothing) {
  bench b;
  start(&b);
  double norm = -7.0;
  tpti_test_fill(b.gradients, b.params.count, 3);
  const tpti_tensor *bad = tpti_params_find(&b.params, "blocks.1.ff.up.weight");
  b.gradients[bad->offset + 5] = INFINITY;
  tpt_status status = tpti_adamw_step_all(b.run, &b.adamw, &plain, b.weights, b.gradients, &norm);
  ck_assert_int_eq(status, TPT_E_NUMERIC);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), bad->name));
  tpti_test_near(b.weights, b.w, b.params.count, 0.0);
  ck_assert_uint_eq(b.adamw.steps, 0);
  ck_assert(b.adamw.m[0] == 0.0f && norm == -7.0);
  end(&b);
}
END_TEST

START_TEST(gradients_stay) {
  bench b;
  start(&b);
  float copy[100];
  double norm;
  tpti_test_fill(b.gradients, b.params.count, 4);
  memcpy(copy, b.gradients, sizeof copy);
  ck_assert_int_eq(tpti_adamw_step_all(b.run, &b.adamw, &plain, b.weights, b.gradients, &norm),
                   TPT_OK);
  ck_assert_uint_eq(tpti_test_first_difference(copy, b.gradients, 100), 100);
  end(&b);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("train adamw");
  TCase *tests = tcase_create("adamw");
  tcase_add_test(tests, three_steps_of_the_schedule);
  tcase_add_test(tests, override_keeps_the_ratio_of_the_angles);
  tcase_add_test(tests, decay_of_everything);
  tcase_add_test(tests, not_finite_changes_nothing);
  tcase_add_test(tests, gradients_stay);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
