/* The phase rotation, one pair after the other: the reference of every other variant. */
#include "kernel/rotate.h"

void tpti_rotate_forward_plain(float *out, const float *h, const float *cosine, const float *sine,
                               const tpti_rotate_shape *s) {
  for (size_t r = 0; r < s->rows; r++, h += 2 * s->pairs, out += 2 * s->pairs) {
    for (size_t k = 0; k < s->pairs; k++) {
      float h0 = h[2 * k], h1 = h[2 * k + 1];
      out[2 * k] = h0 * cosine[k] - h1 * sine[k] + (s->residual ? h0 : 0);
      out[2 * k + 1] = h0 * sine[k] + h1 * cosine[k] + (s->residual ? h1 : 0);
    }
  }
}

/* A rotation keeps the cross product: dout1 y0 - dout0 y1 = t1 h0 - t0 h1 with t = R^T dout. */
void tpti_rotate_backward_plain(float *dh, float *dangle, const float *dout, const float *h,
                                const float *cosine, const float *sine,
                                const tpti_rotate_shape *s) {
  for (size_t k = 0; k < s->pairs; k++) {
    double sum = 0;
    for (size_t r = 0; r < s->rows; r++) {
      size_t at = 2 * (r * s->pairs + k);
      float d0 = dout[at], d1 = dout[at + 1];
      float t0 = d0 * cosine[k] + d1 * sine[k], t1 = d1 * cosine[k] - d0 * sine[k];
      dh[at] = s->residual ? d0 + t0 : t0;
      dh[at + 1] = s->residual ? d1 + t1 : t1;
      sum += (double)t1 * h[at] - (double)t0 * h[at + 1];
    }
    dangle[k] = (float)sum;
  }
}
