/* Where a network's parameters lie: all as float32 in one array, or, of a converted network, the
 * matrices in a smaller form and the rest as float32, each kind in the order of the parameters.
 * A place in either is named by the offset that the parameter has in the one array. */
#ifndef TPTI_MODEL_HELD_H
#define TPTI_MODEL_HELD_H

#include "kernel/matrix.h"
#include "model/params.h"

typedef struct tpti_held {
  tpti_form form;
  void *matrices; /* F32: everything */
  float *scales;  /* INT8: of the matrices' blocks, row after row */
  float *vectors; /* else than F32: gains, angles, a learned DC profile */
} tpti_held;

void tpti_held_layout(tpti_held *held, tpti_form form, const tpti_params *params,
                      const tpti_dims *dims, tpti_plan *plan);

/* The matrix, and the vector, that begins at this offset. */
tpti_matrix tpti_held_matrix(const tpti_held *held, const tpti_params *params,
                             const tpti_dims *dims, size_t offset);
float *tpti_held_vector(const tpti_held *held, const tpti_params *params, const tpti_dims *dims,
                        size_t offset);

/* Puts values into columns [first, first + count) of a row of m, rounded to its form; first is a
 * multiple of TPTI_SCALE_BLOCK, and count too unless the row ends there. bf16 is rounded to the
 * nearest, ties to even; an int8 scale is the block's largest magnitude / 127. What is not finite
 * stays so: in int8 together with its block. */
void tpti_held_store(const tpti_matrix *m, size_t columns, size_t row, size_t first,
                     const float *values, size_t count);

#endif
