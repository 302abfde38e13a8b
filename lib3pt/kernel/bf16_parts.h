/* The two halves of a product of bf16 parts: operands packed, packed operands multiplied. bf16.c
 * cuts a product into calls of these; bf16_pack.c and bf16_vectors.c need AVX512_BF16,
 * bf16_tiles.c AMX. */
#ifndef TPTI_KERNEL_BF16_PARTS_H
#define TPTI_KERNEL_BF16_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/size.h"
#include "kernel/matrix.h"

/* A line is a row of A or a column of B; k runs along it. Lines are packed in strips of
 * TPTI_BF16_LINES, strips in steps of TPTI_BF16_DEPTH of k. A step holds for each part, hi first,
 * two tiles, those of its first and its second 16 lines. What is missing at the ends is 0.
 *
 * A tile is 16 x 16 pairs of bf16; pair p of a step is k p (low) and k 16 + p. Its rows, a vector
 * each, are lines in A and pairs in B. */
enum {
  TPTI_BF16_LANES = 16, /* of a vector: floats, or pairs */
  TPTI_BF16_LINES = 2 * TPTI_BF16_LANES,
  TPTI_BF16_DEPTH = 2 * TPTI_BF16_LANES,
  TPTI_BF16_TILE = TPTI_BF16_LANES * TPTI_BF16_LANES, /* pairs of a tile */
  TPTI_BF16_PART = 2 * TPTI_BF16_TILE,                /* pairs of one part of a step */
  TPTI_BF16_PARTS = 3                                 /* at most */
};

/* Part of an operand: element k p of line l is x.values[l line + p deep]; one of the strides is 1.
 * What is not float32 is columns of B with deep 1, which are whole rows, of `line` values, of x, or
 * parts of them that begin at a multiple of TPTI_SCALE_BLOCK. */
typedef struct tpti_bf16_operand {
  tpti_matrix x;
  size_t line, deep, lines, k;
  bool columns; /* of B */
} tpti_bf16_operand;

/* x of the operand from line l and k p on; p is a multiple of TPTI_BF16_DEPTH, which divides the
 * block of a scale. */
static inline tpti_matrix tpti_bf16_from(const tpti_bf16_operand *o, size_t l, size_t p) {
  tpti_matrix x = o->x;
  x.values = (const char *)x.values + (l * o->line + p * o->deep) * tpti_form_bytes(x.form);
  if (x.scales) x.scales += l * tpti_scales(o->line) + p / TPTI_SCALE_BLOCK;
  return x;
}

/* out: strips, `strip` pairs apart, at 64 bytes. */
void tpti_bf16_pack_operand(uint32_t *out, size_t strip, const tpti_bf16_operand *o, size_t parts);

/* C [m, n] = base + A B of `steps` steps, at least 1. base: as in tpti_gemm. */
typedef struct tpti_bf16_product {
  float *c;
  const float *base;
  size_t c_row, base_row, m, n;
  const uint32_t *a, *b; /* packed, at 64 bytes */
  size_t a_strip, b_strip, steps, parts;
} tpti_bf16_product;

/* Of it strip i of A times strip j of B, `steps` steps from `first` on: up to 32 x 32 of C, to
 * which what is not first is added. parts is p's own, a constant where the caller has made it one.
 */
static inline __attribute__((always_inline)) tpti_bf16_product
tpti_bf16_block(const tpti_bf16_product *p, size_t i, size_t j, size_t first, size_t steps,
                const size_t parts) {
  tpti_bf16_product q = *p;
  const size_t row = i * TPTI_BF16_LINES, column = j * TPTI_BF16_LINES;
  q.m = tpti_least(TPTI_BF16_LINES, p->m - row);
  q.n = tpti_least(TPTI_BF16_LINES, p->n - column);
  q.c += row * p->c_row + column;
  if (first > 0) {
    q.base = q.c;
    q.base_row = q.c_row;
  } else if (p->base) {
    q.base += row * p->base_row + column;
  }
  q.a += i * p->a_strip + first * parts * TPTI_BF16_PART;
  q.b += j * p->b_strip + first * parts * TPTI_BF16_PART;
  q.steps = steps;
  return q;
}

typedef void tpti_bf16_multiply_fn(const tpti_bf16_product *p);
tpti_bf16_multiply_fn tpti_bf16_multiply_tiles;   /* leaves no tile state behind */
tpti_bf16_multiply_fn tpti_bf16_multiply_vectors; /* of one part */

/* Steps that are summed before the sum is added to C: 32 KiB of a strip, which stay in the first
 * level while the other operand's strips pass. A product cut into calls of as many, or multiples,
 * has the bits of one call. */
static inline size_t tpti_bf16_round(size_t parts) { return parts == 3 ? 4 : 16 / parts; }
enum { TPTI_BF16_ROUNDS = 16 }; /* a multiple of all of them */

#endif
