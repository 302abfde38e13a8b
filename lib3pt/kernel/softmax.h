/* Inner loops of the cross-entropy (op/cross_entropy.h): one row of n logits, n >= 1. */
#ifndef TPTI_KERNEL_SOFTMAX_H
#define TPTI_KERNEL_SOFTMAX_H

#include <stddef.h>

/* ln sum_v exp(z_v); NaN where an entry is NaN or +inf, or all are -inf. */
typedef double tpti_logsumexp_fn(const float *z, size_t n);

/* z = weight exp(z) / sum_v exp(z_v), in place, with one exponential an entry; returns what
 * logsumexp would. Where that is NaN, so is z wherever weight is not 0. */
typedef double tpti_softmax_row_fn(float *z, float weight, size_t n);

tpti_logsumexp_fn tpti_logsumexp_plain;
tpti_softmax_row_fn tpti_softmax_row_plain;

#endif
