/* Inner loops of PhaseNorm (op/phase_norm.h) over a few rows. */
#ifndef TPTI_KERNEL_NORM_H
#define TPTI_KERNEL_NORM_H

#include <stddef.h>

/* rows of N stripes of P channels. */
typedef struct tpti_norm_shape {
  size_t rows, N, P;
} tpti_norm_shape;

/* n may be h; rstd [rows, N] may be NULL. */
typedef void tpti_norm_forward_fn(float *n, float *rstd, const float *h, const float *gain,
                                  float eps, const tpti_norm_shape *s);

/* dh adds; dgain [N P] is overwritten with the sum over these rows. */
typedef void tpti_norm_backward_fn(float *dh, float *dgain, const float *dn, const float *h,
                                   const float *rstd, const float *gain, const tpti_norm_shape *s);

tpti_norm_forward_fn tpti_norm_forward_plain;
tpti_norm_backward_fn tpti_norm_backward_plain;

#endif
