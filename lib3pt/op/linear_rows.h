/* Linear maps of few rows, bound by reading the weights once: decoding. */
#ifndef TPTI_OP_LINEAR_ROWS_H
#define TPTI_OP_LINEAR_ROWS_H

#include "op/op.h"

/* y [M, out] = base + x W^T; base [M, out] may be NULL (0) or y itself. A row's bits are those it
 * has alone, whatever M. */
void tpti_linear_rows(tpti_run *run, float *y, const float *base, const float *x, const float *w,
                      size_t M, size_t out, size_t in);

#endif
