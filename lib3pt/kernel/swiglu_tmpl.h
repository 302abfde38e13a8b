/* SwiGLU over the vector vocabulary: swiglu.h. */
#include "kernel/swiglu.h"

/* Below about -88 the exponential is infinity and this 0. The division keeps a unit busy that idles
 * in an exponential: Newton's steps in its place measured no faster. */
static inline v_f32 swiglu_sigmoid(v_f32 gate) {
  return v_div(v_set1(1), v_add(v_set1(1), v_exp(v_neg(gate))));
}

static inline v_f32 swiglu_act(v_f32 gate, v_f32 sigmoid, v_f32 up) {
  return v_mul(v_mul(gate, sigmoid), up);
}

static void swiglu_forward(float *act, const float *gate_up, size_t F) {
  const float *ups = gate_up + F;
  size_t f = 0;
  for (; f + V_LANES <= F; f += V_LANES) {
    v_f32 gate = v_load(gate_up + f);
    v_store(act + f, swiglu_act(gate, swiglu_sigmoid(gate), v_load(ups + f)));
  }
  if (f < F) {
    v_f32 gate = v_load_n(gate_up + f, F - f), up = v_load_n(ups + f, F - f);
    v_store_n(act + f, swiglu_act(gate, swiglu_sigmoid(gate), up), F - f);
  }
}

/* gate and up become their gradients, and dact becomes act. */
ALWAYS_INLINE void swiglu_gradient(v_f32 *gate, v_f32 *up, v_f32 *dact) {
  v_f32 one = v_set1(1), s = swiglu_sigmoid(*gate), ds = v_mul(*dact, s);
  v_f32 slope = v_fma(*gate, v_sub(one, s), one), dup = v_mul(ds, *gate);
  *dact = swiglu_act(*gate, s, *up);
  *gate = v_mul(v_mul(ds, *up), slope);
  *up = dup;
}

static void swiglu_backward(float *dgate_up, float *act, const float *dact, const float *gate_up,
                            size_t F) {
  size_t f = 0;
  for (; f + V_LANES <= F; f += V_LANES) {
    v_f32 gate = v_load(gate_up + f), up = v_load(gate_up + F + f), d = v_load(dact + f);
    swiglu_gradient(&gate, &up, &d);
    v_store(dgate_up + f, gate);
    v_store(dgate_up + F + f, up);
    v_store(act + f, d);
  }
  if (f < F) {
    size_t left = F - f;
    v_f32 gate = v_load_n(gate_up + f, left), up = v_load_n(gate_up + F + f, left);
    v_f32 d = v_load_n(dact + f, left);
    swiglu_gradient(&gate, &up, &d);
    v_store_n(dgate_up + f, gate, left);
    v_store_n(dgate_up + F + f, up, left);
    v_store_n(act + f, d, left);
  }
}
