/* Gradient clipping by the global norm. */
#include "train/clip.h"

#include <math.h>

#include "kernel/kernel.h"

typedef struct squares {
  const tpti_kernels *kernels;
  const float *values;
  size_t count;
  double *partial;
} squares;

static void sum_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const squares *s = argument;
  const float *values = s->values + item * TPTI_FLAT_BLOCK;
  s->partial[item] = s->kernels->sum_squares(values, tpti_flat_size(s->count, item));
}

double tpti_global_norm(tpti_run *run, const float *values, size_t count, double *partial) {
  squares s = {run->kernels, values, count, partial};
  size_t blocks = tpti_flat_blocks(count);
  tpti_parallel(run, blocks, sum_block, &s);
  double sum = 0.0;
  for (size_t i = 0; i < blocks; i++) sum += partial[i];
  return sqrt(sum);
}

double tpti_clip_factor(double norm, double limit) {
  if (limit <= 0.0 || norm + 1e-6 <= limit) return 1.0;
  return limit / (norm + 1e-6);
}
