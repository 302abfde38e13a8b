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

/* Values at + 0 to at + 15 of x as floats, those of the mask; 0 else, whatever the scale. */
ALWAYS_INLINE __m512 floats_at(const tpti_matrix *x, size_t at, __mmask16 mask,
                               const tpti_form form) {
  __m512i bits;
  switch (form) {
  case TPTI_FORM_BF16:
    bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, (const uint16_t *)x->values + at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
  case TPTI_FORM_INT8:
    bits = _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, (const int8_t *)x->values + at));
    return _mm512_maskz_mul_ps(mask, _mm512_cvtepi32_ps(bits), _mm512_set1_ps(*x->scales));
  case TPTI_FORM_F32:
    break;
  }
  return _mm512_maskz_loadu_ps(mask, (const float *)x->values + at);
}

/* Line r of a tile, up to 32 k: pairs of every part. A bf16 is its own first part. */
ALWAYS_INLINE void split_line(uint32_t *out, size_t part, const tpti_bf16_operand *o, size_t r,
                              const tpti_form form, const size_t parts) {
  const tpti_matrix x = tpti_bf16_from(o, r, 0);
  const __mmask16 low = tpti_bf16_mask(o->k),
                  high = tpti_bf16_mask(o->k > LANES ? o->k - LANES : 0);
  if (form == TPTI_FORM_BF16 && parts == 1) {
    const __mmask32 both = (__mmask32)high << LANES | low;
    _mm512_store_si512(out, tpti_bf16_paired(_mm512_maskz_loadu_epi16(both, x.values)));
    return;
  }
  __m512 second = high ? floats_at(&x, LANES, high, form) : _mm512_setzero_ps();
  split(out, part, floats_at(&x, 0, low, form), second, parts);
}

/* A tile of the first 16 lines and 32 k of o as vectors along the lines: row r of out is line r,
 * its lanes are pairs. */
ALWAYS_INLINE void split_lines(uint32_t *out, size_t part, const tpti_bf16_operand *o,
                               const tpti_form form, const size_t parts) {
  for (size_t r = 0; r < LANES; r++, out += LANES) {
    if (r < o->lines)
      split_line(out, part, o, r, form, parts);
    else
      split(out, part, _mm512_setzero_ps(), _mm512_setzero_ps(), parts);
  }
}

/* The same as vectors across the lines: row r of out is pair r, its lanes are lines. */
ALWAYS_INLINE void split_depths(uint32_t *out, size_t part, const tpti_bf16_operand *o,
                                const size_t parts) {
  const __mmask16 mask = tpti_bf16_mask(o->lines);
  for (size_t r = 0; r < LANES; r++) {
    const float *x = (const float *)o->x.values + r * o->deep;
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
                             const tpti_form form, const size_t parts) {
  if (along != o->columns) { /* rows of the tile are the vectors */
    if (along)
      split_lines(out, PART, o, form, parts);
    else
      split_depths(out, PART, o, parts);
    return;
  }
  _Alignas(64) uint32_t turned[TPTI_BF16_PARTS * TPTI_BF16_TILE];
  if (along)
    split_lines(turned, TPTI_BF16_TILE, o, form, parts);
  else
    split_depths(turned, TPTI_BF16_TILE, o, parts);
  for (size_t i = 0; i < parts; i++) transpose(out + i * PART, turned + i * TPTI_BF16_TILE);
}

/* One step of a strip. */
ALWAYS_INLINE void pack_step(uint32_t *out, const tpti_bf16_operand *whole, size_t l, size_t p,
                             const bool along, const tpti_form form, const size_t parts) {
  tpti_bf16_operand o = *whole;
  o.k = tpti_least(TPTI_BF16_DEPTH, whole->k - p);
  for (size_t t = 0; t < 2; t++, l += LANES, out += HALF) {
    o.lines = l < whole->lines ? tpti_least(LANES, whole->lines - l) : 0;
    if (o.lines) o.x = tpti_bf16_from(whole, l, p);
    pack_tile(out, &o, along, form, parts);
  }
}

/* Memory is read along its own lines: many streams of whole cache lines. */
ALWAYS_INLINE void pack_all(uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                            const bool along, const tpti_form form, const size_t parts) {
  const size_t step = parts * PART;
  if (along) {
    for (size_t l = 0; l < o->lines; l += TPTI_BF16_LINES, out += strip) {
      for (size_t p = 0; p < o->k; p += TPTI_BF16_DEPTH)
        pack_step(out + p / TPTI_BF16_DEPTH * step, o, l, p, along, form, parts);
    }
    return;
  }
  for (size_t p = 0; p < o->k; p += TPTI_BF16_DEPTH, out += step) {
    for (size_t l = 0; l < o->lines; l += TPTI_BF16_LINES)
      pack_step(out + l / TPTI_BF16_LINES * strip, o, l, p, along, form, parts);
  }
}

/* The way of o is made a constant. */
ALWAYS_INLINE void pack_floats(uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                               const bool columns, const size_t parts) {
  tpti_bf16_operand own = *o;
  own.columns = columns;
  if (o->deep == 1)
    pack_all(out, strip, &own, true, TPTI_FORM_F32, parts);
  else
    pack_all(out, strip, &own, false, TPTI_FORM_F32, parts);
}

ALWAYS_INLINE void pack_parts(uint32_t *out, size_t strip, const tpti_bf16_operand *o,
                              const size_t parts) {
  tpti_bf16_operand held = *o;
  held.columns = true;
  switch (o->x.form) {
  case TPTI_FORM_BF16:
    pack_all(out, strip, &held, true, TPTI_FORM_BF16, parts);
    break;
  case TPTI_FORM_INT8:
    pack_all(out, strip, &held, true, TPTI_FORM_INT8, parts);
    break;
  case TPTI_FORM_F32:
    if (o->columns)
      pack_floats(out, strip, o, true, parts);
    else
      pack_floats(out, strip, o, false, parts);
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
