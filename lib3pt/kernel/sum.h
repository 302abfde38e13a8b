/* Sums in double, in an order fixed by n alone; a non-finite entry makes the sum non-finite. */
#ifndef TPTI_KERNEL_SUM_H
#define TPTI_KERNEL_SUM_H

#include <stddef.h>

typedef double tpti_sum_values_fn(const float *x, size_t n);
typedef double tpti_sum_squares_fn(const float *x, size_t n);

tpti_sum_values_fn tpti_sum_values_plain;
tpti_sum_squares_fn tpti_sum_squares_plain;

#endif
