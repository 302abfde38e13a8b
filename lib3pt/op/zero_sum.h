/* The zero-sum penalty (paper 4.6), mu_i the mean of phase i:
 *
 *   s       = sum_i mu_i = (sum over D of x) / P
 *   penalty = mean over rows of s^2
 *
 * backward, the same for every channel of a row:
 *
 *   dx += coef 2 s / (M P)
 */
#ifndef TPTI_OP_ZERO_SUM_H
#define TPTI_OP_ZERO_SUM_H

#include "op/op.h"

/* The penalty, without its coefficient; sums [M] keeps s of each row for the backward. */
double tpti_zero_sum_forward(tpti_run *run, float *sums, const float *x, size_t M, size_t D,
                             size_t N);

/* dx [M, D] adds. */
void tpti_zero_sum_backward(tpti_run *run, float *dx, const float *sums, float coef, size_t M,
                            size_t D, size_t N);

#endif
