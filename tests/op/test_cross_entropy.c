/* Cross-entropy against its equation in float64. */
#include "op/cross_entropy.h"

#include "gradient.h"
#include "support/runner.h"

enum { IGNORE = -1 };

typedef struct shape {
  size_t R, V;
} shape;

static const shape shapes[] = {{1, 1},  {2, 2},  {3, 3},   {5, 5},   {7, 7},   {3, 17},
                               {4, 33}, {2, 65}, {3, 127}, {2, 515}, {65, 10}, {129, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static double logsumexp_of(const double *z, size_t V) {
  double top = z[0], sum = 0;
  for (size_t v = 1; v < V; v++) top = fmax(top, z[v]);
  for (size_t v = 0; v < V; v++) sum += exp(z[v] - top);
  return top + log(sum);
}

/* Every fifth row is ignored. */
static int32_t *targets_of(arrays *a, const shape *s) {
  int32_t *targets = arrays_take(a, s->R * sizeof *targets);
  tpti_test_tokens(targets, s->R, (int32_t)s->V, 4);
  for (size_t r = 2; r < s->R; r += 5) targets[r] = IGNORE;
  return targets;
}

static float *logits_of(arrays *a, const shape *s) {
  float *logits = filled(a, s->R * s->V, 1);
  for (size_t i = 0; i < s->R * s->V; i++) logits[i] = logits[i] * 9 - 20;
  return logits;
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *logits = logits_of(&a, s);
  double *z = doubled(&a, logits, s->R * s->V), *loss = zeros(&a, s->R);
  int32_t *targets = targets_of(&a, s);
  for (size_t r = 0; r < s->R; r++) loss[r] = NAN;
  tpti_cross_entropy_forward(run, loss, logits, targets, IGNORE, s->R, s->V);
  for (size_t r = 0; r < s->R; r++) {
    double want = logsumexp_of(z + r * s->V, s->V);
    double want_loss = targets[r] == IGNORE ? 0 : want - z[r * s->V + (size_t)targets[r]];
    ck_assert_double_eq_tol(loss[r], want_loss, 3e-7);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

typedef struct problem {
  const double *z;
  const int32_t *targets;
  double weight;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  double sum = 0;
  for (size_t r = 0; r < p->s->R; r++) {
    const double *z = p->z + r * p->s->V;
    if (p->targets[r] != IGNORE) sum += logsumexp_of(z, p->s->V) - z[p->targets[r]];
  }
  return p->weight * sum;
}

/* The loss has forward's bits, and the gradient is the equation's. */
START_TEST(both_are_loss_and_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->R * s->V;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *logits = logits_of(&a, s);
  double *z = doubled(&a, logits, count), *want = zeros(&a, count);
  double *want_loss = zeros(&a, s->R), *loss = zeros(&a, s->R);
  int32_t *targets = targets_of(&a, s);
  problem p = {z, targets, 0.375, s};
  numeric_gradient(want, z, count, loss_of, &p);
  for (size_t r = 0; r < s->R; r++) loss[r] = NAN;
  tpti_cross_entropy_forward(run, want_loss, logits, targets, IGNORE, s->R, s->V);
  tpti_cross_entropy_both(run, loss, logits, targets, IGNORE, 0.375f, s->R, s->V);
  tpti_test_near(logits, want, count, near_backward);
  for (size_t r = 0; r < s->R; r++) ck_assert_double_eq(loss[r], want_loss[r]);
  for (size_t i = 0; i < count; i++) {
    if (targets[i / s->V] == IGNORE) ck_assert_float_eq(logits[i], 0);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* The equation's gradient of a row. */
static void gradient_of(double *dz, const double *z, int32_t target, double weight, size_t V) {
  double lse = logsumexp_of(z, V);
  for (size_t v = 0; v < V; v++) dz[v] = weight * (exp(z[v] - lse) - (v == (size_t)target));
}

static double sum_of(const float *logits, size_t r, size_t V) {
  double sum = 0;
  for (size_t v = 0; v < V; v++) sum += (double)logits[r * V + v];
  return sum;
}

/* The gradient of a row sums to 0: the probabilities sum to 1. */
START_TEST(large_vocabularies_stay_accurate) {
  const size_t sizes[] = {10000, 32000, 63999};
  const shape s = {2, sizes[_i]};
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *logits = logits_of(&a, &s);
  double *z = doubled(&a, logits, s.R * s.V), *loss = zeros(&a, s.R);
  double *want = zeros(&a, s.R * s.V);
  int32_t targets[2] = {(int32_t)s.V - 1, 0};
  tpti_cross_entropy_forward(run, loss, logits, targets, IGNORE, s.R, s.V);
  for (size_t r = 0; r < s.R; r++) {
    double want_loss = logsumexp_of(z + r * s.V, s.V) - z[r * s.V + (size_t)targets[r]];
    ck_assert_double_eq_tol(loss[r], want_loss, 1e-7);
  }
  tpti_cross_entropy_both(run, loss, logits, targets, IGNORE, 1, s.R, s.V);
  for (size_t r = 0; r < s.R; r++) ck_assert_double_eq_tol(sum_of(logits, r, s.V), 0, 2e-6);
  for (size_t r = 0; r < s.R; r++) gradient_of(want + r * s.V, z + r * s.V, targets[r], 1, s.V);
  tpti_test_near(logits, want, s.R * s.V, near_backward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

typedef struct special {
  float first, other, last; /* logits of a row of V; the target is 0 */
  double loss;              /* NaN: must be NaN */
} special;

static const special specials[] = {
    {1e30f, 0, -1e30f, 0},
    {-3e38f, -3e38f, -3e38f, 3.044522437723423},
    {3e38f, 3e38f, 3e38f, 3.044522437723423},
    {5, -INFINITY, -INFINITY, 0},
    {-INFINITY, 0, 0, INFINITY},
    {NAN, 0, 0, NAN},
    {0, 0, NAN, NAN},
    {0, NAN, 0, NAN},
    {INFINITY, 0, 0, NAN},
    {0, 0, INFINITY, NAN},
    {-INFINITY, -INFINITY, -INFINITY, NAN},
};
enum { SPECIALS = sizeof specials / sizeof specials[0] };

static void is_loss(double loss, const special *s) {
  if (isnan(s->loss)) {
    ck_assert_double_nan(loss);
  } else if (isinf(s->loss)) {
    ck_assert_double_infinite(loss);
  } else {
    /* Beside 3e38 the logarithm of 21 is lost, in double too. */
    ck_assert_double_eq_tol(loss, fabsf(s->first) > 1e38f ? 0 : s->loss, 1e-6);
  }
}

START_TEST(extreme_logits_reach_the_loss) {
  enum { V = 21 };
  const special *s = &specials[_i];
  tpti_run *run = tpti_test_run(1);
  float logits[V];
  double loss = 7;
  const int32_t target = 0;
  for (size_t v = 0; v < V; v++) logits[v] = v == 0 ? s->first : v < V - 1 ? s->other : s->last;
  tpti_cross_entropy_forward(run, &loss, logits, &target, IGNORE, 1, V);
  is_loss(loss, s);
  loss = 7;
  tpti_cross_entropy_both(run, &loss, logits, &target, IGNORE, 1, 1, V);
  is_loss(loss, s);
  tpti_test_run_free(run);
}
END_TEST

/* An ignored row counts for nothing even where its logits are not numbers. */
START_TEST(ignored_rows_hide_what_they_hold) {
  tpti_run *run = tpti_test_run(1);
  float logits[6] = {NAN, 1, 2, 0.5f, 0.5f, 0.5f};
  double loss[2] = {7, 7};
  const int32_t targets[2] = {2, 1};
  tpti_cross_entropy_forward(run, loss, logits, targets, 2, 2, 3);
  ck_assert_double_eq(loss[0], 0);
  ck_assert_double_eq_tol(loss[1], log(3), 1e-7);
  loss[0] = loss[1] = 7;
  tpti_cross_entropy_both(run, loss, logits, targets, 2, 1, 2, 3);
  ck_assert_double_eq(loss[0], 0);
  ck_assert_double_eq_tol(loss[1], log(3), 1e-7);
  for (size_t v = 0; v < 3; v++) ck_assert_float_eq(logits[v], 0);
  tpti_test_run_free(run);
}
END_TEST

/* Of logits around 10,000 a float's last bit is 0.001: what is left of their sum's logarithm must
 * not be lost. */
START_TEST(large_logits_keep_their_probabilities) {
  tpti_run *run = tpti_test_run(1);
  enum { V = 37 };
  float logits[V];
  double want[V], sum = 0, loss;
  const int32_t target = V - 1;
  for (size_t v = 0; v < V; v++) logits[v] = 10000 + (float)(v % 7) * 0.3f;
  for (size_t v = 0; v < V; v++) sum += want[v] = exp((double)logits[v] - 10000);
  for (size_t v = 0; v < V; v++) want[v] = want[v] / sum - (v == (size_t)target);
  double want_loss = 10000 + log(sum) - (double)logits[target];
  tpti_cross_entropy_forward(run, &loss, logits, &target, IGNORE, 1, V);
  ck_assert_double_eq_tol(loss, want_loss, 1e-6);
  tpti_cross_entropy_both(run, &loss, logits, &target, IGNORE, 1, 1, V);
  ck_assert_double_eq_tol(loss, want_loss, 1e-6);
  tpti_test_near(logits, want, V, 1e-6);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  const shape s = {137, 1003};
  size_t count = s.R * s.V;
  arrays a = {0};
  float *logits = logits_of(&a, &s), *gradient0 = NULL;
  double *loss0 = NULL;
  int32_t *targets = targets_of(&a, &s);
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *gradient = copied(&a, logits, count);
    double *loss = zeros(&a, s.R), *again = zeros(&a, s.R);
    tpti_cross_entropy_forward(run, loss, logits, targets, IGNORE, s.R, s.V);
    tpti_cross_entropy_both(run, again, gradient, targets, IGNORE, 0.1f, s.R, s.V);
    if (!loss0) loss0 = loss, gradient0 = gradient;
    ck_assert_mem_eq(loss, loss0, s.R * sizeof *loss);
    ck_assert_mem_eq(again, loss0, s.R * sizeof *again);
    same_bits(gradient, gradient0, count);
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("cross_entropy");
  TCase *c = tcase_create("cross_entropy");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_loop_test(c, both_are_loss_and_gradient, 0, SHAPES);
  tcase_add_loop_test(c, large_vocabularies_stay_accurate, 0, 3);
  tcase_add_loop_test(c, extreme_logits_reach_the_loss, 0, SPECIALS);
  tcase_add_test(c, ignored_rows_hide_what_they_hold);
  tcase_add_test(c, threads_do_not_change_bits);
  tcase_add_test(c, large_logits_keep_their_probabilities);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
