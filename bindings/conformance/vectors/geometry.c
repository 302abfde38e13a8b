/* Profile and angles of a model, and the measures of a trainer's last batch. */
#include <stdlib.h>

#include "run.h"

typedef struct sizes {
  size_t layers, phases, pairs; /* L, N, P / 2 */
} sizes;

static sizes sizes_of(const tpt_config *described) {
  sizes s = {.layers = setting(described, "model.n_layers"),
             .phases = setting(described, "model.n_phases")};
  s.pairs = setting(described, "model.d_model") / s.phases / 2;
  return s;
}

static json_t *profile_of(const tpt_model *model, const json_t *range) {
  size_t count = size_at(range, "count");
  float *values = take(count, sizeof *values);
  check(tpt_geometry_dc_profile(model, size_at(range, "first"), values, count));
  json_t *made = of_f32(values, count);
  free(values);
  return made;
}

static json_t *angles_of(const tpt_model *model, size_t layer, const sizes *s) {
  json_t *list = json_array();
  float *values = take(s->pairs, sizeof *values);
  for (size_t phase = 0; phase < s->phases; phase++) {
    check(tpt_geometry_angles(model, layer, phase, values, s->pairs));
    add(list, of_f32(values, s->pairs));
  }
  free(values);
  return list;
}

static json_t *theta_of(const tpt_model *model, size_t layer, const sizes *s) {
  float *values = take(s->pairs, sizeof *values);
  check(tpt_geometry_theta(model, layer, values, s->pairs));
  json_t *made = of_f32(values, s->pairs);
  free(values);
  return made;
}

static json_t *drift_of(const tpt_model *model, size_t layer) {
  tpt_drift drift = {.size = sizeof drift};
  json_t *entry = json_object();
  check(tpt_geometry_drift(model, layer, &drift));
  put(entry, "start", of_double(drift.start));
  put(entry, "mean", of_double(drift.mean));
  put(entry, "l2", of_double(drift.l2));
  put(entry, "max", of_double(drift.max));
  return entry;
}

static void put_layers(const run *r, const sizes *s, json_t *results) {
  json_t *theta = json_array(), *angles = json_array(), *drift = json_array(),
         *moved = json_array();
  for (size_t layer = 0; layer < s->layers; layer++) {
    double mean;
    check(tpt_geometry_displacement(r->trainer, layer, &mean));
    add(theta, theta_of(r->model, layer, s));
    add(angles, angles_of(r->model, layer, s));
    add(drift, drift_of(r->model, layer));
    add(moved, of_double(mean));
  }
  put(results, "theta", theta);
  put(results, "angles", angles);
  put(results, "drift", drift);
  put(results, "displacement", moved);
}

typedef tpt_status measure(const tpt_trainer *trainer, tpt_point point, size_t layer,
                           double *values, size_t count);

static json_t *measured(const run *r, const json_t *place, measure *of, size_t count) {
  double *values = take(count, sizeof *values);
  check(of(r->trainer, (tpt_point)int_at(place, "point"), size_at(place, "layer"), values, count));
  json_t *made = of_f64(values, count);
  free(values);
  return made;
}

static json_t *dc_of(const run *r, const json_t *place) {
  float *values = take(r->seq, sizeof *values);
  check(tpt_geometry_dc(r->trainer, (tpt_point)int_at(place, "point"), size_at(place, "layer"),
                        values, r->seq));
  json_t *made = of_f32(values, r->seq);
  free(values);
  return made;
}

static json_t *point_of(const run *r, const sizes *s, const json_t *place) {
  json_t *entry = json_deep_copy(place);
  put(entry, "phase_means", measured(r, place, tpt_geometry_phase_means, s->phases));
  put(entry, "phase_rms", measured(r, place, tpt_geometry_phase_rms, s->phases));
  put(entry, "phase_cosine", measured(r, place, tpt_geometry_phase_cosine, s->phases * s->phases));
  put(entry, "dc_energy", measured(r, place, tpt_geometry_dc_energy, s->phases));
  put(entry, "dc", dc_of(r, place));
  return entry;
}

static json_t *zero_sum_of(const run *r) {
  double sum, analytic;
  json_t *entry = json_object();
  check(tpt_geometry_zero_sum(r->trainer, &sum, &analytic));
  put(entry, "measured", of_double(sum));
  put(entry, "analytic", of_double(analytic));
  return entry;
}

void geometry(const json_t *inputs, json_t *results, const char *scratch) {
  run r = run_whole(at(inputs, "training"));
  sizes s = sizes_of(r.config);
  const json_t *places = at(inputs, "points");
  json_t *list = json_array();
  (void)scratch;
  run_accumulate(&r);
  put(results, "dc_profile", profile_of(r.model, at(inputs, "profile")));
  put_layers(&r, &s, results);
  put(results, "zero_sum", zero_sum_of(&r));
  for (size_t i = 0; i < json_array_size(places); i++)
    add(list, point_of(&r, &s, json_array_get(places, i)));
  put(results, "points", list);
  run_end(&r);
}
