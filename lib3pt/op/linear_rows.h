/* Linear maps of few rows, y = x W^T, bound by reading the weights once: decoding. W may be held in
 * any form. */
#ifndef TPTI_OP_LINEAR_ROWS_H
#define TPTI_OP_LINEAR_ROWS_H

#include "kernel/matrix.h"
#include "op/op.h"

typedef struct tpti_linear_rows {
  float *y;          /* rows y_row floats apart */
  const float *base; /* as y; NULL (0) or y itself */
  const float *x;    /* [M, in] */
  tpti_matrix w;     /* [out, in] */
  size_t y_row, M, out, in;
} tpti_linear_rows;

/* The most rows of W in one item; bytes of work space of one. */
enum { TPTI_LINEAR_STEP = 1024, TPTI_LINEAR_WORK = 1 << 17 };

/* Rows of W that one item reads, a multiple of 4; and the items. */
size_t tpti_linear_rows_step(const tpti_linear_rows *map);
size_t tpti_linear_rows_items(const tpti_linear_rows *map);

/* Columns [first, first + count) of y, on this thread; work is TPTI_LINEAR_WORK bytes. */
void tpti_linear_rows_part(const struct tpti_kernels *kernels, const tpti_linear_rows *map,
                           size_t first, size_t count, void *work);

/* All of y on the threads of the run. A row's bits are those it has alone, whatever M. */
void tpti_linear_rows_run(tpti_run *run, const tpti_linear_rows *map);

/* Brings rows [first, first + count) of a matrix into this thread's cache. */
void tpti_linear_rows_fetch(const tpti_matrix *w, size_t in, size_t first, size_t count);

#endif
