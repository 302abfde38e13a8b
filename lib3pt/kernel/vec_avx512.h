/* The vector vocabulary on AVX-512 (F, BW, DQ, VL): 16 lanes. vec_avx2.h says what each word means;
 * the words are the same here. */
#ifndef TPTI_KERNEL_VEC_H
#define TPTI_KERNEL_VEC_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

enum { V_LANES = 16 };

typedef __m512 v_f32;
typedef __mmask16 v_mask;
typedef struct v_f64 {
  __m512d lo, hi;
} v_f64;

static inline v_mask v_mask_n(size_t n) { return (v_mask)((1u << n) - 1u); }
static inline v_f32 v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, v_f32 a) { _mm512_storeu_ps(p, a); }
static inline v_f32 v_load_n(const float *p, size_t n) {
  return _mm512_maskz_loadu_ps(v_mask_n(n), p);
}
static inline void v_store_n(float *p, v_f32 a, size_t n) {
  _mm512_mask_storeu_ps(p, v_mask_n(n), a);
}
static inline v_f32 v_load_mask(const float *p, v_mask m) { return _mm512_maskz_loadu_ps(m, p); }
static inline void v_store_mask(float *p, v_f32 a, v_mask m) { _mm512_mask_storeu_ps(p, m, a); }

static inline v_f32 v_zero(void) { return _mm512_setzero_ps(); }
static inline v_f32 v_set1(float x) { return _mm512_set1_ps(x); }
static inline v_f32 v_add(v_f32 a, v_f32 b) { return _mm512_add_ps(a, b); }
static inline v_f32 v_sub(v_f32 a, v_f32 b) { return _mm512_sub_ps(a, b); }
static inline v_f32 v_mul(v_f32 a, v_f32 b) { return _mm512_mul_ps(a, b); }
static inline v_f32 v_div(v_f32 a, v_f32 b) { return _mm512_div_ps(a, b); }
static inline v_f32 v_fma(v_f32 a, v_f32 b, v_f32 c) { return _mm512_fmadd_ps(a, b, c); }
static inline v_f32 v_fms(v_f32 a, v_f32 b, v_f32 c) { return _mm512_fmsub_ps(a, b, c); }
static inline v_f32 v_fnma(v_f32 a, v_f32 b, v_f32 c) { return _mm512_fnmadd_ps(a, b, c); }
static inline v_f32 v_max(v_f32 a, v_f32 b) { return _mm512_max_ps(a, b); }
static inline v_f32 v_min(v_f32 a, v_f32 b) { return _mm512_min_ps(a, b); }
static inline v_f32 v_sqrt(v_f32 a) { return _mm512_sqrt_ps(a); }
static inline v_f32 v_abs(v_f32 a) { return _mm512_abs_ps(a); }
static inline v_f32 v_neg(v_f32 a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }

static inline v_mask v_lt(v_f32 a, v_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline v_mask v_le(v_f32 a, v_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline v_mask v_eq(v_f32 a, v_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline v_f32 v_select(v_mask m, v_f32 a, v_f32 b) { return _mm512_mask_blend_ps(m, b, a); }

/* Halves are folded onto each other: lane i meets lane i + 8, then i + 4, i + 2, i + 1. */
static inline __m256 v_upper(v_f32 a) { return _mm512_extractf32x8_ps(a, 1); }
static inline float v_sum(v_f32 a) {
  __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a), v_upper(a));
  __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
/* Lane i is v_sum(r[i]), to the bit; r is used up. */
static inline v_f32 v_sums(v_f32 r[16]) {
  v_f32 t[8];
  for (int i = 0; i < 8; i++) { /* lane j meets j + 8; rows come in the order that ends in theirs */
    v_f32 a = r[2 * i % 4 * 4 + i / 2], b = r[(2 * i + 1) % 4 * 4 + i / 2];
    t[i] = v_add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
  }
  for (int i = 0; i < 4; i++)
    r[i] = v_add(_mm512_shuffle_f32x4(t[2 * i], t[2 * i + 1], 0x88),
                 _mm512_shuffle_f32x4(t[2 * i], t[2 * i + 1], 0xdd));
  for (int i = 0; i < 2; i++)
    t[i] = v_add(_mm512_shuffle_ps(r[2 * i], r[2 * i + 1], 0x44),
                 _mm512_shuffle_ps(r[2 * i], r[2 * i + 1], 0xee));
  return v_add(_mm512_shuffle_ps(t[0], t[1], 0x88), _mm512_shuffle_ps(t[0], t[1], 0xdd));
}
static inline float v_hmax(v_f32 a) {
  __m256 s8 = _mm256_max_ps(_mm512_castps512_ps256(a), v_upper(a));
  __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

static inline v_f64 v_zero64(void) { return (v_f64){_mm512_setzero_pd(), _mm512_setzero_pd()}; }
static inline v_f64 v_widen(v_f32 a) {
  return (v_f64){_mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(v_upper(a))};
}
static inline v_f64 v_add64(v_f64 a, v_f64 b) {
  return (v_f64){_mm512_add_pd(a.lo, b.lo), _mm512_add_pd(a.hi, b.hi)};
}
static inline v_f64 v_fma64(v_f32 a, v_f32 b, v_f64 c) {
  v_f64 x = v_widen(a), y = v_widen(b);
  return (v_f64){_mm512_fmadd_pd(x.lo, y.lo, c.lo), _mm512_fmadd_pd(x.hi, y.hi, c.hi)};
}
static inline double v_sum64(v_f64 a) {
  __m512d s8 = _mm512_add_pd(a.lo, a.hi);
  __m256d s4 = _mm256_add_pd(_mm512_castpd512_pd256(s8), _mm512_extractf64x4_pd(s8, 1));
  __m128d s2 = _mm_add_pd(_mm256_castpd256_pd128(s4), _mm256_extractf128_pd(s4, 1));
  return _mm_cvtsd_f64(_mm_add_sd(s2, _mm_unpackhi_pd(s2, s2)));
}

static inline v_f32 v_swap_pairs(v_f32 a) { return _mm512_permute_ps(a, 0xb1); }
static inline v_f32 v_load_dup(const float *p) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(p)));
}
static inline v_f32 v_load_dup_n(const float *p, size_t n) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return _mm512_permutexvar_ps(twice, v_load_n(p, n));
}
static inline v_f32 v_fmaddsub(v_f32 a, v_f32 b, v_f32 c) { return _mm512_fmaddsub_ps(a, b, c); }
static inline v_f32 v_fmsubadd(v_f32 a, v_f32 b, v_f32 c) { return _mm512_fmsubadd_ps(a, b, c); }
static inline void v_load2(const float *p, v_f32 *even, v_f32 *odd) {
  const __m512i step = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  v_f32 a = v_load(p), b = v_load(p + 16);
  *even = _mm512_permutex2var_ps(a, step, b);
  *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(step, _mm512_set1_epi32(1)), b);
}
static inline void v_store2(float *p, v_f32 even, v_f32 odd) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  v_store(p, _mm512_permutex2var_ps(even, low, odd));
  v_store(p + 16, _mm512_permutex2var_ps(even, _mm512_add_epi32(low, _mm512_set1_epi32(8)), odd));
}

static inline v_f32 v_load_bf16(const uint16_t *p) {
  __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
static inline v_f32 v_load_i8(const int8_t *p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p)));
}

/* a 2^n for whole n, with infinity and subnormal results as rounding a product once gives them. */
static inline v_f32 v_scale2(v_f32 a, v_f32 n) { return _mm512_scalef_ps(a, n); }

#include "kernel/vec_exp.h"

/* In place: rows become columns. */
static inline void v_transpose(v_f32 r[16]) {
  v_f32 t[16];
  for (int i = 0; i < 8; i++) { /* pairs of rows, by 32 bits */
    t[2 * i] = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; i++) { /* fours of rows, by 64 bits */
    r[4 * i] = _mm512_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
    r[4 * i + 1] = _mm512_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
    r[4 * i + 2] = _mm512_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
    r[4 * i + 3] = _mm512_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) { /* eights of rows, by 128 bits */
    t[i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0x88);
    t[4 + i] = _mm512_shuffle_f32x4(r[i], r[4 + i], 0xdd);
    t[8 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0x88);
    t[12 + i] = _mm512_shuffle_f32x4(r[8 + i], r[12 + i], 0xdd);
  }
  for (int i = 0; i < 8; i++) {
    r[i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0x88);
    r[8 + i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0xdd);
  }
}

#endif
