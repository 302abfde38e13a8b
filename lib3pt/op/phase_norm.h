/* PhaseNorm (paper 3.5): each of N stripes of P channels by its own root mean square.
 *
 *   r_i = 1 / sqrt(mean_P(h_i^2) + eps)
 *   n_i = h_i r_i gain_i
 *
 * backward, with g = dn gain:
 *
 *   dh_i   = r_i (g - h_i r_i^2 mean_P(g h_i))
 *   dgain += sum over rows of dn h_i r_i
 */
#ifndef TPTI_OP_PHASE_NORM_H
#define TPTI_OP_PHASE_NORM_H

#include "op/op.h"

/* n [M, D]; rstd [M, N] (NULL: not wanted); h [M, D]; gain [D]. n may be h. */
void tpti_phase_norm_forward(tpti_run *run, float *n, float *rstd, const float *h,
                             const float *gain, float eps, size_t M, size_t D, size_t N);

/* dh [M, D] adds; partial [row_blocks(M), D]: sums over 64 rows of what dgain adds. */
void tpti_phase_norm_backward(tpti_run *run, float *dh, float *partial, const float *dn,
                              const float *h, const float *rstd, const float *gain, size_t M,
                              size_t D, size_t N);

/* dgain [D] adds the partial sums of M rows. */
void tpti_phase_norm_backward_gain(float *dgain, const float *partial, size_t M, size_t D);

#endif
