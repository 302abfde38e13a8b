/* Rotary position embedding over the vector vocabulary: rope.h. */
#include "kernel/rope.h"

static inline void rope_head(float *x, const float *cosine, const float *sine, size_t half,
                             bool back) {
  size_t j = 0;
  for (; j + V_LANES <= half; j += V_LANES) {
    v_f32 lo = v_load(x + j), hi = v_load(x + half + j), c = v_load(cosine + j);
    v_f32 s = back ? v_neg(v_load(sine + j)) : v_load(sine + j);
    v_store(x + j, v_fms(lo, c, v_mul(hi, s)));
    v_store(x + half + j, v_fma(hi, c, v_mul(lo, s)));
  }
  if (j < half) {
    size_t left = half - j;
    v_f32 lo = v_load_n(x + j, left), hi = v_load_n(x + half + j, left);
    v_f32 c = v_load_n(cosine + j, left), s = v_load_n(sine + j, left);
    if (back) s = v_neg(s);
    v_store_n(x + j, v_fms(lo, c, v_mul(hi, s)), left);
    v_store_n(x + half + j, v_fma(hi, c, v_mul(lo, s)), left);
  }
}

static void rope(float *x, const float *cosine, const float *sine, size_t heads, size_t half,
                 bool back) {
  for (size_t i = 0; i < heads; i++) rope_head(x + i * 2 * half, cosine, sine, half, back);
}
