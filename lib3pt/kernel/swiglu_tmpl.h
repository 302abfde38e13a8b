/* SwiGLU over the vector vocabulary: swiglu.h. */
#include "kernel/swiglu.h"

/* 1 + exp(-gate); infinity below about -88, where the sigmoid is 0. */
static inline v_f32 swiglu_divisor(v_f32 gate) { return v_add(v_set1(1), v_exp(v_neg(gate))); }

static void swiglu_forward(float *act, const float *gate_up, size_t F) {
  const float *ups = gate_up + F;
  size_t f = 0;
  for (; f + V_LANES <= F; f += V_LANES) {
    v_f32 gate = v_load(gate_up + f);
    v_store(act + f, v_mul(v_div(gate, swiglu_divisor(gate)), v_load(ups + f)));
  }
  if (f < F) {
    v_f32 gate = v_load_n(gate_up + f, F - f), up = v_load_n(ups + f, F - f);
    v_store_n(act + f, v_mul(v_div(gate, swiglu_divisor(gate)), up), F - f);
  }
}

/* gate and up become their gradients. */
static inline void swiglu_gradient(v_f32 *gate, v_f32 *up, v_f32 dact) {
  v_f32 one = v_set1(1), s = v_div(one, swiglu_divisor(*gate)), ds = v_mul(dact, s);
  v_f32 slope = v_fma(*gate, v_sub(one, s), one), dup = v_mul(ds, *gate);
  *gate = v_mul(v_mul(ds, *up), slope);
  *up = dup;
}

static void swiglu_backward(float *dgate_up, const float *dact, const float *gate_up, size_t F) {
  size_t f = 0;
  for (; f + V_LANES <= F; f += V_LANES) {
    v_f32 gate = v_load(gate_up + f), up = v_load(gate_up + F + f);
    swiglu_gradient(&gate, &up, v_load(dact + f));
    v_store(dgate_up + f, gate);
    v_store(dgate_up + F + f, up);
  }
  if (f < F) {
    v_f32 gate = v_load_n(gate_up + f, F - f), up = v_load_n(gate_up + F + f, F - f);
    swiglu_gradient(&gate, &up, v_load_n(dact + f, F - f));
    v_store_n(dgate_up + f, gate, F - f);
    v_store_n(dgate_up + F + f, up, F - f);
  }
}
