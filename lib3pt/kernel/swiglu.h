/* Inner loops of SwiGLU (op/swiglu.h): one row, gate [F] and up [F] one after the other. */
#ifndef TPTI_KERNEL_SWIGLU_H
#define TPTI_KERNEL_SWIGLU_H

#include <stddef.h>

typedef void tpti_swiglu_forward_fn(float *act, const float *gate_up, size_t F);

/* dgate_up may be gate_up. act [F], forward's output once more, may be dact. */
typedef void tpti_swiglu_backward_fn(float *dgate_up, float *act, const float *dact,
                                     const float *gate_up, size_t F);

tpti_swiglu_forward_fn tpti_swiglu_forward_plain;
tpti_swiglu_backward_fn tpti_swiglu_backward_plain;

#endif
