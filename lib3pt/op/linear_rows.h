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

/* How W's rows are cut into items, by shape alone: `whole` items of `step` rows, then smaller ones
 * of `fine`. Both are multiples of 4. */
typedef struct tpti_rows_cut {
  size_t out, step, fine, whole, items;
} tpti_rows_cut;

typedef struct tpti_rows_span {
  size_t first, count;
} tpti_rows_span;

/* Where an item does the same rows of `matrices` matrices of this shape. */
tpti_rows_cut tpti_linear_rows_cut(const tpti_linear_rows *map, size_t matrices);
tpti_rows_span tpti_linear_rows_span(const tpti_rows_cut *cut, size_t item);

/* Columns [first, first + count) of y, on this thread; work is TPTI_LINEAR_WORK bytes. */
void tpti_linear_rows_part(const struct tpti_kernels *kernels, const tpti_linear_rows *map,
                           size_t first, size_t count, void *work);

/* All of y on the threads of the run. A row's bits are those it has alone, whatever M. */
void tpti_linear_rows_run(tpti_run *run, const tpti_linear_rows *map);

/* Asks for one piece of some rows of a matrix, into this thread's second-level cache; does nothing
 * where there is no such piece. */
enum { TPTI_FETCH_BYTES = 1 << 12 };
size_t tpti_linear_rows_pieces(const tpti_matrix *w, size_t in, size_t rows);
void tpti_linear_rows_fetch(const tpti_matrix *w, size_t in, tpti_rows_span rows, size_t piece);

#endif
