/* The global norm of a gradient, and the factor that clips it. */
#ifndef TPTI_TRAIN_CLIP_H
#define TPTI_TRAIN_CLIP_H

#include <stddef.h>

#include "base/threads.h"

/* Values that one task of a pass over a flat array does: 128 KiB of each array. */
enum { TPTI_FLAT_BLOCK = 32768 };

static inline size_t tpti_flat_blocks(size_t count) {
  return (count + TPTI_FLAT_BLOCK - 1) / TPTI_FLAT_BLOCK;
}

/* Root of the sum of squares, in double; not finite where a value is not. partial
 * [flat_blocks(count)]. */
double tpti_global_norm(tpti_run *run, const float *values, size_t count, double *partial);

/* 1, or limit / norm where the norm is above a limit > 0 (PyTorch's clip_grad_norm_: norm + 1e-6).
 */
double tpti_clip_factor(double norm, double limit);

#endif
