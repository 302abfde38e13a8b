/* A matrix of weights as it lies in memory, and numbers smaller than float32.
 *
 *   bf16   the upper half of a float: w rounded to 8 bits of mantissa
 *   int8   q s: a whole number of -127 to 127 times the scale of its block of a row
 *
 * The value in use is the float that results, q s rounded once; every kernel computes with it as if
 * it had been stored as float32, to the same bits. */
#ifndef TPTI_KERNEL_MATRIX_H
#define TPTI_KERNEL_MATRIX_H

#include <stddef.h>
#include <stdint.h>

typedef enum tpti_form { TPTI_FORM_F32, TPTI_FORM_BF16, TPTI_FORM_INT8 } tpti_form;

/* Weights of a row that share a scale: 1.0625 bytes a weight in all. Every V_LANES divides it. */
enum { TPTI_SCALE_BLOCK = 64 };

typedef struct tpti_matrix {
  tpti_form form;
  const void *values;  /* [rows, columns] float, uint16_t or int8_t */
  const float *scales; /* [rows, tpti_scales(columns)] of int8, else NULL */
} tpti_matrix;

static inline size_t tpti_scales(size_t columns) {
  return columns / TPTI_SCALE_BLOCK + (columns % TPTI_SCALE_BLOCK != 0);
}

/* Bytes of one value. */
static inline size_t tpti_form_bytes(tpti_form form) {
  return form == TPTI_FORM_F32 ? sizeof(float) : form == TPTI_FORM_BF16 ? 2 : 1;
}

/* The matrix from row `first` on. */
static inline tpti_matrix tpti_matrix_from(tpti_matrix m, size_t columns, size_t first) {
  m.values = (const char *)m.values + first * columns * tpti_form_bytes(m.form);
  if (m.scales) m.scales += first * tpti_scales(columns);
  return m;
}

#endif
