/* Attention on AMX tiles: packing of operands (kernel/attention_amx.h). */
#include "kernel/attention_amx_words.h"

#ifdef TPTI_SCORES_AMX

enum {
  STRIP = TPTI_SCORE_STRIP,
  TILE = TPTI_SCORE_TILE,
  LINES = TPTI_SCORE_LINES,
  ROW = TPTI_SCORE_ROW
};

/* 32 numbers of a row, 0 where there are none. */
ALWAYS_INLINE __m512i row_line(const float *x, size_t cols) {
  v_f32 low = v_load_mask(x, tpti_first_lanes(cols));
  v_f32 high =
      cols > V_LANES ? v_load_mask(x + V_LANES, tpti_first_lanes(cols - V_LANES)) : v_zero();
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

ALWAYS_INLINE void store_tile(uint16_t *out, v_f32 line[LINES], bool turned) {
  if (turned) v_transpose(line);
  UNROLL
  for (size_t i = 0; i < LINES; i++) v_store((float *)(void *)(out + i * ROW), line[i]);
}

/* 16 rows of 32 columns; turned, a row of the tile holds one pair of columns of all 16. */
ALWAYS_INLINE void rows_tile(uint16_t *out, const tpti_score_source *x, size_t i, size_t j,
                             bool turned) {
  v_f32 line[LINES];
  const float *at = x->x + i * x->stride + j;
  size_t rows = i < x->rows ? x->rows - i : 0, cols = j < x->cols ? x->cols - j : 0;
  if (rows >= LINES && cols >= ROW) {
    UNROLL
    for (size_t r = 0; r < LINES; r++)
      line[r] = _mm512_castsi512_ps(row_line(at + r * x->stride, ROW));
  } else {
    for (size_t r = 0; r < LINES; r++)
      line[r] = r < rows ? _mm512_castsi512_ps(row_line(at + r * x->stride, cols)) : v_zero();
  }
  store_tile(out, line, turned);
}

/* Asks for the rows that come next: they lie too far apart for the processor to guess. */
ALWAYS_INLINE void fetch_ahead(const tpti_score_source *x, size_t from, size_t rows) {
  for (size_t i = from; i < tpti_least(x->rows, from + rows); i++)
    for (size_t j = 0; j < x->cols; j += LINES) __builtin_prefetch(x->x + i * x->stride + j);
}

ALWAYS_INLINE void pack_rows_as(uint16_t *out, size_t step, const tpti_score_source *x,
                                bool turned) {
  size_t rows = tpti_ceil_div(x->rows, STRIP) * STRIP;
  for (size_t i = 0; i < rows; i += LINES, out += step * TILE) {
    fetch_ahead(x, i + LINES, LINES);
    for (size_t j = 0; j < x->cols; j += ROW) rows_tile(out + j / ROW * TILE, x, i, j, turned);
  }
}

void tpti_scores_pack_rows(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs) {
  if (pairs)
    pack_rows_as(out, step, x, true);
  else
    pack_rows_as(out, step, x, false);
}

/* 16 columns of 32 rows: a row of the tile holds a pair of rows, or, turned, one column. */
ALWAYS_INLINE void columns_tile(uint16_t *out, const tpti_score_source *x, size_t i, size_t j,
                                bool turned) {
  v_f32 line[LINES];
  const float *at = x->x + i * x->stride + j;
  size_t rows = x->rows - i, cols = j < x->cols ? x->cols - j : 0;
  if (rows >= ROW && cols >= LINES) {
    UNROLL
    for (size_t r = 0; r < LINES; r++) {
      const float *pair = at + 2 * r * x->stride;
      line[r] = _mm512_castsi512_ps(tpti_bf16_pairs(v_load(pair), v_load(pair + x->stride)));
    }
  } else {
    v_mask m = tpti_first_lanes(cols);
    for (size_t r = 0; r < LINES; r++) {
      const float *pair = at + 2 * r * x->stride;
      v_f32 a = 2 * r < rows ? v_load_mask(pair, m) : v_zero();
      v_f32 b = 2 * r + 1 < rows ? v_load_mask(pair + x->stride, m) : v_zero();
      line[r] = _mm512_castsi512_ps(tpti_bf16_pairs(a, b));
    }
  }
  store_tile(out, line, turned);
}

ALWAYS_INLINE void pack_columns_as(uint16_t *out, size_t step, const tpti_score_source *x,
                                   bool turned) {
  size_t cols = tpti_ceil_div(x->cols, STRIP) * STRIP;
  for (size_t i = 0; i < x->rows; i += ROW, out += TILE) {
    fetch_ahead(x, i + ROW, ROW);
    for (size_t j = 0; j < cols; j += LINES)
      columns_tile(out + j / LINES * step * TILE, x, i, j, turned);
  }
}

void tpti_scores_pack_columns(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs) {
  if (pairs)
    pack_columns_as(out, step, x, false);
  else
    pack_columns_as(out, step, x, true);
}

#endif
