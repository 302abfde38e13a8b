/* In what numbers the matrix products of a run are made; everything else is float32 or better.
 *
 * A float is the sum of a bf16 and smaller bf16s. A product of bf16s, summed in float32, is what
 * matrix units (AMX) do many times faster than float32, and vectors of some processors up to twice as
 * fast (TPTI_CPU_BF16_FAST):
 *
 *   bf16     hi hi                                                     relative error 2^-9 a factor
 *   bf16x3   hi hi + hi mid + mid hi                                   2^-16
 *   bf16x6   hi hi + hi mid + mid hi + mid mid + hi lo + lo hi         2^-24, float32's own
 *
 * On a processor without matrix units bf16 is made on such vectors or else in float32, as the other
 * two then are (tpti_precision_here). */
#ifndef TPTI_BASE_PRECISION_H
#define TPTI_BASE_PRECISION_H

/* The first are the words of train.precision in their order. */
typedef enum tpti_precision {
  TPTI_PRECISION_F32,
  TPTI_PRECISION_BF16X3,
  TPTI_PRECISION_BF16X6,
  TPTI_PRECISION_BF16,
  TPTI_PRECISION_BF16_VECTORS /* of a run, never of a recipe: bf16, on vectors; attention float32 */
} tpti_precision;

#endif
