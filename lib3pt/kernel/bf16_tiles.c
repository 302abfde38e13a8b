/* Packed operands multiplied on AMX tiles (bf16_parts.h). */
#if !(defined __AMX_TILE__ || defined __AMXTILE__) || !(defined __AMX_BF16__ || defined __AMXBF16__)
#error "compile this file with -mamx-tile -mamx-bf16"
#endif

#include "kernel/bf16_parts.h"

#include "base/size.h"
#include "kernel/amx_words.h"

enum { LANES = TPTI_BF16_LANES, HALF = TPTI_BF16_TILE, PART = TPTI_BF16_PART };

/* gcc 12 does not know that loading a tile reads memory. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* Tiles 0 to 3 are C, 4 and 5 A (its first and second 16 lines), 6 and 7 B. Panels of B are read
 * past the first level, where a strip of A stays. */
#define LOAD_A(part)                                                                               \
  do {                                                                                             \
    _tile_loadd(4, a + (part)*PART, 64);                                                           \
    if (tall) _tile_loadd(5, a + (part)*PART + HALF, 64);                                          \
  } while (0)
#define LOAD_B(part)                                                                               \
  do {                                                                                             \
    _tile_stream_loadd(6, b + (part)*PART, 64);                                                    \
    if (wide) _tile_stream_loadd(7, b + (part)*PART + HALF, 64);                                   \
  } while (0)
#define MULTIPLY()                                                                                 \
  do {                                                                                             \
    _tile_dpbf16ps(0, 4, 6);                                                                       \
    if (wide) _tile_dpbf16ps(1, 4, 7);                                                             \
    if (tall) _tile_dpbf16ps(2, 5, 6);                                                             \
    if (tall && wide) _tile_dpbf16ps(3, 5, 7);                                                     \
  } while (0)

/* All products of parts that the precision counts, smaller ones first as far as each can share a
 * factor with the one before; B is read once. */
ALWAYS_INLINE void step(const uint32_t *a, const uint32_t *b, const size_t parts, const bool tall,
                        const bool wide) {
  LOAD_B(parts - 1);
  LOAD_A(0);
  MULTIPLY();
  if (parts == 2) {
    LOAD_B(0);
    MULTIPLY();
    LOAD_A(1);
    MULTIPLY();
  }
  if (parts == 3) {
    LOAD_B(1);
    MULTIPLY();
    LOAD_A(1);
    MULTIPLY();
    LOAD_B(0);
    MULTIPLY();
    LOAD_A(2);
    MULTIPLY();
    LOAD_A(0);
    MULTIPLY();
  }
}

/* Sums leave the tiles for a block of floats; they are added to C while the tiles already work on
 * the next block, which hides what C costs. */
enum { LINES = TPTI_BF16_LINES };
typedef struct sums {
  _Alignas(64) float block[2][LINES * LINES];
  size_t current; /* the block that the tiles are to fill */
  /* of the other: rows not yet added, from `sum` to c */
  size_t rows, c_row, base_row;
  const float *sum, *base;
  float *c;
  __mmask16 left, right;
} sums;

/* The next rows of the pending block. */
ALWAYS_INLINE void add_rows(sums *w, size_t most) {
  size_t rows = tpti_least(most, w->rows), c_row = w->c_row, base_row = w->base_row;
  const float *sum = w->sum, *base = w->base;
  const __mmask16 left = w->left, right = w->right;
  float *c = w->c;
  w->rows -= rows;
  for (; rows > 0; rows--, c += c_row, sum += LINES) {
    __m512 s0 = _mm512_load_ps(sum), s1 = _mm512_load_ps(sum + LANES);
    if (base) {
      s0 = _mm512_add_ps(s0, _mm512_maskz_loadu_ps(left, base));
      if (right) s1 = _mm512_add_ps(s1, _mm512_maskz_loadu_ps(right, base + LANES));
      base += base_row;
    }
    _mm512_mask_storeu_ps(c, left, s0);
    if (right) _mm512_mask_storeu_ps(c + LANES, right, s1);
  }
  w->sum = sum;
  w->base = base;
  w->c = c;
}

/* The block just filled waits, the other one is free. */
ALWAYS_INLINE void turn(sums *w, const tpti_bf16_product *p) {
  w->sum = w->block[w->current];
  w->c = p->c;
  w->base = p->base;
  w->c_row = p->c_row;
  w->base_row = p->base_row;
  w->rows = p->m;
  w->left = tpti_bf16_mask(p->n);
  w->right = tpti_bf16_mask(p->n > LANES ? p->n - LANES : 0);
  w->current ^= 1;
}

/* The sums of up to 32 x 32 of C, and what is pending added. */
ALWAYS_INLINE void block(sums *w, const tpti_bf16_product *p, const size_t parts, const bool tall,
                         const bool wide) {
  const uint32_t *a = p->a, *b = p->b;
  const size_t rows = (LINES + p->steps - 1) / p->steps;
  float *out = w->block[w->current];
  _tile_zero(0);
  if (wide) _tile_zero(1);
  if (tall) _tile_zero(2);
  if (tall && wide) _tile_zero(3);
  for (size_t s = p->steps; s > 0; s--, a += parts * PART, b += parts * PART) {
    step(a, b, parts, tall, wide);
    add_rows(w, rows);
  }
  _tile_stored(0, out, LINES * sizeof(float));
  if (wide) _tile_stored(1, out + LANES, LINES * sizeof(float));
  if (tall) _tile_stored(2, out + LANES * LINES, LINES * sizeof(float));
  if (tall && wide) _tile_stored(3, out + LANES * LINES + LANES, LINES * sizeof(float));
  turn(w, p);
}

/* The same with as many tiles as C takes. */
ALWAYS_INLINE void any_block(sums *w, const tpti_bf16_product *p, const size_t parts) {
  const bool tall = p->m > LANES, wide = p->n > LANES;
  if (tall && wide)
    block(w, p, parts, true, true);
  else if (tall)
    block(w, p, parts, true, false);
  else if (wide)
    block(w, p, parts, false, true);
  else
    block(w, p, parts, false, false);
}

/* Panels `start` to `end` of B times all of A, a round of k at a time. */
ALWAYS_INLINE void multiply_chunk(sums *w, const tpti_bf16_product *p, size_t start, size_t end,
                                  const size_t parts) {
  const size_t round = tpti_bf16_round(parts);
  for (size_t first = 0; first < p->steps; first += round) {
    size_t steps = tpti_least(round, p->steps - first);
    for (size_t i = 0; i * LINES < p->m; i++) {
      for (size_t j = start; j < end; j++) {
        const tpti_bf16_product q = tpti_bf16_block(p, i, j, first, steps, parts);
        any_block(w, &q, parts);
      }
    }
  }
}

/* Panels of B, of which a round takes 256 KiB and stays in the second level while all of A
 * passes; also the more, the longer are the pieces in which C is written. */
enum { CHUNK = 8 };

ALWAYS_INLINE void multiply(const tpti_bf16_product *p, const size_t parts) {
  const size_t panels = tpti_ceil_div(p->n, LINES);
  sums w;
  w.current = w.rows = 0;
  for (size_t j = 0; j < panels; j += CHUNK)
    multiply_chunk(&w, p, j, tpti_least(j + CHUNK, panels), parts);
  add_rows(&w, LINES);
}

void tpti_bf16_multiply_tiles(const tpti_bf16_product *p) {
  tpti_amx_begin();
  BARRIER();
  switch (p->parts) {
  case 1:
    multiply(p, 1);
    break;
  case 2:
    multiply(p, 2);
    break;
  default:
    multiply(p, 3);
  }
  _tile_release();
}
