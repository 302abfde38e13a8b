/* Operands packed as bf16 parts, and multiplied on tiles (amx_tile.h). */
#if !(defined __AMX_TILE__ || defined __AMXTILE__) || !(defined __AMX_BF16__ || defined __AMXBF16__)
#error "compile this file with -mamx-tile -mamx-bf16"
#endif
#if !defined __AVX512F__ || !defined __AVX512BW__ || !defined __AVX512VL__ ||                      \
    !defined __AVX512BF16__
#error "compile this file with -mavx512f -mavx512bw -mavx512vl -mavx512bf16"
#endif

#include "kernel/amx_tile.h"

#include <string.h>

#include "base/size.h"
#include "kernel/amx_words.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LANES = 16, HALF = TPTI_AMX_TILE, PART = TPTI_AMX_PART };
_Static_assert(TPTI_AMX_LINES == 2 * LANES && TPTI_AMX_DEPTH == 2 * LANES, "tiles of 16 rows");

/* The first n of 16. */
ALWAYS_INLINE __mmask16 mask_of(size_t n) {
  return (__mmask16)(n >= LANES ? 0xffffu : (1u << n) - 1);
}

/* ---- packing ---- */

/* Pairs of every part, `part` pairs apart. Of an infinity the rest is NaN, so that no sum of parts
 * makes it finite; what is left of a number is exact. */
ALWAYS_INLINE void split(uint32_t *out, size_t part, __m512 low, __m512 high, const size_t parts) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  for (size_t i = 0;; i++) {
    __m512i pairs = tpti_amx_pairs(low, high);
    _mm512_store_si512(out + i * part, pairs);
    if (i + 1 == parts) return;
    low = _mm512_sub_ps(low, _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)));
    high = _mm512_sub_ps(high, _mm512_castsi512_ps(_mm512_and_si512(pairs, upper)));
  }
}

/* A tile of the first 16 lines and 32 k of o as vectors along the lines: row r of out is line r,
 * its lanes are pairs. */
ALWAYS_INLINE void split_lines(uint32_t *out, size_t part, const tpti_amx_operand *o,
                               const size_t parts) {
  const __mmask16 low = mask_of(o->k), high = mask_of(o->k > LANES ? o->k - LANES : 0);
  for (size_t r = 0; r < LANES; r++) {
    const float *x = o->x + r * o->line;
    bool there = r < o->lines;
    __m512 first = there ? _mm512_maskz_loadu_ps(low, x) : _mm512_setzero_ps();
    __m512 second = there && high ? _mm512_maskz_loadu_ps(high, x + LANES) : _mm512_setzero_ps();
    split(out + r * LANES, part, first, second, parts);
  }
}

/* The same as vectors across the lines: row r of out is pair r, its lanes are lines. */
ALWAYS_INLINE void split_depths(uint32_t *out, size_t part, const tpti_amx_operand *o,
                                const size_t parts) {
  const __mmask16 mask = mask_of(o->lines);
  for (size_t r = 0; r < LANES; r++) {
    const float *x = o->x + r * o->deep;
    __m512 first = r < o->k ? _mm512_maskz_loadu_ps(mask, x) : _mm512_setzero_ps();
    __m512 second =
        r + LANES < o->k ? _mm512_maskz_loadu_ps(mask, x + LANES * o->deep) : _mm512_setzero_ps();
    split(out + r * LANES, part, first, second, parts);
  }
}

/* Lanes 4 c to 4 c + 3 of rows r, r + 4, r + 8, r + 12. */
ALWAYS_INLINE __m512i four_quarters(const uint32_t *in, size_t r, size_t c) {
  const uint32_t *x = in + r * LANES + 4 * c;
  __m512i q = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)x));
  q = _mm512_inserti32x4(q, _mm_load_si128((const __m128i *)(x + 4 * LANES)), 1);
  q = _mm512_inserti32x4(q, _mm_load_si128((const __m128i *)(x + 8 * LANES)), 2);
  return _mm512_inserti32x4(q, _mm_load_si128((const __m128i *)(x + 12 * LANES)), 3);
}

/* out = the 16 x 16 pairs of `in`, rows and columns exchanged. Rows are put together while they
 * are loaded, which takes no shuffle; what is left are squares of 4 within a quarter. */
ALWAYS_INLINE void transpose(uint32_t *out, const uint32_t *in) {
  for (size_t c = 0; c < 4; c++) {
    __m512i r0 = four_quarters(in, 0, c), r1 = four_quarters(in, 1, c);
    __m512i r2 = four_quarters(in, 2, c), r3 = four_quarters(in, 3, c);
    __m512i low01 = _mm512_unpacklo_epi32(r0, r1), high01 = _mm512_unpackhi_epi32(r0, r1);
    __m512i low23 = _mm512_unpacklo_epi32(r2, r3), high23 = _mm512_unpackhi_epi32(r2, r3);
    uint32_t *to = out + 4 * c * LANES;
    _mm512_store_si512(to, _mm512_unpacklo_epi64(low01, low23));
    _mm512_store_si512(to + LANES, _mm512_unpackhi_epi64(low01, low23));
    _mm512_store_si512(to + 2 * LANES, _mm512_unpacklo_epi64(high01, high23));
    _mm512_store_si512(to + 3 * LANES, _mm512_unpackhi_epi64(high01, high23));
  }
}

/* One tile of every part. along: o->deep is 1, else o->line is. */
ALWAYS_INLINE void pack_tile(uint32_t *out, const tpti_amx_operand *o, const bool along,
                             const size_t parts) {
  if (along != o->columns) { /* rows of the tile are the vectors */
    if (along)
      split_lines(out, PART, o, parts);
    else
      split_depths(out, PART, o, parts);
    return;
  }
  _Alignas(64) uint32_t turned[TPTI_AMX_PARTS * TPTI_AMX_TILE];
  if (along)
    split_lines(turned, TPTI_AMX_TILE, o, parts);
  else
    split_depths(turned, TPTI_AMX_TILE, o, parts);
  for (size_t i = 0; i < parts; i++) transpose(out + i * PART, turned + i * TPTI_AMX_TILE);
}

/* One step of a strip. */
ALWAYS_INLINE void pack_step(uint32_t *out, const tpti_amx_operand *whole, size_t l, size_t p,
                             const bool along, const size_t parts) {
  tpti_amx_operand o = *whole;
  o.k = tpti_least(TPTI_AMX_DEPTH, whole->k - p);
  for (size_t t = 0; t < 2; t++, l += LANES, out += HALF) {
    o.lines = l < whole->lines ? tpti_least(LANES, whole->lines - l) : 0;
    o.x = whole->x + (o.lines ? l * whole->line + p * whole->deep : 0);
    pack_tile(out, &o, along, parts);
  }
}

/* Memory is read along its own lines: many streams of whole cache lines. */
ALWAYS_INLINE void pack_all(uint32_t *out, size_t strip, const tpti_amx_operand *o,
                            const bool along, const size_t parts) {
  const size_t step = parts * PART;
  if (along) {
    for (size_t l = 0; l < o->lines; l += TPTI_AMX_LINES, out += strip) {
      for (size_t p = 0; p < o->k; p += TPTI_AMX_DEPTH)
        pack_step(out + p / TPTI_AMX_DEPTH * step, o, l, p, along, parts);
    }
    return;
  }
  for (size_t p = 0; p < o->k; p += TPTI_AMX_DEPTH, out += step) {
    for (size_t l = 0; l < o->lines; l += TPTI_AMX_LINES)
      pack_step(out + l / TPTI_AMX_LINES * strip, o, l, p, along, parts);
  }
}

/* The way of o is made a constant. */
ALWAYS_INLINE void pack_parts(uint32_t *out, size_t strip, const tpti_amx_operand *o,
                              const size_t parts) {
  tpti_amx_operand own = *o;
  if (o->columns) {
    own.columns = true;
    if (o->deep == 1)
      pack_all(out, strip, &own, true, parts);
    else
      pack_all(out, strip, &own, false, parts);
  } else {
    own.columns = false;
    if (o->deep == 1)
      pack_all(out, strip, &own, true, parts);
    else
      pack_all(out, strip, &own, false, parts);
  }
}

void tpti_amx_pack_operand(uint32_t *out, size_t strip, const tpti_amx_operand *o, size_t parts) {
  switch (parts) {
  case 1:
    pack_parts(out, strip, o, 1);
    break;
  case 2:
    pack_parts(out, strip, o, 2);
    break;
  default:
    pack_parts(out, strip, o, 3);
  }
}

/* ---- multiplying ---- */

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
enum { LINES = TPTI_AMX_LINES };
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
ALWAYS_INLINE void turn(sums *w, const tpti_amx_product *p) {
  w->sum = w->block[w->current];
  w->c = p->c;
  w->base = p->base;
  w->c_row = p->c_row;
  w->base_row = p->base_row;
  w->rows = p->m;
  w->left = mask_of(p->n);
  w->right = mask_of(p->n > LANES ? p->n - LANES : 0);
  w->current ^= 1;
}

/* The sums of up to 32 x 32 of C, and what is pending added. */
ALWAYS_INLINE void block(sums *w, const tpti_amx_product *p, const size_t parts, const bool tall,
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
ALWAYS_INLINE void any_block(sums *w, const tpti_amx_product *p, const size_t parts) {
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

/* Strip i of A times panel j of B, `steps` steps from `first` on. */
ALWAYS_INLINE void block_at(sums *w, const tpti_amx_product *p, size_t i, size_t j, size_t first,
                            size_t steps, const size_t parts) {
  tpti_amx_product q = *p;
  const size_t row = i * LINES, column = j * LINES;
  q.m = tpti_least(LINES, p->m - row);
  q.n = tpti_least(LINES, p->n - column);
  q.c += row * p->c_row + column;
  if (first > 0) {
    q.base = q.c;
    q.base_row = q.c_row;
  } else if (p->base) {
    q.base += row * p->base_row + column;
  }
  q.a += i * p->a_strip + first * parts * PART;
  q.b += j * p->b_strip + first * parts * PART;
  q.steps = steps;
  any_block(w, &q, parts);
}

/* Panels `start` to `end` of B times all of A, a round of k at a time. */
ALWAYS_INLINE void multiply_chunk(sums *w, const tpti_amx_product *p, size_t start, size_t end,
                                  const size_t parts) {
  const size_t round = tpti_amx_round(parts);
  for (size_t first = 0; first < p->steps; first += round) {
    size_t steps = tpti_least(round, p->steps - first);
    for (size_t i = 0; i * LINES < p->m; i++) {
      for (size_t j = start; j < end; j++) block_at(w, p, i, j, first, steps, parts);
    }
  }
}

/* Panels of B, of which a round takes 256 KiB and stays in the second level while all of A
 * passes; also the more, the longer are the pieces in which C is written. */
enum { CHUNK = 8 };

ALWAYS_INLINE void multiply(const tpti_amx_product *p, const size_t parts) {
  const size_t panels = tpti_ceil_div(p->n, LINES);
  sums w;
  w.current = w.rows = 0;
  for (size_t j = 0; j < panels; j += CHUNK)
    multiply_chunk(&w, p, j, tpti_least(j + CHUNK, panels), parts);
  add_rows(&w, LINES);
}

void tpti_amx_multiply(const tpti_amx_product *p) {
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
