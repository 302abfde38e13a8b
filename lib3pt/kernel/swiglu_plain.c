/* SwiGLU, one channel after the other: the reference of every other variant. */
#include "kernel/swiglu.h"

#include <math.h>

void tpti_swiglu_forward_plain(float *act, const float *gate_up, size_t F) {
  for (size_t f = 0; f < F; f++) act[f] = gate_up[f] / (1 + expf(-gate_up[f])) * gate_up[F + f];
}

void tpti_swiglu_backward_plain(float *dgate_up, float *act, const float *dact,
                                const float *gate_up, size_t F) {
  for (size_t f = 0; f < F; f++) {
    float gate = gate_up[f], up = gate_up[F + f], d = dact[f], s = 1 / (1 + expf(-gate));
    act[f] = gate * s * up;
    dgate_up[f] = d * up * s * (1 + gate * (1 - s));
    dgate_up[F + f] = d * gate * s;
  }
}
