/* Rotary position embedding, half-split pairing (j, j + E/2), absolute positions from 0:
 *
 *   a        = p base^(-2j/E)
 *   (lo, hi) = (lo cos a - hi sin a, hi cos a + lo sin a)
 *
 * backward turns by -a. */
#ifndef TPTI_OP_ROPE_H
#define TPTI_OP_ROPE_H

#include "op/op.h"

/* cosine, sine [positions, E / 2]; in double, then rounded once. */
void tpti_rope_table(tpti_run *run, float *cosine, float *sine, double base, size_t positions,
                     size_t E);

/* In place on `heads` heads of E channels at the start of each of M rows, `stride` floats apart.
 * Row m is at position first + m % T; cosine and sine are the whole tables. */
void tpti_rope_forward(tpti_run *run, float *x, size_t stride, size_t heads, const float *cosine,
                       const float *sine, size_t first, size_t M, size_t T, size_t E);
void tpti_rope_backward(tpti_run *run, float *dx, size_t stride, size_t heads, const float *cosine,
                        const float *sine, size_t first, size_t M, size_t T, size_t E);

#endif
