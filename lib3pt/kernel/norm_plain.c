/* PhaseNorm, one channel after the other: the reference of every other variant. */
#include "kernel/norm.h"

#include <math.h>

void tpti_norm_forward_plain(float *n, float *rstd, const float *h, const float *gain, float eps,
                             const tpti_norm_shape *s) {
  for (size_t i = 0; i < s->rows * s->N; i++) {
    const float *x = h + i * s->P, *g = gain + i % s->N * s->P;
    double squares = 0;
    for (size_t c = 0; c < s->P; c++) squares += (double)x[c] * x[c];
    float r = (float)(1 / sqrt(squares / (double)s->P + (double)eps));
    for (size_t c = 0; c < s->P; c++) n[i * s->P + c] = x[c] * r * g[c];
    if (rstd) rstd[i] = r;
  }
}

void tpti_norm_backward_plain(float *dh, float *dgain, const float *dn, const float *h,
                              const float *rstd, const float *gain, const tpti_norm_shape *s) {
  for (size_t c = 0; c < s->N * s->P; c++) dgain[c] = 0;
  for (size_t i = 0; i < s->rows * s->N; i++) {
    const float *x = h + i * s->P, *d = dn + i * s->P, *g = gain + i % s->N * s->P;
    float *dx = dh + i * s->P, *dg = dgain + i % s->N * s->P;
    double dot = 0;
    for (size_t c = 0; c < s->P; c++) dot += (double)d[c] * g[c] * x[c];
    float r = rstd[i], k = (float)(dot / (double)s->P * r * r);
    for (size_t c = 0; c < s->P; c++) {
      dx[c] += r * (d[c] * g[c] - x[c] * k);
      dg[c] += d[c] * x[c] * r;
    }
  }
}
