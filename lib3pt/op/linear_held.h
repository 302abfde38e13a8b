/* Linear maps of many rows by weights that are not float32, y = x W^T. Prompts.
 *
 * In float32 some rows of W at a time become floats and are multiplied. In a precision of bf16 the
 * product packs its parts of W from the form as it lies, to the same bits. */
#ifndef TPTI_OP_LINEAR_HELD_H
#define TPTI_OP_LINEAR_HELD_H

#include "kernel/matrix.h"
#include "op/op.h"

/* y [M, out] = base + x W^T; base [M, out] may be NULL (0) or y itself. floats is work space of
 * tpti_linear_held_floats, NULL where that is 0; run->pack holds tpti_linear_held_pack bytes. */
void tpti_linear_held(tpti_run *run, float *y, const float *base, const float *x,
                      const tpti_matrix *w, float *floats, size_t M, size_t out, size_t in);

size_t tpti_linear_held_floats(tpti_precision precision, size_t out, size_t in);
size_t tpti_linear_held_pack(tpti_precision precision, size_t M, size_t out, size_t in);

#endif
