/* Attention's inner loops on AMX tiles: products, softmax and its gradient
 * (kernel/attention_amx.h). */
#include "kernel/attention_amx_words.h"

#ifdef TPTI_SCORES_AMX

enum {
  STRIP = TPTI_SCORE_STRIP,
  TILE = TPTI_SCORE_TILE,
  LINES = TPTI_SCORE_LINES,
  ROW = TPTI_SCORE_ROW,
  CHUNK_TILES = TPTI_SCORE_CHUNK / STRIP
};

static void end(void) { _tile_release(); }

/* ---- products ---- */

enum { TILE_BYTES = 64 }; /* from row to row of a packed tile */

/* Two by two tiles of c. gcc does not know that a tile load reads memory: see product. */
ALWAYS_INLINE void product_square(float *c, const tpti_score_product *g, const uint16_t *a,
                                  const uint16_t *b) {
  const size_t row = g->c_row * sizeof *c;
  float *below = c + LINES * g->c_row;
  if (g->add) {
    _tile_loadd(0, c, row);
    _tile_loadd(1, c + LINES, row);
    _tile_loadd(2, below, row);
    _tile_loadd(3, below + LINES, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const uint16_t *a1 = a + g->a_row * TILE, *b1 = b + g->b_row * TILE;
  for (size_t p = 0; p < g->k * TILE; p += TILE) {
    _tile_loadd(4, a + p, TILE_BYTES);
    _tile_loadd(6, b + p, TILE_BYTES);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b1 + p, TILE_BYTES);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a1 + p, TILE_BYTES);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, row);
  _tile_stored(1, c + LINES, row);
  _tile_stored(2, below, row);
  _tile_stored(3, below + LINES, row);
}

static void product(const tpti_score_product *g) {
  __asm__ volatile("" ::: "memory"); /* all of a and b is written, whoever inlines this */
  for (size_t j = 0; j < g->n; j += 2)
    for (size_t i = 0; i < g->m; i += 2)
      product_square(g->c + i * LINES * g->c_row + j * LINES, g, g->a + i * g->a_row * TILE,
                     g->b + j * g->b_row * TILE);
}

/* ---- scores ---- */

/* 2^x = 2^(whole part) 2^r, 0 <= r < 1: 1 + r q(r), q of degree 4 fitted to the smallest largest
 * relative error, 8e-8. The scaling takes the whole part by itself; of -inf the rest is 0, and so
 * is the result. Where `masked`, 0 outside of seen. */
ALWAYS_INLINE v_f32 exp2_of(v_f32 x, bool masked, v_mask seen) {
  v_f32 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  v_f32 e = v_set1(0x1.e974fcp-10f);
  e = v_fma(e, r, v_set1(0x1.277854p-7f));
  e = v_fma(e, r, v_set1(0x1.c91ce6p-5f));
  e = v_fma(e, r, v_set1(0x1.ebdb56p-3f));
  e = v_fma(e, r, v_set1(0x1.62e4bap-1f));
  e = v_fma(e, r, v_set1(1.0f));
  return masked ? _mm512_maskz_scalef_ps(seen, e, x) : v_scale2(e, x);
}

/* log2 of what is 1 or more: m in [3/4, 3/2), z = (m - 1) / (m + 1), ln m = 2 (z + z^3 / 3 + ...),
 * whose next term is below 4e-9. */
ALWAYS_INLINE v_f32 log2_of(v_f32 x) {
  v_f32 m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src), e = _mm512_getexp_ps(x);
  v_mask large = v_le(v_set1(1.5f), m);
  m = v_select(large, v_mul(m, v_set1(0.5f)), m);
  e = v_select(large, v_add(e, v_set1(1.0f)), e);
  v_f32 z = v_div(v_sub(m, v_set1(1.0f)), v_add(m, v_set1(1.0f))), w = v_mul(z, z);
  v_f32 q = v_set1(1.0f / 9);
  q = v_fma(q, w, v_set1(1.0f / 7));
  q = v_fma(q, w, v_set1(1.0f / 5));
  q = v_fma(q, w, v_set1(1.0f / 3));
  q = v_fma(q, w, v_set1(1.0f));
  return v_fma(v_mul(z, q), v_set1(0x1.715476p+1f), e);
}

/* Of the 32 columns those that see row i: from i - lead on. */
ALWAYS_INLINE uint32_t columns_seeing(size_t i, ptrdiff_t lead) {
  ptrdiff_t from = (ptrdiff_t)i - lead;
  if (from <= 0) return UINT32_MAX;
  return from < STRIP ? UINT32_MAX << from : 0;
}

/* The largest of top[j] and columns 16 j .. 16 j + 15 of s; a NaN may be passed over, exp shows it.
 */
ALWAYS_INLINE void column_max(v_f32 top[2], const tpti_score_chunk *c, bool masked) {
  v_f32 odd[2] = {top[0], top[1]};
  const float *s = c->s;
  for (size_t i = 0; i < c->keys; i += 2, s += 2 * STRIP) {
    uint32_t a = masked ? columns_seeing(i, c->lead) : UINT32_MAX;
    uint32_t b = masked ? columns_seeing(i + 1, c->lead) : UINT32_MAX;
    for (size_t j = 0; j < 2; j++) {
      const float *at = s + j * V_LANES;
      if (masked) {
        top[j] = _mm512_mask_max_ps(top[j], (v_mask)(a >> j * V_LANES), v_load(at), top[j]);
        odd[j] = _mm512_mask_max_ps(odd[j], (v_mask)(b >> j * V_LANES), v_load(at + STRIP), odd[j]);
      } else {
        top[j] = v_max(v_load(at), top[j]), odd[j] = v_max(v_load(at + STRIP), odd[j]);
      }
    }
  }
  top[0] = v_max(top[0], odd[0]), top[1] = v_max(top[1], odd[1]);
}

static void scale_columns(float *y, size_t E, v_f32 low, v_f32 high) {
  for (size_t e = 0; e < E; e++, y += STRIP) {
    v_store(y, v_mul(v_load(y), low));
    v_store(y + V_LANES, v_mul(v_load(y + V_LANES), high));
  }
}

/* What the sums so far are to be multiplied by; max becomes the new one. */
ALWAYS_INLINE v_f32 renew(float *max, v_f32 top, v_f32 factor) {
  v_f32 before = v_load(max);
  v_store(max, top);
  return exp2_of(v_sub(v_mul(before, factor), v_mul(top, factor)), false, 0);
}

/* 2^(factor s - top) of 16 columns, those of bits 16 j and on of seen. */
ALWAYS_INLINE v_f32 weight(const float *s, v_f32 factor, v_f32 top, bool masked, uint32_t seen) {
  return exp2_of(_mm512_fmsub_ps(v_load(s), factor, top), masked, (v_mask)seen);
}

/* Rows i and i + 1 of both operands that will be needed. */
ALWAYS_INLINE void bring_near(const uint16_t *const soon[2], size_t i, size_t E) {
  for (size_t at = i * E; at < (i + 2) * E; at += ROW)
    __builtin_prefetch(soon[0] + at), __builtin_prefetch(soon[1] + at);
}

/* p = 2^(factor s - top); the sums of its columns are added to sum. */
ALWAYS_INLINE void weights_of(uint16_t *p, const tpti_score_chunk *c, size_t E, const v_f32 top[2],
                              v_f32 sum[2], bool masked) {
  const v_f32 factor = v_set1(c->factor);
  v_f32 odd[2] = {v_zero(), v_zero()};
  const float *s = c->s;
  for (size_t i = 0; i < c->keys; i += 2, s += 2 * STRIP, p += ROW) {
    uint32_t seen = masked ? columns_seeing(i, c->lead) : 0;
    uint32_t next = masked ? columns_seeing(i + 1, c->lead) : 0;
    bring_near(c->soon, i, E);
    for (size_t j = 0; j < 2; j++) {
      const float *at = s + j * V_LANES;
      v_f32 a = weight(at, factor, top[j], masked, seen >> j * V_LANES);
      v_f32 b = weight(at + STRIP, factor, top[j], masked, next >> j * V_LANES);
      sum[j] = v_add(sum[j], a), odd[j] = v_add(odd[j], b);
      _mm512_store_si512(p + j * CHUNK_TILES * TILE, tpti_bf16_pairs(a, b));
    }
  }
  sum[0] = v_add(sum[0], odd[0]), sum[1] = v_add(sum[1], odd[1]);
}

ALWAYS_INLINE void softmax_chunk(uint16_t *p, const tpti_score_state *to, const tpti_score_chunk *c,
                                 bool masked) {
  const v_f32 factor = v_set1(c->factor);
  v_f32 before[2] = {v_load(to->max), v_load(to->max + V_LANES)};
  v_f32 top[2] = {before[0], before[1]}, by[2], sum[2] = {v_zero(), v_zero()};
  column_max(top, c, masked);
  bool same = v_eq(top[0], before[0]) == 0xffff && v_eq(top[1], before[1]) == 0xffff;
  for (size_t j = 0; j < 2; j++) {
    by[j] = renew(to->max + j * V_LANES, top[j], factor);
    top[j] = v_mul(top[j], factor);
  }
  weights_of(p, c, to->E, top, sum, masked);
  for (size_t j = 0; j < 2; j++) {
    float *at = to->sum + j * V_LANES;
    v_store(at, v_fma(v_load(at), by[j], sum[j]));
  }
  if (!same && to->y) scale_columns(to->y, to->E, by[0], by[1]);
}

static void softmax(uint16_t *p, const tpti_score_state *to, const tpti_score_chunk *c) {
  if (c->lead + 1 < (ptrdiff_t)c->keys)
    softmax_chunk(p, to, c, true);
  else
    softmax_chunk(p, to, c, false);
}

/* ---- out of the tiles ---- */

/* out [16 rows, cols] (+)= the columns of in [cols, 32], cols at most 16. Column c becomes row c,
 * or, mixed, the row of query c of the strip. */
ALWAYS_INLINE void turn_square(float *out, size_t stride, const float *in, size_t first,
                               size_t queries, v_mask cols, bool mixed, bool add) {
  v_f32 x[LINES];
  UNROLL
  for (size_t e = 0; e < LINES; e++) x[e] = v_load(in + e * STRIP + first);
  v_transpose(x);
  UNROLL
  for (size_t c = 0; c < LINES; c++) {
    size_t query = mixed ? tpti_score_query(first + c) : first + c;
    if (query >= queries) continue;
    float *row = out + query * stride;
    v_store_mask(row, add ? v_add(v_load_mask(row, cols), x[c]) : x[c], cols);
  }
}

ALWAYS_INLINE void turn_strip(float *out, size_t stride, const float *in, size_t queries, size_t E,
                              bool mixed, bool add) {
  for (size_t e = 0; e < E; e += LINES) {
    v_mask cols = tpti_first_lanes(E - e);
    turn_square(out + e, stride, in + e * STRIP, 0, queries, cols, mixed, add);
    turn_square(out + e, stride, in + e * STRIP, LINES, queries, cols, mixed, add);
  }
}

static void turn(float *out, size_t stride, const float *in, size_t queries, size_t E, bool add) {
  if (add)
    turn_strip(out, stride, in, queries, E, true, true);
  else
    turn_strip(out, stride, in, queries, E, true, false);
}

static void finish(float *y, size_t y_stride, float *lse, const tpti_score_state *from,
                   size_t queries, size_t E, float factor) {
  v_f32 by[2];
  for (size_t j = 0; j < 2; j++) {
    v_f32 sum = v_load(from->sum + j * V_LANES), max = v_load(from->max + j * V_LANES);
    by[j] = v_div(v_set1(1.0f), sum);
    if (!lse) continue;
    v_f32 log2 = v_add(v_mul(max, v_set1(factor)), log2_of(sum));
    v_store(lse + j * V_LANES, v_mul(log2, v_set1(0x1.62e43p-1f)));
  }
  scale_columns(from->y, from->E, by[0], by[1]);
  turn_strip(y, y_stride, from->y, queries, E, false, false);
}

/* ---- the gradient ---- */

/* What 16 queries bring along. */
typedef struct column {
  v_f32 lse, delta;
} column;

ALWAYS_INLINE column column_of(const tpti_score_square *g, size_t first) {
  return (column){v_mul(v_load(g->lse + first), v_set1(0x1.715476p+0f)),
                  v_mul(v_load(g->delta + first), v_set1(g->scale))};
}

/* A row of p and of ds as they are packed. */
typedef struct packed_row {
  __m512i p, ds;
} packed_row;

/* Both 0 in the columns that do not see the row. */
ALWAYS_INLINE packed_row gradient_row(const tpti_score_square *g, size_t i, const column c[2],
                                      bool masked, uint32_t there) {
  const v_f32 factor = v_set1(g->factor), scale = v_set1(g->scale);
  uint32_t seen = masked ? columns_seeing(i, g->lead) & there : 0;
  v_f32 p[2], ds[2];
  UNROLL
  for (size_t j = 0; j < 2; j++) {
    const size_t at = i * STRIP + j * V_LANES;
    v_mask m = (v_mask)(seen >> j * V_LANES);
    v_f32 off = _mm512_fmsub_ps(v_load(g->dp + at), scale, c[j].delta);
    p[j] = weight(g->s + at, factor, c[j].lse, masked, m);
    ds[j] = masked ? _mm512_maskz_mul_ps(m, p[j], off) : v_mul(p[j], off);
  }
  return (packed_row){(__m512i)_mm512_cvtne2ps_pbh(p[1], p[0]),
                      (__m512i)_mm512_cvtne2ps_pbh(ds[1], ds[0])};
}

ALWAYS_INLINE void gradient_square(const tpti_score_square *g, bool masked, uint32_t there) {
  const column c[2] = {column_of(g, 0), column_of(g, V_LANES)};
  uint16_t *other = g->turned + g->turned_step * TILE;
  for (size_t i = 0; i < STRIP; i += 2) {
    size_t at = i / LINES * g->line_step * TILE + i % LINES * ROW, pair = i / 2 * ROW;
    packed_row a = gradient_row(g, i, c, masked, there);
    packed_row b = gradient_row(g, i + 1, c, masked, there);
    _mm512_store_si512(g->p + at, a.p), _mm512_store_si512(g->p + at + ROW, b.p);
    _mm512_store_si512(g->ds + at, a.ds), _mm512_store_si512(g->ds + at + ROW, b.ds);
    _mm512_store_si512(g->turned + pair, _mm512_unpacklo_epi16(a.ds, b.ds));
    _mm512_store_si512(other + pair, _mm512_unpackhi_epi16(a.ds, b.ds));
  }
}

static void gradient(const tpti_score_square *g) {
  if (g->queries < STRIP)
    gradient_square(g, true, (1u << g->queries) - 1);
  else if (g->lead + 1 < STRIP)
    gradient_square(g, true, UINT32_MAX);
  else
    gradient_square(g, false, UINT32_MAX);
}

const tpti_scores *tpti_scores_amx(void) {
  static const tpti_scores scores = {.begin = tpti_amx_begin,
                                     .end = end,
                                     .pack_rows = tpti_scores_pack_rows,
                                     .pack_columns = tpti_scores_pack_columns,
                                     .product = product,
                                     .softmax = softmax,
                                     .finish = finish,
                                     .gradient = gradient,
                                     .turn = turn};
  return &scores;
}

#else

const tpti_scores *tpti_scores_amx(void) { return NULL; }

#endif
