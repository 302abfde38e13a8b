/* Few rows times a matrix, bound by reading the matrix once: decoding. */
#ifndef TPTI_KERNEL_DOTS_H
#define TPTI_KERNEL_DOTS_H

#include <stddef.h>

/* y [rows, y_row] = base + x w^T for w [out, in]; x [rows, in]; base as y, NULL (0) or y itself. */
typedef struct tpti_dots {
  float *y;
  const float *base, *x, *w;
  size_t y_row, rows, out, in;
} tpti_dots;

/* A row's bits are those it has alone. */
typedef void tpti_dots_fn(const tpti_dots *d);

tpti_dots_fn tpti_dots_plain;

#endif
