/* AdamW, one parameter after the other: the reference of every other variant. */
#include "kernel/adamw.h"

#include <math.h>

void tpti_adamw_plain(float *p, float *m, float *v, const float *g, size_t n,
                      const tpti_adamw_step *s) {
  float scale = (float)s->gradient_scale, eps = (float)s->eps;
  float beta1 = (float)s->beta1, rest1 = (float)(1 - s->beta1), bias1 = (float)s->bias1;
  float beta2 = (float)s->beta2, rest2 = (float)(1 - s->beta2), bias2 = (float)s->bias2;
  float lr = (float)s->lr, keep = (float)(1 - s->decay);
  for (size_t i = 0; i < n; i++) {
    float d = scale * g[i];
    m[i] = beta1 * m[i] + rest1 * d;
    v[i] = beta2 * v[i] + rest2 * (d * d);
    p[i] = keep * p[i] - lr * (bias1 * m[i]) / (sqrtf(bias2 * v[i]) + eps);
  }
}
