/* The start of the weights (DESIGN section 2): embedding N(0, 1), linear maps U(-1/sqrt(in),
 * 1/sqrt(in)), gains 1, angles by their schedule, a learned DC profile at Gabriel's horn. */
#include <math.h>

#include "base/random.h"
#include "model/params.h"

#define PI 3.14159265358979323846

/* Mean angle of each of the 12 blocks after the paper's training at 123M (4.11.1), radians. */
static const double converged[12] = {0.178, 0.282, 0.397, 0.515, 0.635, 0.755,
                                     0.877, 0.977, 1.095, 1.222, 1.327, 1.409};

static double u_shaped(size_t layer, size_t layers) {
  if (layers == 1) return converged[0];
  double at = 11.0 * (double)layer / (double)(layers - 1);
  size_t low = at >= 11.0 ? 10 : (size_t)at;
  return converged[low] + (at - (double)low) * (converged[low + 1] - converged[low]);
}

double tpti_params_start_angle(const tpti_dims *d, size_t layer) {
  switch (d->schedule) {
  case TPTI_SCHEDULE_CONSTANT:
    return PI / 4;
  case TPTI_SCHEDULE_U_SHAPED:
    return u_shaped(layer, d->L);
  case TPTI_SCHEDULE_LIST:
    return d->schedule_values[layer];
  case TPTI_SCHEDULE_LINEAR:
    break;
  }
  return (double)(layer + 1) * PI / (2.0 * (double)d->L);
}

static void fill(float *values, size_t count, float value) {
  for (size_t i = 0; i < count; i++) values[i] = value;
}

static void start_tensor(const tpti_tensor *t, const tpti_dims *d, uint64_t stream, float *values) {
  switch (t->start) {
  case TPTI_START_NORMAL:
    tpti_random_normal(stream, values, t->count);
    break;
  case TPTI_START_UNIFORM:
    tpti_random_uniform(stream, values, t->count, 1.0 / sqrt((double)t->shape[1]));
    break;
  case TPTI_START_ONE:
    fill(values, t->count, 1.0f);
    break;
  case TPTI_START_THETA:
    fill(values, t->count, (float)tpti_params_start_angle(d, t->layer));
    break;
  case TPTI_START_HORN:
    for (size_t p = 0; p < t->count; p++) values[p] = (float)(1.0 / (double)(p + 1));
    break;
  }
}

void tpti_params_init(const tpti_params *params, const tpti_dims *dims, uint64_t seed,
                      float *weights) {
  for (size_t i = 0; i < params->tensor_count; i++) {
    const tpti_tensor *t = &params->tensors[i];
    start_tensor(t, dims, tpti_random_stream(seed, i), weights + t->offset);
  }
}
