/* The phase rotation over the vector vocabulary: rotate.h. */
#include "kernel/rotate.h"

static inline v_f32 rotate_turn(v_f32 h, v_f32 cosine, v_f32 sine, bool residual) {
  v_f32 y = v_fmaddsub(h, cosine, v_mul(v_swap_pairs(h), sine));
  return residual ? v_add(h, y) : y;
}

static inline void rotate_row(float *out, const float *h, const float *cosine, const float *sine,
                              size_t count, bool residual) {
  size_t c = 0;
  for (; c + V_LANES <= count; c += V_LANES) {
    v_f32 angle_c = v_load_dup(cosine + c / 2), angle_s = v_load_dup(sine + c / 2);
    v_store(out + c, rotate_turn(v_load(h + c), angle_c, angle_s, residual));
  }
  if (c < count) {
    size_t left = count - c;
    v_f32 angle_c = v_load_dup_n(cosine + c / 2, left / 2);
    v_f32 angle_s = v_load_dup_n(sine + c / 2, left / 2);
    v_store_n(out + c, rotate_turn(v_load_n(h + c, left), angle_c, angle_s, residual), left);
  }
}

static void rotate_forward(float *out, const float *h, const float *cosine, const float *sine,
                           const tpti_rotate_shape *s) {
  size_t count = 2 * s->pairs;
  for (size_t r = 0; r < s->rows; r++) {
    rotate_row(out + r * count, h + r * count, cosine, sine, count, s->residual);
  }
}

/* One row; channels are taken apart into first and second of a pair, so that the sums have one
 * lane a pair. t = R^T dout; a rotation keeps the cross product dout1 y0 - dout0 y1. */
static inline void rotate_row_back(float *dh, float *dangle, const float *dout, const float *h,
                                   const float *cosine, const float *sine,
                                   const tpti_rotate_shape *s) {
  size_t k = 0;
  for (; k + V_LANES <= s->pairs; k += V_LANES) {
    v_f32 d0, d1, h0, h1, c = v_load(cosine + k), i = v_load(sine + k);
    v_load2(dout + 2 * k, &d0, &d1);
    v_load2(h + 2 * k, &h0, &h1);
    v_f32 t0 = v_fma(d0, c, v_mul(d1, i)), t1 = v_fms(d1, c, v_mul(d0, i));
    v_f32 turn = v_fms(t1, h0, v_mul(t0, h1));
    v_store(dangle + k, v_add(v_load(dangle + k), turn));
    if (s->residual) t0 = v_add(t0, d0), t1 = v_add(t1, d1);
    v_store2(dh + 2 * k, t0, t1);
  }
  for (; k < s->pairs; k++) {
    float d0 = dout[2 * k], d1 = dout[2 * k + 1];
    float t0 = d0 * cosine[k] + d1 * sine[k], t1 = d1 * cosine[k] - d0 * sine[k];
    dangle[k] += t1 * h[2 * k] - t0 * h[2 * k + 1];
    dh[2 * k] = s->residual ? d0 + t0 : t0;
    dh[2 * k + 1] = s->residual ? d1 + t1 : t1;
  }
}

static void rotate_backward(float *dh, float *dangle, const float *dout, const float *h,
                            const float *cosine, const float *sine, const tpti_rotate_shape *s) {
  for (size_t k = 0; k < s->pairs; k++) dangle[k] = 0;
  for (size_t r = 0; r < s->rows; r++) {
    size_t at = r * 2 * s->pairs;
    rotate_row_back(dh + at, dangle, dout + at, h + at, cosine, sine, s);
  }
}
