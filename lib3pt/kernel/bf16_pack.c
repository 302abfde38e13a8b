/* Operands packed as bf16 parts (bf16_parts.h). */
#include "kernel/bf16_parts.h"

#include "base/size.h"
#include "kernel/bf16_words.h"

enum { LANES = TPTI_BF16_LANES, HALF = TPTI_BF16_TILE, PART = TPTI_BF16_PART };

/* Pairs of every part, `part` pairs apart. Of an infinity the rest is NaN, so that no sum of parts
 * makes it finite; what is left of a number is exact. */
ALWAYS_INLINE void split(uint32_t *out, size_t part, __m512 low, __m512 high, const size_t parts) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  for (size_t i = 0;; i++) {
    __m512i pairs = tpti_bf16_pairs(low, high);
    _mm512_store_si512(out + i * part, pairs);
    if (i + 1 == parts) return;
    low = _mm512_sub_ps(low, _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)));
    high = _mm512_sub_ps(high, _mm512_castsi512_ps(_mm512_and_si512(pairs, upper)));
  }
}

/* A tile of the first 16 lines and 32 k of o as vectors along the lines: row r of out is line r,
 * its lanes are pairs. */
ALWAYS_INLINE void split_lines(uint32_t *out, size_t part, const tpti_bf16_operand *o,
                               const size_t parts) {
  const __mmask16 low = tpti_bf16_mask(o->k),
                  high = tpti_bf16_mask(o->k > LANES ? o->k - LANES : 0);
  for (size_t r = 0; r < LANES; r++) {
    const float *x = o->x + r * o->line;
    bool there = r < o->lines;
    __m512 first = there ? _mm512_maskz_loadu_ps(low, x) : _mm512_setzero_ps();
    __m512 second = there && high ? _mm512_maskz_loadu_ps(high, x + LANES) : _mm512_setzero_ps();
    split(out + r * LANES, part, first, second, parts);
  }
}

/* The same as vectors across the lines: row r of out is pair r, its lanes are lines. */
ALWAYS_INLINE void split_depths(uint32_t *out, size_t part, const tpti_bf16_operand *o,
                                const size_t parts) {
  const __mmask16 mask = tpti_bf16_mask(o->lines);
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
ALWAYS_INLINE void pack_tile(uint32_t *out, const tpti_bf16_operand *o, const bool along,
                             const size_t parts) {
  if (along != o->columns) { /* rows of the tile are the vectors */
    if (along)
      split_lines(out, PART, o, parts);
    else
      split_depths(out, PART, o, parts);
    return;
  }
  _Alignas(64) uint32_t turned[TPTI_BF16_PARTS * TPTI_BF16_TILE];
  if (along)
    split_lines(turned, TPTI_BF16_TILE, o, parts);
  else
    split_depths(turned, TPTI_BF16_TILE, o, parts);
  for (size_t i = 0; i < parts; i++) transpose(out + i * PART, turned + i * TPTI_BF16_TILE);
}

/* One step of a strip. */
ALWAYS_INLINE void pack_step(uint32_t *out, const tpti_bf16_operand *whole, size_t l, size_t p,
                             const bool along, const size_t parts) {
  tpti_bf16_operand o = *whole;
  o.k = tpti_least(TPTI_BF16_DEPTH, whole->k - p);
  for (size_t t = 0; t < 2; t++, l += LANES, out += HALF) {
    o.lines = l < whole->lines ? tpti_least(LANES, whole->lines - l) : 0;
    o.x = whole->x + (o.lines ? l * whole->line + p * whole->deep : 0);
    pack_tile(out, &o, along, parts);
  }
}

/* Memory is read along its own lines: many streams of whole cache lines. */
ALWAYS_INLINE void pack_all(uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                            const bool along, const size_t parts) {
  const size_t step = parts * PART;
  if (along) {
    for (size_t l = 0; l < o->lines; l += TPTI_BF16_LINES, out += strip) {
      for (size_t p = 0; p < o->k; p += TPTI_BF16_DEPTH)
        pack_step(out + p / TPTI_BF16_DEPTH * step, o, l, p, along, parts);
    }
    return;
  }
  for (size_t p = 0; p < o->k; p += TPTI_BF16_DEPTH, out += step) {
    for (size_t l = 0; l < o->lines; l += TPTI_BF16_LINES)
      pack_step(out + l / TPTI_BF16_LINES * strip, o, l, p, along, parts);
  }
}

/* The way of o is made a constant. */
ALWAYS_INLINE void pack_parts(uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                              const size_t parts) {
  tpti_bf16_operand own = *o;
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

void tpti_bf16_pack_operand(uint32_t *out, size_t strip, const tpti_bf16_operand *o, size_t parts) {
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
