/* Few rows times a matrix, bound by reading the matrix once: decoding. And a matrix as floats. */
#ifndef TPTI_KERNEL_DOTS_H
#define TPTI_KERNEL_DOTS_H

#include "kernel/matrix.h"

/* Bytes of work space, aligned to TPTI_ALIGNMENT. */
enum { TPTI_DOTS_WORK = 1 << 17 };

/* y [rows, y_row] = base + x w^T for w [out, in]; x [rows, in]; base as y, NULL (0) or y itself. */
typedef struct tpti_dots {
  float *y;
  const float *base, *x;
  tpti_matrix w;
  size_t y_row, rows, out, in;
  void *work; /* of TPTI_DOTS_WORK; NULL where rows is 1 */
} tpti_dots;

/* A row's bits are those it has alone, and those that the same values as float32 give. */
typedef void tpti_dots_fn(const tpti_dots *d);

/* values [rows, columns] = the first rows of w. */
typedef void tpti_expand_fn(float *values, const tpti_matrix *w, size_t rows, size_t columns);

tpti_dots_fn tpti_dots_plain;
tpti_expand_fn tpti_expand_plain;

#endif
