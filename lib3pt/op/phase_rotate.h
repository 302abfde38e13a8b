/* Phase rotation (paper 3.2, 3.3): pair k, channels (2k, 2k+1) of phase i, turns by a, and
 *
 *   a   = theta[k] + 2 pi i / N
 *   R h = (h0 cos a - h1 sin a, h0 sin a + h1 cos a)
 *   out = R h (replace)   or   h + R h (residual)
 *
 * backward, with y = R h:
 *
 *   dh         = R^T dout (replace)   or   dout + R^T dout (residual)
 *   dtheta[k] += sum over rows and phases of dout1 y0 - dout0 y1
 */
#ifndef TPTI_OP_PHASE_ROTATE_H
#define TPTI_OP_PHASE_ROTATE_H

#include "op/op.h"

/* cosine, sine [D / 2] of the angles of all phases; theta [P / 2]. In double, then rounded once. */
void tpti_phase_rotate_table(float *cosine, float *sine, const float *theta, size_t D, size_t N);

/* out, h [M, D]; out may be h. */
void tpti_phase_rotate_forward(tpti_run *run, float *out, const float *h, const float *cosine,
                               const float *sine, bool residual, size_t M, size_t D);

/* dh [M, D] may be dout; partial [row_blocks(M), D / 2]: sums over 64 rows of what dtheta adds; h
 * as given to forward. */
void tpti_phase_rotate_backward(tpti_run *run, float *dh, float *partial, const float *dout,
                                const float *h, const float *cosine, const float *sine,
                                bool residual, size_t M, size_t D);

/* dtheta [P / 2] adds the partial sums of M rows. */
void tpti_phase_rotate_backward_theta(float *dtheta, const float *partial, size_t M, size_t D,
                                      size_t N);

#endif
