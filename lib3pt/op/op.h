/* The letters of DESIGN section 2, used everywhere below model/, and what every operation keeps to.
 *
 *   B batch   T positions   M = B T rows   D d_model   N phases   P = D / N channels a phase
 *   H query heads   K key/value heads   E = D / H channels a head   F d_ff   V vocabulary
 *
 * Every array is row-major float32 without gaps unless a stride is given. Outputs come first. A
 * gradient of a weight is added to; any other output is overwritten unless its comment says "adds".
 * No operation allocates, reads a file or fails: sizes are asserted, and a stopped run leaves
 * outputs unfinished. Work is cut by shape alone, and sums over rows go block by block through
 * `partial`, so that bits do not depend on threads. */
#ifndef TPTI_OP_OP_H
#define TPTI_OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/threads.h"

/* Rows that one task of a row-wise operation does: at D 192 to 768 some 50 to 200 KB, a
 * second-level cache. */
enum { TPTI_ROW_BLOCK = 64 };

static inline size_t tpti_row_blocks(size_t rows) {
  return (rows + TPTI_ROW_BLOCK - 1) / TPTI_ROW_BLOCK;
}

#endif
