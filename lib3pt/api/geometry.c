/* Geometry: what the weights say, and what a trainer's last forward shows (paper 4.11, 4.12). */
#include <math.h>
#include <string.h>

#include "api/objects.h"
#include "model/geometry.h"

#define PI 3.14159265358979323846

static tpt_status check_count(size_t count, size_t ours, const char *of) {
  if (count == ours) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "count is %zu; %s has %zu values", count, of, ours);
}

/* ---- of the weights ---- */

static tpt_status dc_profile(const tpt_model *model, size_t first, float *values, size_t count) {
  const tpti_network *net = &model->net;
  size_t most = net->dims.max_seq_len;
  TPTI_NEED(values);
  if (!net->profile) return tpti_fail(TPT_E_UNSUPPORTED, "model.dc.profile is none");
  if (first >= most || count > most - first)
    return tpti_fail(TPT_E_ARGUMENT, "first is %zu, count %zu; positions 0 to %zu are allowed",
                     first, count, most - 1);
  memcpy(values, net->profile + first, count * sizeof *values);
  return TPT_OK;
}

tpt_status tpt_geometry_dc_profile(const tpt_model *model, size_t first, float *values,
                                   size_t count) {
  return TPTI_CALL(model, TPTI_MODEL, dc_profile(model, first, values, count));
}

/* The angles of a layer, [P / 2]. */
static tpt_status find_theta(const tpt_model *model, size_t layer, const float **theta,
                             size_t *count) {
  const tpti_dims *d = &model->net.dims;
  if (d->rotation == TPTI_ROTATION_NONE)
    return tpti_fail(TPT_E_UNSUPPORTED, "model.rotation.mode is none: there are no angles");
  if (layer >= d->L)
    return tpti_fail(TPT_E_ARGUMENT, "layer is %zu; 0 to %zu is allowed", layer, d->L - 1);
  *theta = tpti_network_block(&model->net, layer).theta;
  *count = tpti_dims_P(d) / 2;
  return TPT_OK;
}

static tpt_status angles(const tpt_model *model, size_t layer, size_t phase, float *values,
                         size_t count) {
  const float *theta = NULL;
  size_t ours = 0, N = model->net.dims.N;
  tpt_status status = find_theta(model, layer, &theta, &ours);
  if (status) return status;
  TPTI_NEED(values);
  if (phase >= N)
    return tpti_fail(TPT_E_ARGUMENT, "phase is %zu; 0 to %zu is allowed", phase, N - 1);
  if ((status = check_count(count, ours, "a layer"))) return status;
  double offset = 2.0 * PI * (double)phase / (double)N;
  for (size_t k = 0; k < count; k++) values[k] = (float)((double)theta[k] + offset);
  return TPT_OK;
}

tpt_status tpt_geometry_theta(const tpt_model *model, size_t layer, float *values, size_t count) {
  return TPTI_CALL(model, TPTI_MODEL, angles(model, layer, 0, values, count));
}

tpt_status tpt_geometry_angles(const tpt_model *model, size_t layer, size_t phase, float *values,
                               size_t count) {
  return TPTI_CALL(model, TPTI_MODEL, angles(model, layer, phase, values, count));
}

static tpt_status drift(const tpt_model *model, size_t layer, tpt_drift *result) {
  const float *theta = NULL;
  size_t count = 0;
  tpt_status status = find_theta(model, layer, &theta, &count);
  if (status) return status;
  tpt_drift ours = {.start = tpti_params_start_angle(&model->net.dims, layer)};
  double start = (double)(float)ours.start; /* as a weight holds it */
  double sum = 0.0, squares = 0.0;
  for (size_t k = 0; k < count; k++) {
    double moved = (double)theta[k] - start;
    sum += (double)theta[k];
    squares += moved * moved;
    ours.max = fmax(ours.max, fabs(moved));
  }
  ours.mean = sum / (double)count;
  ours.l2 = sqrt(squares);
  return tpti_result(result, &ours, sizeof ours, sizeof ours, "drift");
}

tpt_status tpt_geometry_drift(const tpt_model *model, size_t layer, tpt_drift *result) {
  return TPTI_CALL(model, TPTI_MODEL, drift(model, layer, result));
}

/* ---- measured on a trainer's last forward ---- */

static tpt_status find_stream(const tpt_trainer *t, tpt_point point, size_t layer,
                              tpti_stream *stream) {
  const tpti_dims *d = &t->model->net.dims;
  *stream = (tpti_stream){.B = t->B, .T = t->T, .D = d->D, .N = d->N};
  return tpti_trainer_stream(t, point, layer, &stream->x);
}

/* One of the measures that give `wanted` numbers a stream. */
typedef void measure_fn(const tpti_stream *stream, double *values);

static tpt_status measure(const tpt_trainer *t, tpt_point point, size_t layer, measure_fn *fill,
                          size_t wanted, double *values, size_t count) {
  tpti_stream stream;
  TPTI_NEED(values);
  tpt_status status = find_stream(t, point, layer, &stream);
  if (!status) status = check_count(count, wanted, "the measure");
  if (!status) fill(&stream, values);
  return status;
}

static size_t phases(const tpt_trainer *t) { return t->model->net.dims.N; }

tpt_status tpt_geometry_phase_means(const tpt_trainer *trainer, tpt_point point, size_t layer,
                                    double *values, size_t count) {
  return TPTI_CALL(
      trainer, TPTI_TRAINER,
      measure(trainer, point, layer, tpti_geometry_means, phases(trainer), values, count));
}

tpt_status tpt_geometry_phase_rms(const tpt_trainer *trainer, tpt_point point, size_t layer,
                                  double *values, size_t count) {
  return TPTI_CALL(
      trainer, TPTI_TRAINER,
      measure(trainer, point, layer, tpti_geometry_rms, phases(trainer), values, count));
}

tpt_status tpt_geometry_phase_cosine(const tpt_trainer *trainer, tpt_point point, size_t layer,
                                     double *values, size_t count) {
  return TPTI_CALL(trainer, TPTI_TRAINER,
                   measure(trainer, point, layer, tpti_geometry_cosines,
                           phases(trainer) * phases(trainer), values, count));
}

tpt_status tpt_geometry_dc_energy(const tpt_trainer *trainer, tpt_point point, size_t layer,
                                  double *values, size_t count) {
  return TPTI_CALL(
      trainer, TPTI_TRAINER,
      measure(trainer, point, layer, tpti_geometry_energy, phases(trainer), values, count));
}

static tpt_status dc(const tpt_trainer *t, tpt_point point, size_t layer, float *values,
                     size_t count) {
  tpti_stream stream;
  TPTI_NEED(values);
  tpt_status status = find_stream(t, point, layer, &stream);
  if (!status) status = check_count(count, stream.T, "the sequence");
  if (!status) tpti_geometry_positions(&stream, values);
  return status;
}

tpt_status tpt_geometry_dc(const tpt_trainer *trainer, tpt_point point, size_t layer, float *values,
                           size_t count) {
  return TPTI_CALL(trainer, TPTI_TRAINER, dc(trainer, point, layer, values, count));
}

static tpt_status zero_sum(const tpt_trainer *t, double *measured, double *analytic) {
  const tpti_network *net = &t->model->net;
  tpti_stream stream;
  TPTI_NEED(measured);
  TPTI_NEED(analytic);
  tpt_status status = find_stream(t, TPT_POINT_EMBEDDING, 0, &stream);
  if (status) return status;
  *measured = tpti_geometry_residual(&stream);
  *analytic =
      net->profile ? tpti_geometry_analytic(net->profile, stream.T, net->dims.N) : (double)NAN;
  return TPT_OK;
}

tpt_status tpt_geometry_zero_sum(const tpt_trainer *trainer, double *measured, double *analytic) {
  return TPTI_CALL(trainer, TPTI_TRAINER, zero_sum(trainer, measured, analytic));
}

static tpt_status displacement(const tpt_trainer *t, size_t layer, double *mean) {
  tpti_stream before;
  const float *after;
  TPTI_NEED(mean);
  tpt_status status = find_stream(t, TPT_POINT_ATTENTION, layer, &before);
  if (!status) status = tpti_trainer_stream(t, TPT_POINT_ROTATION, layer, &after);
  if (!status) *mean = tpti_geometry_moved(&before, after);
  return status;
}

tpt_status tpt_geometry_displacement(const tpt_trainer *trainer, size_t layer, double *mean) {
  return TPTI_CALL(trainer, TPTI_TRAINER, displacement(trainer, layer, mean));
}
