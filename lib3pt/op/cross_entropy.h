/* Cross-entropy of next tokens over one chunk of R rows of logits:
 *
 *   lse  = ln sum_v exp(z_v)
 *   loss = lse - z_target
 *   dz_v = weight (exp(z_v - lse) - [v = target])
 *
 * Rows whose target is ignore_index have loss 0 and dz 0. A logit that is NaN or +inf makes the
 * loss of its row NaN. */
#ifndef TPTI_OP_CROSS_ENTROPY_H
#define TPTI_OP_CROSS_ENTROPY_H

#include "op/op.h"

/* loss [R] in double; logits [R, V]; targets [R]: in 0..V-1 or ignore_index. */
void tpti_cross_entropy_forward(tpti_run *run, double *loss, const float *logits,
                                const int32_t *targets, int32_t ignore_index, size_t R, size_t V);

/* The loss as forward gives it, and in place its gradient: logits [R, V] become dlogits, of one
 * exponential a logit for both. */
void tpti_cross_entropy_both(tpti_run *run, double *loss, float *logits, const int32_t *targets,
                             int32_t ignore_index, float weight, size_t R, size_t V);

#endif
