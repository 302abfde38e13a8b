/* The two halves of a product on AMX tiles: operands packed as bf16 parts, packed operands
 * multiplied. amx.c cuts a product into calls of these; amx_tile.c needs the instructions. */
#ifndef TPTI_KERNEL_AMX_TILE_H
#define TPTI_KERNEL_AMX_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line is a row of A or a column of B; k runs along it. Lines are packed in strips of
 * TPTI_AMX_LINES, strips in steps of TPTI_AMX_DEPTH of k. A step holds for each part, hi first, two
 * tiles, those of its first and its second 16 lines. What is missing at the ends is 0.
 *
 * A tile is 16 x 16 pairs of bf16; pair p of a step is k p (low) and k 16 + p. Its rows are lines
 * in A and pairs in B. */
enum {
  TPTI_AMX_LINES = 32,
  TPTI_AMX_DEPTH = 32,
  TPTI_AMX_TILE = 256,               /* pairs of a tile */
  TPTI_AMX_PART = 2 * TPTI_AMX_TILE, /* pairs of one part of a step */
  TPTI_AMX_PARTS = 3                 /* at most */
};

/* Part of an operand: element k p of line l is x[l line + p deep]; one of the strides is 1. */
typedef struct tpti_amx_operand {
  const float *x;
  size_t line, deep, lines, k;
  bool columns; /* of B */
} tpti_amx_operand;

/* out: strips, `strip` pairs apart, at 64 bytes. */
void tpti_amx_pack_operand(uint32_t *out, size_t strip, const tpti_amx_operand *o, size_t parts);

/* C [m, n] = base + A B of `steps` steps, at least 1. base: as in tpti_gemm. */
typedef struct tpti_amx_product {
  float *c;
  const float *base;
  size_t c_row, base_row, m, n;
  const uint32_t *a, *b; /* packed, at 64 bytes */
  size_t a_strip, b_strip, steps, parts;
} tpti_amx_product;

/* Leaves no tile state behind. */
void tpti_amx_multiply(const tpti_amx_product *p);

/* Steps that are summed in tiles before the sum is added to C: 32 KiB of a strip of A, which stay
 * in the first level while panels of B pass. A product cut into calls of as many, or multiples,
 * has the bits of one call. */
static inline size_t tpti_amx_round(size_t parts) { return parts == 3 ? 4 : 16 / parts; }
enum { TPTI_AMX_ROUNDS = 16 }; /* a multiple of all of them */

#endif
