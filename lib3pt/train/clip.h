/* The global norm of a gradient, and the factor that clips it. */
#ifndef TPTI_TRAIN_CLIP_H
#define TPTI_TRAIN_CLIP_H

#include "train/flat.h"

/* Root of the sum of squares, in double; not finite where a value is not. partial
 * [flat_blocks(count)]. */
double tpti_global_norm(tpti_run *run, const float *values, size_t count, double *partial);

/* 1, or limit / norm where the norm is above a limit > 0 (PyTorch's clip_grad_norm_: norm + 1e-6).
 */
double tpti_clip_factor(double norm, double limit);

#endif
