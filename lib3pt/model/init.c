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

/* Values that one task starts, from a stream of its own. */
enum { START_BLOCK = 65536 };

static size_t start_blocks(const tpti_tensor *t) { return (t->count - 1) / START_BLOCK + 1; }

/* values: `count` of a tensor's, from its value `first` on. */
static void start_values(const tpti_tensor *t, const tpti_dims *d, uint64_t stream, size_t first,
                         size_t count, float *values) {
  switch (t->start) {
  case TPTI_START_NORMAL:
    tpti_random_normal(stream, values, count);
    break;
  case TPTI_START_UNIFORM:
    tpti_random_uniform(stream, values, count, 1.0 / sqrt((double)t->shape[1]));
    break;
  case TPTI_START_ONE:
    fill(values, count, 1.0f);
    break;
  case TPTI_START_THETA:
    fill(values, count, (float)tpti_params_start_angle(d, t->layer));
    break;
  case TPTI_START_HORN:
    for (size_t p = 0; p < count; p++) values[p] = (float)(1.0 / (double)(first + p + 1));
    break;
  }
}

typedef struct starting {
  const tpti_params *params;
  const tpti_dims *dims;
  uint64_t seed;
  float *weights;
} starting;

/* Block `item` of all tensors' blocks, in their order. */
static void start_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const starting *s = argument;
  size_t tensor = 0;
  for (; item >= start_blocks(&s->params->tensors[tensor]); tensor++)
    item -= start_blocks(&s->params->tensors[tensor]);
  const tpti_tensor *t = &s->params->tensors[tensor];
  size_t first = item * START_BLOCK, left = t->count - first;
  uint64_t stream = tpti_random_stream(tpti_random_stream(s->seed, tensor), item);
  start_values(t, s->dims, stream, first, left < START_BLOCK ? left : START_BLOCK,
               s->weights + t->offset + first);
}

void tpti_params_init(tpti_run *run, const tpti_params *params, const tpti_dims *dims,
                      uint64_t seed, float *weights) {
  starting s = {params, dims, seed, weights};
  size_t blocks = 0;
  for (size_t i = 0; i < params->tensor_count; i++) blocks += start_blocks(&params->tensors[i]);
  tpti_parallel(run, blocks, start_block, &s);
}
