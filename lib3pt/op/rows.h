/* How row-wise operations cut their work: blocks of TPTI_ROW_BLOCK rows, so that a few rows are one
 * item and wake no thread; and how they add up what the blocks give. */
#ifndef TPTI_OP_ROWS_H
#define TPTI_OP_ROWS_H

#include "op/op.h"

/* Row `first` and the `count` of rows in block `item` of M rows. */
typedef struct tpti_rows {
  size_t first, count;
} tpti_rows;

static inline tpti_rows tpti_rows_of(size_t item, size_t M) {
  size_t first = item * TPTI_ROW_BLOCK, left = M - first;
  return (tpti_rows){first, left < TPTI_ROW_BLOCK ? left : TPTI_ROW_BLOCK};
}

/* out [n] adds the sum over the blocks of partial [blocks, n], in their order and in double: the
 * blocks of an angle or a gain often cancel almost wholly. */
static inline void tpti_add_partials(float *out, const float *partial, size_t blocks, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double sum = (double)out[i];
    for (size_t b = 0; b < blocks; b++) sum += (double)partial[b * n + i];
    out[i] = (float)sum;
  }
}

#endif
