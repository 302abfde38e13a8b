/* PhaseNorm over the vector vocabulary: norm.h. */
#include <math.h>

#include "kernel/norm.h"

static inline float norm_root(const float *h, float eps, size_t P) {
  v_f32 a = v_zero(), b = v_zero();
  size_t c = 0;
  for (; c + 2 * V_LANES <= P; c += 2 * V_LANES) {
    v_f32 x = v_load(h + c), y = v_load(h + c + V_LANES);
    a = v_fma(x, x, a);
    b = v_fma(y, y, b);
  }
  for (; c < P; c += V_LANES) {
    v_f32 x = P - c < V_LANES ? v_load_n(h + c, P - c) : v_load(h + c);
    a = v_fma(x, x, a);
  }
  return 1 / sqrtf(v_sum(v_add(a, b)) / (float)P + eps);
}

static inline void norm_apply(float *n, const float *h, const float *gain, float root, size_t P) {
  v_f32 r = v_set1(root);
  size_t c = 0;
  for (; c + V_LANES <= P; c += V_LANES) {
    v_store(n + c, v_mul(v_mul(v_load(h + c), r), v_load(gain + c)));
  }
  if (c < P) {
    size_t left = P - c;
    v_store_n(n + c, v_mul(v_mul(v_load_n(h + c, left), r), v_load_n(gain + c, left)), left);
  }
}

static void norm_forward(float *n, float *rstd, const float *h, const float *gain, float eps,
                         const tpti_norm_shape *s) {
  for (size_t row = 0; row < s->rows; row++) {
    for (size_t i = 0; i < s->N; i++) {
      size_t at = (row * s->N + i) * s->P;
      float root = norm_root(h + at, eps, s->P);
      if (rstd) rstd[row * s->N + i] = root;
      norm_apply(n + at, h + at, gain + i * s->P, root, s->P);
    }
  }
}

/* One phase of one row. */
typedef struct norm_phase {
  float *dh, *dgain;
  const float *dn, *h, *gain;
  size_t P;
} norm_phase;

static inline float norm_dot(const norm_phase *p) {
  v_f32 a = v_zero();
  size_t c = 0;
  for (; c + V_LANES <= p->P; c += V_LANES) {
    a = v_fma(v_mul(v_load(p->dn + c), v_load(p->gain + c)), v_load(p->h + c), a);
  }
  if (c < p->P) {
    size_t left = p->P - c;
    v_f32 g = v_mul(v_load_n(p->dn + c, left), v_load_n(p->gain + c, left));
    a = v_fma(g, v_load_n(p->h + c, left), a);
  }
  return v_sum(a);
}

/* dh + r (g - h k). */
static inline v_f32 norm_dh(v_f32 dh, v_f32 g, v_f32 h, v_f32 r, v_f32 k) {
  return v_fma(r, v_fnma(h, k, g), dh);
}

static inline void norm_spread(const norm_phase *p, float root, float slope) {
  v_f32 r = v_set1(root), k = v_set1(slope);
  size_t c = 0;
  for (; c + V_LANES <= p->P; c += V_LANES) {
    v_f32 dn = v_load(p->dn + c), h = v_load(p->h + c), g = v_mul(dn, v_load(p->gain + c));
    v_store(p->dgain + c, v_fma(dn, v_mul(h, r), v_load(p->dgain + c)));
    v_store(p->dh + c, norm_dh(v_load(p->dh + c), g, h, r, k));
  }
  if (c < p->P) {
    size_t left = p->P - c;
    v_f32 dn = v_load_n(p->dn + c, left), h = v_load_n(p->h + c, left);
    v_f32 g = v_mul(dn, v_load_n(p->gain + c, left));
    v_store_n(p->dgain + c, v_fma(dn, v_mul(h, r), v_load_n(p->dgain + c, left)), left);
    v_store_n(p->dh + c, norm_dh(v_load_n(p->dh + c, left), g, h, r, k), left);
  }
}

static void norm_backward(float *dh, float *dgain, const float *dn, const float *h,
                          const float *rstd, const float *gain, const tpti_norm_shape *s) {
  for (size_t c = 0; c < s->N * s->P; c++) dgain[c] = 0;
  for (size_t row = 0; row < s->rows; row++) {
    for (size_t i = 0; i < s->N; i++) {
      size_t at = (row * s->N + i) * s->P, column = i * s->P;
      norm_phase p = {dh + at, dgain + column, dn + at, h + at, gain + column, s->P};
      float root = rstd[row * s->N + i];
      norm_spread(&p, root, norm_dot(&p) / (float)s->P * root * root);
    }
  }
}
