/* Inner loops of the phase rotation (op/phase_rotate.h) over a few rows. */
#ifndef TPTI_KERNEL_ROTATE_H
#define TPTI_KERNEL_ROTATE_H

#include <stdbool.h>
#include <stddef.h>

/* rows of `pairs` neighbouring channel pairs; cosine and sine hold one entry a pair. */
typedef struct tpti_rotate_shape {
  size_t rows, pairs;
  bool residual;
} tpti_rotate_shape;

/* out may be h. */
typedef void tpti_rotate_forward_fn(float *out, const float *h, const float *cosine,
                                    const float *sine, const tpti_rotate_shape *s);

/* dh may be dout; dangle [pairs] is overwritten with the sum over these rows. */
typedef void tpti_rotate_backward_fn(float *dh, float *dangle, const float *dout, const float *h,
                                     const float *cosine, const float *sine,
                                     const tpti_rotate_shape *s);

tpti_rotate_forward_fn tpti_rotate_forward_plain;
tpti_rotate_backward_fn tpti_rotate_backward_plain;

#endif
