/* The vector vocabulary on AVX2 with FMA: 8 lanes. Kernel bodies (*_tmpl.h) are written in these
 * words alone; vec_avx512.h and vec_neon.h give the same words for their instruction sets. */
#ifndef TPTI_KERNEL_VEC_H
#define TPTI_KERNEL_VEC_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { V_LANES = 8 };

typedef __m256 v_f32;
typedef __m256 v_mask;
typedef struct v_f64 { /* as many doubles as v_f32 has floats */
  __m256d lo, hi;
} v_f64;

/* The first n lanes, n in 0..V_LANES. */
static inline v_mask v_mask_n(size_t n) {
  static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_ps((const float *)(const void *)(ones + 8 - n));
}

/* Addresses need no alignment. The n and mask forms touch only those lanes in memory; the others
 * load as 0. */
static inline v_f32 v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, v_f32 a) { _mm256_storeu_ps(p, a); }
static inline v_f32 v_load_mask(const float *p, v_mask m) {
  return _mm256_maskload_ps(p, _mm256_castps_si256(m));
}
static inline void v_store_mask(float *p, v_f32 a, v_mask m) {
  _mm256_maskstore_ps(p, _mm256_castps_si256(m), a);
}
static inline v_f32 v_load_n(const float *p, size_t n) { return v_load_mask(p, v_mask_n(n)); }
static inline void v_store_n(float *p, v_f32 a, size_t n) { v_store_mask(p, a, v_mask_n(n)); }

static inline v_f32 v_zero(void) { return _mm256_setzero_ps(); }
static inline v_f32 v_set1(float x) { return _mm256_set1_ps(x); }
static inline v_f32 v_add(v_f32 a, v_f32 b) { return _mm256_add_ps(a, b); }
static inline v_f32 v_sub(v_f32 a, v_f32 b) { return _mm256_sub_ps(a, b); }
static inline v_f32 v_mul(v_f32 a, v_f32 b) { return _mm256_mul_ps(a, b); }
static inline v_f32 v_div(v_f32 a, v_f32 b) { return _mm256_div_ps(a, b); }
static inline v_f32 v_sqrt(v_f32 a) { return _mm256_sqrt_ps(a); }
static inline v_f32 v_abs(v_f32 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline v_f32 v_neg(v_f32 a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }

/* a b + c, a b - c, c - a b, each rounded once. */
static inline v_f32 v_fma(v_f32 a, v_f32 b, v_f32 c) { return _mm256_fmadd_ps(a, b, c); }
static inline v_f32 v_fms(v_f32 a, v_f32 b, v_f32 c) { return _mm256_fmsub_ps(a, b, c); }
static inline v_f32 v_fnma(v_f32 a, v_f32 b, v_f32 c) { return _mm256_fnmadd_ps(a, b, c); }

/* a > b ? a : b and a < b ? a : b: where either is NaN, b. */
static inline v_f32 v_max(v_f32 a, v_f32 b) { return _mm256_max_ps(a, b); }
static inline v_f32 v_min(v_f32 a, v_f32 b) { return _mm256_min_ps(a, b); }

/* Comparisons with a NaN are false. v_select: m ? a : b. */
static inline v_mask v_lt(v_f32 a, v_f32 b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline v_mask v_le(v_f32 a, v_f32 b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
static inline v_mask v_eq(v_f32 a, v_f32 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
static inline v_f32 v_select(v_mask m, v_f32 a, v_f32 b) { return _mm256_blendv_ps(b, a, m); }

/* Over the lanes, in a fixed order: lane i meets lane i + 4, then i + 2, i + 1. */
static inline float v_sum(v_f32 a) {
  __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
/* Lane i is v_sum(r[i]), to the bit; r is used up. */
static inline v_f32 v_sums(v_f32 r[8]) {
  v_f32 t[4];
  for (int i = 0; i < 4; i++) { /* lane j meets j + 4; rows come in the order that ends in theirs */
    v_f32 a = r[i], b = r[4 + i];
    t[i] = v_add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
  for (int i = 0; i < 2; i++)
    r[i] = v_add(_mm256_shuffle_ps(t[2 * i], t[2 * i + 1], 0x44),
                 _mm256_shuffle_ps(t[2 * i], t[2 * i + 1], 0xee));
  return v_add(_mm256_shuffle_ps(r[0], r[1], 0x88), _mm256_shuffle_ps(r[0], r[1], 0xdd));
}
static inline float v_hmax(v_f32 a) {
  __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

/* In double: v_fma64 is a b + c of floats, exact but for its one rounding. */
static inline v_f64 v_zero64(void) { return (v_f64){_mm256_setzero_pd(), _mm256_setzero_pd()}; }
static inline v_f64 v_widen(v_f32 a) {
  return (v_f64){_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
                 _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))};
}
static inline v_f64 v_add64(v_f64 a, v_f64 b) {
  return (v_f64){_mm256_add_pd(a.lo, b.lo), _mm256_add_pd(a.hi, b.hi)};
}
static inline v_f64 v_fma64(v_f32 a, v_f32 b, v_f64 c) {
  v_f64 x = v_widen(a), y = v_widen(b);
  return (v_f64){_mm256_fmadd_pd(x.lo, y.lo, c.lo), _mm256_fmadd_pd(x.hi, y.hi, c.hi)};
}
static inline double v_sum64(v_f64 a) {
  __m256d s4 = _mm256_add_pd(a.lo, a.hi);
  __m128d s2 = _mm_add_pd(_mm256_castpd256_pd128(s4), _mm256_extractf128_pd(s4, 1));
  return _mm_cvtsd_f64(_mm_add_sd(s2, _mm_unpackhi_pd(s2, s2)));
}

/* Adjacent pairs. Turning (x0, x1) by an angle, with c = v_load_dup(cosine), s likewise:
 *   v_fmaddsub(x, c, v_mul(v_swap_pairs(x), s))    and back:   v_fmsubadd(the same)
 * v_load_dup: V_LANES / 2 floats (or n <= V_LANES / 2), each in two lanes: p0 p0 p1 p1 ... */
static inline v_f32 v_swap_pairs(v_f32 a) { return _mm256_permute_ps(a, 0xb1); }
static inline v_f32 v_dup_pairs(v_f32 a) {
  return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}
static inline v_f32 v_load_dup(const float *p) {
  return v_dup_pairs(_mm256_castps128_ps256(_mm_loadu_ps(p)));
}
static inline v_f32 v_load_dup_n(const float *p, size_t n) { return v_dup_pairs(v_load_n(p, n)); }
/* a b -+ c: minus in even lanes and plus in odd ones; v_fmsubadd the other way. */
static inline v_f32 v_fmaddsub(v_f32 a, v_f32 b, v_f32 c) { return _mm256_fmaddsub_ps(a, b, c); }
static inline v_f32 v_fmsubadd(v_f32 a, v_f32 b, v_f32 c) { return _mm256_fmsubadd_ps(a, b, c); }

/* 2 V_LANES floats as even and odd ones, in their order; and together again. */
static inline void v_load2(const float *p, v_f32 *even, v_f32 *odd) {
  v_f32 a = v_load(p), b = v_load(p + 8);
  v_f32 low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
  *even = _mm256_shuffle_ps(low, high, 0x88);
  *odd = _mm256_shuffle_ps(low, high, 0xdd);
}
static inline void v_store2(float *p, v_f32 even, v_f32 odd) {
  v_f32 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
  v_store(p, _mm256_permute2f128_ps(low, high, 0x20));
  v_store(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}

/* V_LANES bfloat16 numbers (the upper halves of floats), or small integers, as floats. */
static inline v_f32 v_load_bf16(const uint16_t *p) {
  __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
static inline v_f32 v_load_i8(const int8_t *p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p)));
}

/* a 2^n for whole n in -250..250: two steps, so that a subnormal result is rounded only at its end
 * and 2^128 needs no exponent of its own. */
static inline v_f32 v_scale2(v_f32 a, v_f32 n) {
  const __m256i bias = _mm256_set1_epi32(127);
  __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
  __m256i rest = _mm256_sub_epi32(whole, half);
  v_f32 p = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  v_f32 q = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
  return v_mul(v_mul(a, p), q);
}

/* v_exp(x): relative error under 2 units in the last place; -inf gives 0, x > 88.73 infinity, NaN
 * NaN. */
#include "kernel/vec_exp.h"

/* In place: V_LANES rows become columns. */
static inline void v_transpose(v_f32 r[8]) {
  v_f32 t[8];
  for (int i = 0; i < 4; i++) { /* pairs of rows, by 32 bits */
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) { /* fours of rows, by 64 bits */
    r[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    r[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    r[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    r[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    t[i] = _mm256_permute2f128_ps(r[i], r[4 + i], 0x20);
    t[4 + i] = _mm256_permute2f128_ps(r[i], r[4 + i], 0x31);
  }
  for (int i = 0; i < 8; i++) r[i] = t[i];
}

#endif
