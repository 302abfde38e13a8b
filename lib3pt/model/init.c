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

/* Values that have a stream of their own: blocks of a tensor, the last one shorter. */
enum { START_BLOCK = 65536 };

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
  size_t range; /* values whose blocks are one item, at most START_BLOCK */
  float *weights;
} starting;

static void start_block(const starting *s, size_t tensor, size_t block) {
  const tpti_tensor *t = &s->params->tensors[tensor];
  size_t first = block * START_BLOCK, left = t->count - first;
  uint64_t stream = tpti_random_stream(tpti_random_stream(s->seed, tensor), block);
  start_values(t, s->dims, stream, first, left < START_BLOCK ? left : START_BLOCK,
               s->weights + t->offset + first);
}

/* The first tensor that ends after value `at` of them all. */
static size_t tensor_at(const tpti_params *p, size_t at) {
  size_t low = 0, high = p->tensor_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (p->tensors[middle].offset + p->tensors[middle].count > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The blocks that begin in range `item` of all tensors together: at most one of a tensor, but any
 * number of small tensors. */
static void start_range(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const starting *s = argument;
  size_t from = item * s->range, to = from + s->range;
  for (size_t i = tensor_at(s->params, from); i < s->params->tensor_count; i++) {
    const tpti_tensor *t = &s->params->tensors[i];
    if (t->offset >= to) break;
    size_t block = t->offset < from ? (from - t->offset - 1) / START_BLOCK + 1 : 0;
    size_t first = block * START_BLOCK;
    if (first < t->count && t->offset + first < to) start_block(s, i, block);
  }
}

/* At least two ranges: the pool's threads, which tpt_config_memory counts, start with the model,
 * however small it is. */
void tpti_params_init(tpti_run *run, const tpti_params *params, const tpti_dims *dims,
                      uint64_t seed, float *weights) {
  size_t half = (params->count + 1) / 2, range = half < START_BLOCK ? half : START_BLOCK;
  starting s = {params, dims, seed, range, weights};
  tpti_parallel(run, (params->count - 1) / range + 1, start_range, &s);
}
