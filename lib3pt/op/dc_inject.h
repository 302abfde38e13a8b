/* Token embedding and DC injection (paper 3.4):
 *
 *   x0 = scale * embedding[token]
 *   x  = x0 + (r(p) - mean_D(x0))
 *
 * backward, with c = dx - mean_D(dx) where there is a profile, else c = dx:
 *
 *   dembedding[token] += scale * c
 *   dprofile[p]       += sum over B and D of dx
 */
#ifndef TPTI_OP_DC_INJECT_H
#define TPTI_OP_DC_INJECT_H

#include "op/op.h"

/* x [B T, D]; tokens [B, T]; embedding [V, D]; profile [T]: r of these positions, or NULL: x = x0.
 */
void tpti_dc_inject_forward(tpti_run *run, float *x, const int32_t *tokens, const float *embedding,
                            const float *profile, float scale, size_t B, size_t T, size_t D);

/* Adds to dembedding [V, D] and, where it is not NULL, to dprofile [T]. centred: there was a
 * profile. means [B T] is scratch. */
void tpti_dc_inject_backward(tpti_run *run, float *dembedding, float *dprofile, float *means,
                             const float *dx, const int32_t *tokens, bool centred, float scale,
                             size_t B, size_t T, size_t D);

#endif
