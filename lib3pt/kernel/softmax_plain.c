/* Log-sum-exp and softmax, one logit after the other: the reference of every other variant. */
#include "kernel/softmax.h"

#include <math.h>

double tpti_logsumexp_plain(const float *z, size_t n) {
  float top = z[0];
  for (size_t i = 1; i < n; i++) top = z[i] > top ? z[i] : top;
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)expf(z[i] - top);
  return (double)top + log(sum);
}

double tpti_softmax_row_plain(float *z, float weight, size_t n) {
  float top = z[0];
  for (size_t i = 1; i < n; i++) top = z[i] > top ? z[i] : top;
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)(z[i] = expf(z[i] - top));
  for (size_t i = 0; i < n; i++) z[i] *= (float)((double)weight / sum);
  return (double)top + log(sum);
}
