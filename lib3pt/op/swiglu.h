/* SwiGLU; gate and up lie side by side in a row of 2 F:
 *
 *   act = silu(gate) up        silu(z) = z / (1 + exp(-z))
 *
 * backward, with s = 1 / (1 + exp(-gate)):
 *
 *   dup   = dact gate s
 *   dgate = dact up s (1 + gate (1 - s))
 */
#ifndef TPTI_OP_SWIGLU_H
#define TPTI_OP_SWIGLU_H

#include "op/op.h"

/* act [M, F]; gate_up [M, 2 F]. */
void tpti_swiglu_forward(tpti_run *run, float *act, const float *gate_up, size_t M, size_t F);

/* dgate_up [M, 2 F] may be gate_up; dact [M, F]. act [M, F], which costs no exponential here, is
 * forward's once more, so that it need not be kept; it may be dact. */
void tpti_swiglu_backward(tpti_run *run, float *dgate_up, float *act, const float *dact,
                          const float *gate_up, size_t M, size_t F);

#endif
