/* Every measure of a stream against the float64 oracle's own stream, at the embedding and after the
 * last block of each golden case: the library measures what it computed, this measures what the
 * oracle did. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <3pt/3pt.h>

#include "support/compare.h"
#include "support/golden.h"
#include "support/runner.h"

enum { MOST_PHASES = 6, LONGEST = 200 };

/* Logits of these cases are within 1e-6 of the oracle's (tests/golden), and so are their streams.
 */
static const double NEAR = 1e-6;

typedef struct problem {
  tpti_golden *golden;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  size_t B, T, N, P, D, L;
} problem;

static void ok(tpt_status status) {
  ck_assert_msg(status == TPT_OK, "%s: %s", tpt_status_name(status), tpt_error_message());
}

/* Tensors of the model are those that have a gradient in the case. */
static void set_weights(const problem *p) {
  for (size_t i = 0; i < tpti_golden_count(p->golden); i++) {
    const char *name = tpti_golden_at(p->golden, i)->name;
    if (strncmp(name, "grad.", 5) != 0) continue;
    const tpti_golden_tensor *w = tpti_golden_need(p->golden, name + 5);
    float *values = malloc(w->count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t j = 0; j < w->count; j++) values[j] = (float)w->values[j];
    ok(tpt_model_set_tensor(p->model, w->name, values, w->count));
    free(values);
  }
}

static void forward(const problem *p, const tpti_golden_tensor *given) {
  int32_t *tokens = malloc(given->count * sizeof *tokens);
  ck_assert_ptr_nonnull(tokens);
  for (size_t i = 0; i < given->count; i++) tokens[i] = (int32_t)given->values[i];
  ok(tpt_trainer_forward(p->trainer, tokens, p->B, p->T));
  free(tokens);
}

static problem begin(int index) {
  problem p = {.golden = tpti_golden_open(tpti_golden_case((size_t)index))};
  const char *yaml = tpti_golden_yaml(p.golden);
  const tpti_golden_tensor *tokens = tpti_golden_need(p.golden, "in.tokens");
  p.B = tokens->shape[0], p.T = tokens->shape[1];
  p.N = (size_t)tpti_golden_number(p.golden, "n_phases");
  p.D = (size_t)tpti_golden_number(p.golden, "d_model"), p.P = p.D / p.N;
  p.L = (size_t)tpti_golden_number(p.golden, "n_layers");
  ck_assert(p.N <= MOST_PHASES && p.T <= LONGEST);
  ok(tpt_config_parse(yaml, strlen(yaml), &p.config));
  ok(tpt_model_create(NULL, p.config, 1, &p.model));
  set_weights(&p);
  ok(tpt_trainer_create(p.model, NULL, &p.trainer));
  forward(&p, tokens);
  return p;
}

static void finish(problem *p) {
  tpt_trainer_destroy(p->trainer);
  tpt_model_destroy(p->model);
  tpt_config_destroy(p->config);
  tpti_golden_close(p->golden);
}

/* The two places of which the cases hold the oracle's stream. */
typedef struct place {
  tpt_point point;
  size_t layer;
  const double *x; /* [B, T, D] */
} place;

static place place_of(const problem *p, int block) {
  if (!block)
    return (place){TPT_POINT_EMBEDDING, 0, tpti_golden_need(p->golden, "out.embedding")->values};
  return (place){TPT_POINT_BLOCK, p->L - 1, tpti_golden_need(p->golden, "out.last_block")->values};
}

/* sum over c of a[c] b[c], or of a[c] where b is NULL. */
static double sum(const double *a, const double *b, size_t count) {
  double total = 0;
  for (size_t c = 0; c < count; c++) total += a[c] * (b ? b[c] : 1);
  return total;
}

START_TEST(means_rms_and_energy) {
  problem p = begin(_i / 2);
  place at = place_of(&p, _i % 2);
  size_t rows = p.B * p.T;
  double mean[MOST_PHASES], rms[MOST_PHASES], energy[MOST_PHASES];
  double whole = sum(at.x, at.x, rows * p.D), scale = sqrt(whole / (double)(rows * p.D));
  ok(tpt_geometry_phase_means(p.trainer, at.point, at.layer, mean, p.N));
  ok(tpt_geometry_phase_rms(p.trainer, at.point, at.layer, rms, p.N));
  ok(tpt_geometry_dc_energy(p.trainer, at.point, at.layer, energy, p.N));
  for (size_t i = 0; i < p.N; i++) {
    double sums = 0, squares = 0, dc = 0;
    for (size_t m = 0; m < rows; m++) {
      const double *x = at.x + m * p.D + i * p.P;
      double mu = sum(x, NULL, p.P) / (double)p.P;
      sums += mu, squares += sum(x, x, p.P), dc += (double)p.P * mu * mu;
    }
    ck_assert_double_eq_tol(mean[i], sums / (double)rows, NEAR * scale);
    ck_assert_double_eq_tol(rms[i], sqrt(squares / (double)(rows * p.P)), NEAR * scale);
    ck_assert_double_eq_tol(energy[i], dc / whole, NEAR);
  }
  finish(&p);
}
END_TEST

START_TEST(cosines) {
  problem p = begin(_i / 2);
  place at = place_of(&p, _i % 2);
  double cosine[MOST_PHASES * MOST_PHASES];
  ok(tpt_geometry_phase_cosine(p.trainer, at.point, at.layer, cosine, p.N * p.N));
  for (size_t i = 0; i < p.N; i++) {
    for (size_t j = 0; j < p.N; j++) {
      double total = 0;
      for (size_t m = 0; m < p.B * p.T; m++) {
        const double *a = at.x + m * p.D + i * p.P, *b = at.x + m * p.D + j * p.P;
        total += sum(a, b, p.P) / sqrt(sum(a, a, p.P) * sum(b, b, p.P));
      }
      /* Phases of two channels may be near 0, where a cosine's error grows. */
      ck_assert_double_eq_tol(cosine[i * p.N + j], total / (double)(p.B * p.T), 10 * NEAR);
    }
  }
  finish(&p);
}
END_TEST

START_TEST(mean_at_each_position) {
  problem p = begin(_i / 2);
  place at = place_of(&p, _i % 2);
  float dc[LONGEST];
  double scale = sqrt(sum(at.x, at.x, p.B * p.T * p.D) / (double)(p.B * p.T * p.D));
  ok(tpt_geometry_dc(p.trainer, at.point, at.layer, dc, p.T));
  for (size_t t = 0; t < p.T; t++) {
    double total = 0;
    for (size_t b = 0; b < p.B; b++) total += sum(at.x + (b * p.T + t) * p.D, NULL, p.D);
    ck_assert_double_eq_tol((double)dc[t], total / (double)(p.B * p.D), NEAR * scale);
  }
  finish(&p);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("paper/oracle");
  TCase *tests = tcase_create("measures");
  int cases = 0;
  while (tpti_golden_case((size_t)cases)) cases++;
  tcase_add_loop_test(tests, means_rms_and_energy, 0, 2 * cases);
  tcase_add_loop_test(tests, cosines, 0, 2 * cases);
  tcase_add_loop_test(tests, mean_at_each_position, 0, 2 * cases);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
