/* What the phases and their rotation do in a whole model (3.2, 3.3, 4.11, 4.12). */
#include "paper/sizes.h"

#include <math.h>

/* Energies of the phases of a token, [N]. */
static void energies(const float *x, size_t phases, double *energy) {
  size_t channels = D / phases;
  for (size_t i = 0; i < phases; i++) {
    energy[i] = 0;
    for (size_t c = 0; c < channels; c++) energy[i] += pow((double)x[i * channels + c], 2);
  }
}

static const float *stream(const session *s, tpt_point point, size_t layer) {
  const float *x;
  size_t count;
  ok(tpt_trainer_activation(s->trainer, point, layer, &x, &count));
  return x;
}

/* Every phase of every token keeps its norm in every layer, at the start and after training. */
START_TEST(rotation_keeps_each_norm) {
  session s = swept(_i % SWEEP, "train.warmup=0", _i / SWEEP ? 5 : 0);
  size_t phases = sweep[_i % SWEEP].count;
  double before[MOST_PHASES], after[MOST_PHASES];
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  for (size_t l = 0; l < L; l++) {
    const float *h = stream(&s, TPT_POINT_ATTENTION, l), *r = stream(&s, TPT_POINT_ROTATION, l);
    for (size_t m = 0; m < ROWS; m++) {
      energies(h + m * D, phases, before);
      energies(r + m * D, phases, after);
      for (size_t i = 0; i < phases; i++)
        ck_assert_double_eq_tol(sqrt(after[i]), sqrt(before[i]), 1e-6 * sqrt(before[i]));
    }
  }
  end(&s);
}
END_TEST

/* A pair that turns by a moves by 2 |sin(a / 2)| of its norm. So what the stream before the
 * rotation and the angles say is how far a token moves. */
static double moved_by_the_angles(const session *s, size_t layer, size_t phases) {
  size_t pairs = D / phases / 2;
  const float *h = stream(s, TPT_POINT_ATTENTION, layer);
  float angle[MOST_PHASES * D / 2];
  double total = 0;
  for (size_t i = 0; i < phases; i++)
    ok(tpt_geometry_angles(s->model, layer, i, angle + i * pairs, pairs));
  for (size_t m = 0; m < ROWS; m++) {
    double change = 0, whole = 0;
    for (size_t k = 0; k < D / 2; k++) {
      double pair = pow((double)h[m * D + 2 * k], 2) + pow((double)h[m * D + 2 * k + 1], 2);
      change += pair * pow(2 * sin((double)angle[k] / 2), 2);
      whole += pair;
    }
    total += sqrt(change / whole) / ROWS;
  }
  return total;
}

START_TEST(displacement_is_that_of_the_angles) {
  session s = swept(_i % SWEEP, "train.warmup=0", _i / SWEEP ? 5 : 0);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  for (size_t l = 0; l < L; l++) {
    double moved = -1;
    ok(tpt_geometry_displacement(s.trainer, l, &moved));
    double want = moved_by_the_angles(&s, l, sweep[_i % SWEEP].count);
    ck_assert_double_eq_tol(moved, want, 1e-6);
  }
  end(&s);
}
END_TEST

/* One phase turns as a whole: by (l + 1) pi / (2 L) at the start. Residual: by the stream's own
 * norm. */
START_TEST(displacement_of_one_phase_and_of_a_residual) {
  session one = swept(0, "", 0), residual = swept(2, "model.rotation.mode=residual", 2);
  ok(tpt_trainer_forward(one.trainer, one.tokens, BATCH, MOST));
  ok(tpt_trainer_forward(residual.trainer, residual.tokens, BATCH, MOST));
  for (size_t l = 0; l < L; l++) {
    double moved = -1, angle = acos(-1) * (double)(l + 1) / (2 * L);
    ok(tpt_geometry_displacement(one.trainer, l, &moved));
    ck_assert_double_eq_tol(moved, 2 * sin(angle / 2), 1e-6);
    ok(tpt_geometry_displacement(residual.trainer, l, &moved));
    ck_assert_double_eq_tol(moved, 1, 1e-6);
  }
  end(&one);
  end(&residual);
}
END_TEST

/* The paper's small model before its first step, on a fourth of its batch. */
typedef struct small {
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
} small;

static small make_small(void) {
  enum { ROOM = 16 * 128 };
  int32_t tokens[ROOM];
  small s;
  ok(tpt_config_preset("3pt-5m", &s.config));
  ok(tpt_config_set(s.config, "train.batch", "16"));
  ok(tpt_model_create(NULL, s.config, 1, &s.model));
  ok(tpt_trainer_create(s.model, NULL, &s.trainer));
  tpti_test_tokens(tokens, ROOM, 10000, 1);
  ok(tpt_trainer_forward(s.trainer, tokens, 16, 128));
  return s;
}

/* The three phases have one root mean square within 1%, at the embedding and after every block; so
 * each is the whole stream's by the root of 3 in norm, and a rotation by 120 degrees between phases
 * moves a token by the root of 2: the mean of 2 - 2 cos over them is 2. */
START_TEST(phases_start_alike) {
  small s = make_small();
  for (size_t place = 0; place < 5; place++) {
    tpt_point point = place ? TPT_POINT_BLOCK : TPT_POINT_EMBEDDING;
    double rms[3], moved = -1;
    ok(tpt_geometry_phase_rms(s.trainer, point, place ? place - 1 : 0, rms, 3));
    double mean = (rms[0] + rms[1] + rms[2]) / 3;
    for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(rms[i], mean, 0.01 * mean);
    if (!place) continue;
    ok(tpt_geometry_displacement(s.trainer, place - 1, &moved));
    ck_assert_double_eq_tol(moved, sqrt(2), 0.01);
  }
  tpt_trainer_destroy(s.trainer);
  tpt_model_destroy(s.model);
  tpt_config_destroy(s.config);
}
END_TEST

/* Nothing has moved: not even by the rounding of a start that no float holds. */
START_TEST(fresh_angles_have_no_drift) {
  static const char *const schedules[] = {"linear", "constant", "u_shaped",
                                          "[0.1, -0.7, 3, 0, 1e-3, 2, 1, 0.3, 0.6, 4, 5, 6]"};
  enum { LAYERS = 12 };
  char settings[120];
  snprintf(settings, sizeof settings, "model.n_layers=12; model.rotation.schedule=%s",
           schedules[_i]);
  session s = start(settings);
  for (size_t l = 0; l < LAYERS; l++) {
    tpt_drift d = {.size = sizeof d, .l2 = -1, .max = -1};
    ok(tpt_geometry_drift(s.model, l, &d));
    ck_assert(d.l2 == 0 && d.max == 0);
    ck_assert_double_eq_tol(d.mean, d.start, 1e-6);
  }
  end(&s);
}
END_TEST

/* Of trained angles: what the pairs' own drifts make, theta less the start of the layer. */
START_TEST(drift_is_that_of_the_pairs) {
  session s = swept(2, "train.warmup=0", 6);
  for (size_t l = 0; l < L; l++) {
    float theta[P / 2];
    double start_of = acos(-1) * (double)(l + 1) / (2 * L), sum = 0, squares = 0, most = 0;
    tpt_drift d = {.size = sizeof d};
    ok(tpt_geometry_theta(s.model, l, theta, P / 2));
    ok(tpt_geometry_drift(s.model, l, &d));
    for (size_t k = 0; k < P / 2; k++) {
      double moved = (double)theta[k] - start_of;
      sum += (double)theta[k], squares += moved * moved, most = fmax(most, fabs(moved));
    }
    ck_assert_double_eq_tol(d.start, start_of, 1e-12);
    ck_assert_double_eq_tol(d.mean, sum / (P / 2), 1e-12);
    ck_assert_double_eq_tol(d.l2, sqrt(squares), 1e-6);
    ck_assert_double_eq_tol(d.max, most, 1e-6);
    ck_assert_double_gt(d.max, 1e-3);
  }
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("paper/phases");
  TCase *tests = tcase_create("phases");
  tcase_add_loop_test(tests, rotation_keeps_each_norm, 0, 2 * SWEEP);
  tcase_add_loop_test(tests, displacement_is_that_of_the_angles, 0, 2 * SWEEP);
  tcase_add_test(tests, displacement_of_one_phase_and_of_a_residual);
  tcase_add_test(tests, phases_start_alike);
  tcase_add_loop_test(tests, fresh_angles_have_no_drift, 0, 4);
  tcase_add_test(tests, drift_is_that_of_the_pairs);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
