/* Sums, one entry after the other: the reference of every other variant. */
#include "kernel/sum.h"

double tpti_sum_values_plain(const float *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)x[i];
  return sum;
}

double tpti_sum_squares_plain(const float *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)x[i] * x[i];
  return sum;
}
