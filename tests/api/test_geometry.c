/* Geometry: what the weights and a forward pass show, against sums of our own in double, and the
 * facts of the paper that hold exactly. */
#include "api/session.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static const float *stream(const session *s, tpt_point point, size_t layer) {
  const float *x;
  size_t count;
  ok(tpt_trainer_activation(s->trainer, point, layer, &x, &count));
  ck_assert_uint_eq(count, ROWS * D);
  return x;
}

static session seen(const char *settings) {
  session s = start(settings);
  for (uint64_t i = 0; i < 3; i++) train_step(&s, i);
  ok(tpt_trainer_forward(s.trainer, s.tokens, BATCH, MOST));
  return s;
}

/* Of phase i of every token: mean, root mean square, share of the DC direction, and the cosine with
 * phase j. */
static void measure(const float *x, size_t i, size_t j, double *mean, double *rms, double *energy,
                    double *cosine) {
  double sum = 0, squares = 0, dc = 0, whole = 0, cosines = 0;
  for (size_t m = 0; m < ROWS; m++) {
    const float *a = x + m * D + i * P, *b = x + m * D + j * P;
    double mu = 0, aa = 0, bb = 0, ab = 0;
    for (size_t c = 0; c < P; c++) {
      mu += (double)a[c] / P;
      aa += (double)a[c] * (double)a[c];
      bb += (double)b[c] * (double)b[c];
      ab += (double)a[c] * (double)b[c];
    }
    for (size_t d = 0; d < D; d++) whole += (double)x[m * D + d] * (double)x[m * D + d];
    sum += mu, squares += aa, dc += P * mu * mu, cosines += ab / sqrt(aa * bb);
  }
  *mean = sum / ROWS, *rms = sqrt(squares / (ROWS * P)), *energy = dc / whole;
  *cosine = cosines / ROWS;
}

static const struct {
  tpt_point point;
  size_t layer;
} places[] = {{TPT_POINT_EMBEDDING, 0},
              {TPT_POINT_ATTENTION, 1},
              {TPT_POINT_ROTATION, 0},
              {TPT_POINT_BLOCK, 1}};

START_TEST(measures) {
  session s = seen("");
  tpt_point point = places[_i].point;
  size_t layer = places[_i].layer;
  const float *x = stream(&s, point, layer);
  double means[N], rms[N], energy[N], cosine[N * N];
  ok(tpt_geometry_phase_means(s.trainer, point, layer, means, N));
  ok(tpt_geometry_phase_rms(s.trainer, point, layer, rms, N));
  ok(tpt_geometry_dc_energy(s.trainer, point, layer, energy, N));
  ok(tpt_geometry_phase_cosine(s.trainer, point, layer, cosine, N * N));
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < N; j++) {
      double mean, r, e, c;
      measure(x, i, j, &mean, &r, &e, &c);
      ck_assert_double_eq_tol(means[i], mean, 1e-9);
      ck_assert_double_eq_tol(rms[i], r, 1e-9 * r);
      ck_assert_double_eq_tol(energy[i], e, 1e-9);
      ck_assert_double_eq_tol(cosine[i * N + j], c, 1e-9);
    }
  }
  end(&s);
}
END_TEST

START_TEST(the_mean_is_the_profile) {
  session s = seen(_i ? "model.dc.profile=learned; model.embedding.scale=sqrt_d" : "");
  float dc[MOST], profile[MOST];
  ok(tpt_geometry_dc(s.trainer, TPT_POINT_EMBEDDING, 0, dc, MOST));
  ok(tpt_geometry_dc_profile(s.model, 0, profile, MOST));
  for (size_t p = 0; p < MOST; p++) {
    ck_assert_float_eq_tol(dc[p], profile[p], 3e-6f);
    if (!_i) ck_assert_float_eq_tol(profile[p], 1.0f / (float)(p + 1), 1e-7f);
  }
  end(&s);
}
END_TEST

START_TEST(profiles_by_their_formulas) {
  static const char *const names[] = {"zero", "horn", "ramp", "exponential", "logarithmic"};
  for (int i = 0; i < 5; i++) {
    char settings[64];
    snprintf(settings, sizeof settings, "model.dc.profile=%s", names[i]);
    session s = start(settings);
    float r[MOST - 2];
    ok(tpt_geometry_dc_profile(s.model, 2, r, MOST - 2)); /* tau is max_seq_len / 4 */
    for (size_t k = 0; k < MOST - 2; k++) {
      double p = (double)k + 2;
      const double want[] = {0, 1 / (p + 1), 1 - p / MOST, exp(-p / 4), 1 / (1 + log(1 + p))};
      ck_assert_double_eq_tol((double)r[k], want[i], 1e-7);
    }
    end(&s);
  }
}
END_TEST

START_TEST(zero_sum) {
  session s = seen(""), none = seen("model.dc.profile=none");
  double measured = -1, analytic = -1, harmonic = 0;
  for (size_t p = 0; p < MOST; p++) harmonic += 1.0 / (double)(p + 1);
  ok(tpt_geometry_zero_sum(s.trainer, &measured, &analytic));
  ck_assert_double_eq_tol(analytic, N * harmonic / MOST, 1e-7);
  ck_assert_double_eq_tol(measured, analytic, 1e-6);
  ok(tpt_geometry_zero_sum(none.trainer, &measured, &analytic));
  ck_assert(isnan(analytic) && isfinite(measured));
  end(&s);
  end(&none);
}
END_TEST

/* A rotation keeps every phase's norm, and where it replaces, moves by less than 2. */
START_TEST(rotation_keeps_norms) {
  session s = seen("");
  for (size_t l = 0; l < L; l++) {
    double before[N], after[N], moved = -1, want = 0;
    ok(tpt_geometry_phase_rms(s.trainer, TPT_POINT_ATTENTION, l, before, N));
    ok(tpt_geometry_phase_rms(s.trainer, TPT_POINT_ROTATION, l, after, N));
    for (size_t i = 0; i < N; i++) ck_assert_double_eq_tol(before[i], after[i], 1e-6 * before[i]);
    const float *h = stream(&s, TPT_POINT_ATTENTION, l), *r = stream(&s, TPT_POINT_ROTATION, l);
    for (size_t m = 0; m < ROWS; m++) {
      double change = 0, whole = 0;
      for (size_t d = m * D; d < (m + 1) * D; d++) {
        change += pow((double)r[d] - (double)h[d], 2);
        whole += (double)h[d] * (double)h[d];
      }
      want += sqrt(change / whole) / ROWS;
    }
    ok(tpt_geometry_displacement(s.trainer, l, &moved));
    ck_assert_double_eq_tol(moved, want, 1e-9);
    ck_assert(moved > 0 && moved < 2);
  }
  end(&s);
}
END_TEST

START_TEST(angles) {
  session s = start("");
  for (size_t l = 0; l < L; l++) {
    float theta[P / 2], angle[P / 2];
    ok(tpt_geometry_theta(s.model, l, theta, P / 2));
    for (size_t i = 0; i < N; i++) {
      ok(tpt_geometry_angles(s.model, l, i, angle, P / 2));
      for (size_t k = 0; k < P / 2; k++) {
        ck_assert_double_eq_tol((double)theta[k], (double)(l + 1) * pi / (2 * L), 1e-7);
        ck_assert_double_eq_tol((double)angle[k], (double)theta[k] + 2 * pi * (double)i / N, 1e-6);
      }
    }
  }
  end(&s);
}
END_TEST

START_TEST(drift) {
  session s = start("model.rotation.schedule=[0.5, -0.25]");
  tpt_drift d = {.size = sizeof d};
  ok(tpt_geometry_drift(s.model, 1, &d));
  ck_assert(d.start == -0.25 && d.mean == -0.25 && d.l2 == 0 && d.max == 0);
  float theta[P / 2] = {0.75f, 0.5f, 0.5f, 0.25f};
  ok(tpt_model_set_tensor(s.model, "blocks.0.pr.theta", theta, P / 2));
  ok(tpt_geometry_drift(s.model, 0, &d));
  ck_assert(d.start == 0.5 && d.mean == 0.5 && d.max == 0.25);
  ck_assert_double_eq_tol(d.l2, sqrt(2) / 4, 1e-12);
  end(&s);
}
END_TEST

START_TEST(without_a_rotation_or_profile) {
  session s = seen("model.rotation.mode=none; model.dc.profile=none");
  float values[MOST] = {-3};
  double moved = -3;
  tpt_drift d = {.size = sizeof d, .l2 = -3};
  refused(s.model, tpt_geometry_theta(s.model, 0, values, P / 2), TPT_E_UNSUPPORTED, "rotation");
  refused(s.model, tpt_geometry_angles(s.model, 0, 0, values, P / 2), TPT_E_UNSUPPORTED,
          "rotation");
  refused(s.model, tpt_geometry_drift(s.model, 0, &d), TPT_E_UNSUPPORTED, "rotation");
  refused(s.model, tpt_geometry_dc_profile(s.model, 0, values, 1), TPT_E_UNSUPPORTED, "dc.profile");
  ck_assert(values[0] == -3 && d.l2 == -3);
  ok(tpt_geometry_displacement(s.trainer, 0, &moved));
  ck_assert(moved == 0);
  end(&s);
}
END_TEST

START_TEST(ranges) {
  session s = seen("");
  double v[N * N + 1] = {-3};
  float f[MOST + 1] = {-3};
  const tpt_trainer *t = s.trainer;
  refused(t, tpt_geometry_phase_means(t, TPT_POINT_BLOCK, 0, v, N + 1), TPT_E_ARGUMENT, "count");
  refused(t, tpt_geometry_phase_rms(t, TPT_POINT_BLOCK, 0, v, N - 1), TPT_E_ARGUMENT, "count");
  refused(t, tpt_geometry_dc_energy(t, TPT_POINT_BLOCK, L, v, N), TPT_E_ARGUMENT, "layer");
  refused(t, tpt_geometry_phase_cosine(t, TPT_POINT_BLOCK, 0, v, N), TPT_E_ARGUMENT, "count");
  refused(t, tpt_geometry_dc(t, TPT_POINT_BLOCK, 0, f, MOST + 1), TPT_E_ARGUMENT, "count");
  refused(t, tpt_geometry_dc(t, (tpt_point)-1, 0, f, MOST), TPT_E_ARGUMENT, "point");
  refused(t, tpt_geometry_displacement(t, L, v), TPT_E_ARGUMENT, "layer");
  refused(s.model, tpt_geometry_dc_profile(s.model, MOST, f, 1), TPT_E_ARGUMENT, "first");
  refused(s.model, tpt_geometry_dc_profile(s.model, 1, f, MOST), TPT_E_ARGUMENT, "count");
  refused(s.model, tpt_geometry_dc_profile(s.model, SIZE_MAX, f, 2), TPT_E_ARGUMENT, "first");
  refused(s.model, tpt_geometry_theta(s.model, L, f, P / 2), TPT_E_ARGUMENT, "layer");
  refused(s.model, tpt_geometry_theta(s.model, 0, f, P), TPT_E_ARGUMENT, "count");
  refused(s.model, tpt_geometry_angles(s.model, 0, N, f, P / 2), TPT_E_ARGUMENT, "phase");
  ck_assert(v[0] == -3 && f[0] == -3);
  end(&s);
}
END_TEST

/* Until the next forward: measured, not read from the weights. Before any: STATE. */
START_TEST(of_the_last_forward) {
  session s = start("train.recompute=block");
  double v[N], again[N];
  refused(s.trainer, tpt_geometry_phase_rms(s.trainer, TPT_POINT_BLOCK, 0, v, N), TPT_E_STATE,
          "forward");
  refused(s.trainer, tpt_geometry_zero_sum(s.trainer, v, again), TPT_E_STATE, "forward");
  ok(tpt_trainer_forward(s.trainer, s.tokens, 2, 5));
  ok(tpt_geometry_phase_rms(s.trainer, TPT_POINT_BLOCK, 0, v, N));
  float dc[MOST];
  ok(tpt_geometry_dc(s.trainer, TPT_POINT_BLOCK, 0, dc, 5));
  refused(s.trainer, tpt_geometry_dc(s.trainer, TPT_POINT_BLOCK, 0, dc, MOST), TPT_E_ARGUMENT,
          "count");
  refused(s.trainer, tpt_geometry_displacement(s.trainer, 0, v), TPT_E_UNSUPPORTED, "recompute");
  float gain[P] = {0};
  ok(tpt_model_set_tensor(s.model, "blocks.0.n1.norms.0.weight", gain, P));
  ok(tpt_geometry_phase_rms(s.trainer, TPT_POINT_BLOCK, 0, again, N));
  ck_assert_mem_eq(v, again, sizeof v);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/geometry");
  TCase *tests = tcase_create("geometry");
  tcase_add_loop_test(tests, measures, 0, 4);
  tcase_add_loop_test(tests, the_mean_is_the_profile, 0, 2);
  tcase_add_test(tests, profiles_by_their_formulas);
  tcase_add_test(tests, zero_sum);
  tcase_add_test(tests, rotation_keeps_norms);
  tcase_add_test(tests, angles);
  tcase_add_test(tests, drift);
  tcase_add_test(tests, without_a_rotation_or_profile);
  tcase_add_test(tests, ranges);
  tcase_add_test(tests, of_the_last_forward);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
