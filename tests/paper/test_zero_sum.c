/* The zero-sum of the phases (3.4, 4.6): with a DC profile their means sum to N r(p) at every
 * position, whatever the weights are. */
#include "paper/sizes.h"

#include <math.h>

static double harmonic(size_t T) {
  double sum = 0;
  for (size_t p = T; p > 0; p--) sum += 1.0 / (double)p; /* the smallest first */
  return sum;
}

/* To six digits. */
static void check_residual(const session *s, double want) {
  double measured = -1, analytic = -1;
  ok(tpt_geometry_zero_sum(s->trainer, &measured, &analytic));
  ck_assert_double_eq_tol(measured, want, 1e-6 * want);
  ck_assert_double_eq_tol(analytic, want, 1e-6 * want);
}

/* Of a forward of batch rows of so many positions. */
static void check_at_length(session *s, size_t batch, size_t length, double want) {
  enum { LONGEST = 1024 };
  int32_t tokens[LONGEST];
  ck_assert_uint_le(batch * length, LONGEST);
  tpti_test_tokens(tokens, batch * length, V, 5);
  ok(tpt_trainer_forward(s->trainer, tokens, batch, length));
  check_residual(s, want);
}

/* The horn's: N H_T / T, at the start and as training goes on. */
START_TEST(residual_is_n_h_t_by_t) {
  static const size_t lengths[] = {1, 7, 128, 1024};
  int n = _i / 4;
  size_t T = lengths[_i % 4];
  session s = swept(n, "model.max_seq_len=1024; train.warmup=0", 0);
  double want = (double)sweep[n].count * harmonic(T) / (double)T;
  for (uint64_t step = 0; step < 6; step++) {
    if (step % 2 == 0) check_at_length(&s, T > 128 ? 1 : 3, T, want);
    train_step(&s, step);
  }
  end(&s);
}
END_TEST

/* The paper's figures, as many digits as it gives. */
START_TEST(residuals_of_the_paper) {
  static const struct {
    int sweep;
    size_t T;
    double residual;
  } given[] = {{2, 128, 0.12734}, {2, 1024, 0.02200}, {0, 1024, 0.00733}};
  double measured, analytic;
  int32_t tokens[1024];
  session s = swept(given[_i].sweep, "model.max_seq_len=1024", 2);
  tpti_test_tokens(tokens, given[_i].T, V, 5);
  ok(tpt_trainer_forward(s.trainer, tokens, 1, given[_i].T));
  ok(tpt_geometry_zero_sum(s.trainer, &measured, &analytic));
  ck_assert_double_eq_tol(measured, given[_i].residual, 5e-6);
  end(&s);
}
END_TEST

/* Without a profile it is what the weights make of it, and moves as they do. */
START_TEST(free_residual_moves) {
  session s = swept(2, "model.dc.profile=none; train.warmup=0", 0);
  double before, after, analytic;
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_geometry_zero_sum(s.trainer, &before, &analytic));
  for (uint64_t i = 0; i < 3; i++) train_step(&s, i);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  ok(tpt_geometry_zero_sum(s.trainer, &after, &analytic));
  ck_assert(isnan(analytic));
  ck_assert_double_gt(fabs(after - before), 1e-3);
  end(&s);
}
END_TEST

/* Loss and gradients [count] of one batch with this profile and coefficient; to be freed. */
static float *gradients(const char *profile, double aux_coef, double *loss, size_t *count) {
  char settings[200];
  snprintf(settings, sizeof settings, "model.dc.profile=%s; train.aux_coef=%g", profile, aux_coef);
  session s = start(settings);
  ok(tpt_trainer_zero_gradients(s.trainer));
  ok(tpt_trainer_accumulate(s.trainer, s.tokens, s.targets, BATCH, MOST, loss));
  float *copy = copy_gradients(s.trainer, count);
  end(&s);
  return copy;
}

/* With a fixed profile the penalty is mean (N r(p))^2, a constant: it changes the loss by that and
 * no gradient. It enters the way back at the embedding, which comes last, so that all other
 * gradients keep their bits; DC injection takes the same number from all channels of a row, which
 * leaves the embedding's up to rounding. The embedding is the first tensor. */
START_TEST(penalty_of_a_fixed_profile_has_no_gradient) {
  static const char *const profiles[] = {"zero", "horn", "ramp"};
  const double coef = 0.5;
  size_t count;
  double loss, penalized, mean = 0;
  for (size_t p = 0; p < MOST; p++) {
    const double r[] = {0, 1.0 / (double)(p + 1), 1.0 - (double)p / MOST};
    mean += pow(N * r[_i], 2) / MOST;
  }
  float *without = gradients(profiles[_i], 0, &loss, &count);
  float *with = gradients(profiles[_i], coef, &penalized, &count);
  ck_assert_double_eq_tol(penalized - loss, coef * mean, 1e-6);
  ck_assert_mem_eq(with + V * D, without + V * D, (count - V * D) * sizeof *with);
  ck_assert_double_le(tpti_test_error_float(with, without, V * D), 1e-6);
  free(with), free(without);
}
END_TEST

/* Without one it has: the check above can fail. */
START_TEST(penalty_of_a_free_dc_has_a_gradient) {
  size_t count;
  double loss;
  float *without = gradients("none", 0, &loss, &count),
        *with = gradients("none", 0.5, &loss, &count);
  ck_assert_double_ge(tpti_test_error_float(with, without, V * D), 1e-2);
  ck_assert_mem_eq(with + V * D, without + V * D, (count - V * D) * sizeof *with);
  free(with), free(without);
}
END_TEST

/* And a learned one takes all of it: d/dr(p) of coef mean (N r(p))^2 is coef 2 N^2 r(p) / T. It
 * starts at the horn, and is the tensor after the embedding. */
START_TEST(penalty_of_a_learned_profile_is_the_profiles) {
  const double coef = 0.5;
  size_t count;
  double loss;
  float *without = gradients("learned", 0, &loss, &count);
  float *with = gradients("learned", coef, &loss, &count), *r = with + V * D;
  ck_assert_double_le(tpti_test_error_float(with, without, V * D), 1e-6);
  for (size_t p = 0; p < MOST; p++) {
    double want = coef * 2 * N * N / (double)(p + 1) / MOST;
    ck_assert_double_eq_tol((double)r[p] - (double)without[V * D + p], want, 1e-6);
  }
  ck_assert_mem_eq(r + MOST, without + V * D + MOST, (count - V * D - MOST) * sizeof *with);
  free(with), free(without);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("paper/zero_sum");
  TCase *tests = tcase_create("zero sum");
  tcase_add_loop_test(tests, residual_is_n_h_t_by_t, 0, 4 * SWEEP);
  tcase_add_loop_test(tests, residuals_of_the_paper, 0, 3);
  tcase_add_test(tests, free_residual_moves);
  tcase_add_loop_test(tests, penalty_of_a_fixed_profile_has_no_gradient, 0, 3);
  tcase_add_test(tests, penalty_of_a_free_dc_has_a_gradient);
  tcase_add_test(tests, penalty_of_a_learned_profile_is_the_profiles);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
