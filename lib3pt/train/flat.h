/* Passes over the flat arrays: parameters, gradients, both moments. */
#ifndef TPTI_TRAIN_FLAT_H
#define TPTI_TRAIN_FLAT_H

#include "base/threads.h"

/* Values that one task does: 128 KiB of each array. */
enum { TPTI_FLAT_BLOCK = 32768 };

static inline size_t tpti_flat_blocks(size_t count) {
  return (count + TPTI_FLAT_BLOCK - 1) / TPTI_FLAT_BLOCK;
}

/* Values in block `item` of `count`. */
static inline size_t tpti_flat_size(size_t count, size_t item) {
  size_t left = count - item * TPTI_FLAT_BLOCK;
  return left < TPTI_FLAT_BLOCK ? left : TPTI_FLAT_BLOCK;
}

/* All zeros; unfinished where the run was stopped. */
void tpti_flat_clear(tpti_run *run, float *values, size_t count);

/* Exchanges `count` values of a and b, which do not overlap. How many were exchanged, the first
 * ones: fewer where the run was stopped. run->scratch is used. */
size_t tpti_flat_exchange(tpti_run *run, float *a, float *b, size_t count);

#endif
