/* The vector vocabulary on Advanced SIMD of AArch64: 4 lanes. vec_avx2.h says what each word means;
 * the words are the same here. */
#ifndef TPTI_KERNEL_VEC_H
#define TPTI_KERNEL_VEC_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { V_LANES = 4 };

typedef float32x4_t v_f32;
typedef uint32x4_t v_mask;
typedef struct v_f64 {
  float64x2_t lo, hi;
} v_f64;

static inline v_mask v_mask_n(size_t n) {
  static const uint32_t ones[8] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  return vld1q_u32(ones + 4 - n);
}
/* There are no masked accesses: lanes go through an array of their own. */
static inline v_f32 v_load_n(const float *p, size_t n) {
  float lanes[4] = {0};
  memcpy(lanes, p, n * sizeof(float));
  return vld1q_f32(lanes);
}
static inline void v_store_n(float *p, v_f32 a, size_t n) {
  float lanes[4];
  vst1q_f32(lanes, a);
  memcpy(p, lanes, n * sizeof(float));
}
/* Masks of v_mask_n: their first n lanes are set. */
static inline size_t v_mask_count(v_mask m) { return vaddvq_u32(vshrq_n_u32(m, 31)); }
static inline v_f32 v_load(const float *p) { return vld1q_f32(p); }
static inline void v_store(float *p, v_f32 a) { vst1q_f32(p, a); }
static inline v_f32 v_load_mask(const float *p, v_mask m) { return v_load_n(p, v_mask_count(m)); }
static inline void v_store_mask(float *p, v_f32 a, v_mask m) { v_store_n(p, a, v_mask_count(m)); }

static inline v_f32 v_zero(void) { return vdupq_n_f32(0); }
static inline v_f32 v_set1(float x) { return vdupq_n_f32(x); }
static inline v_f32 v_add(v_f32 a, v_f32 b) { return vaddq_f32(a, b); }
static inline v_f32 v_sub(v_f32 a, v_f32 b) { return vsubq_f32(a, b); }
static inline v_f32 v_mul(v_f32 a, v_f32 b) { return vmulq_f32(a, b); }
static inline v_f32 v_div(v_f32 a, v_f32 b) { return vdivq_f32(a, b); }
static inline v_f32 v_sqrt(v_f32 a) { return vsqrtq_f32(a); }
static inline v_f32 v_abs(v_f32 a) { return vabsq_f32(a); }
static inline v_f32 v_neg(v_f32 a) { return vnegq_f32(a); }
static inline v_f32 v_fma(v_f32 a, v_f32 b, v_f32 c) { return vfmaq_f32(c, a, b); }
static inline v_f32 v_fms(v_f32 a, v_f32 b, v_f32 c) { return vfmaq_f32(vnegq_f32(c), a, b); }
static inline v_f32 v_fnma(v_f32 a, v_f32 b, v_f32 c) { return vfmsq_f32(c, a, b); }

static inline v_mask v_lt(v_f32 a, v_f32 b) { return vcltq_f32(a, b); }
static inline v_mask v_le(v_f32 a, v_f32 b) { return vcleq_f32(a, b); }
static inline v_mask v_eq(v_f32 a, v_f32 b) { return vceqq_f32(a, b); }
static inline v_f32 v_select(v_mask m, v_f32 a, v_f32 b) { return vbslq_f32(m, a, b); }
static inline v_f32 v_max(v_f32 a, v_f32 b) { return v_select(vcgtq_f32(a, b), a, b); }
static inline v_f32 v_min(v_f32 a, v_f32 b) { return v_select(vcltq_f32(a, b), a, b); }

static inline float v_sum(v_f32 a) {
  float32x2_t s2 = vadd_f32(vget_low_f32(a), vget_high_f32(a));
  return vget_lane_f32(s2, 0) + vget_lane_f32(s2, 1);
}
static inline v_f32 v_sums(v_f32 r[4]) {
  v_f32 t[2];
  for (int i = 0; i < 2; i++) {
    v_f32 a = r[2 * i], b = r[2 * i + 1];
    t[i] = vaddq_f32(vcombine_f32(vget_low_f32(a), vget_low_f32(b)),
                     vcombine_f32(vget_high_f32(a), vget_high_f32(b)));
  }
  return vpaddq_f32(t[0], t[1]);
}
static inline float v_hmax(v_f32 a) { return vmaxvq_f32(a); }

static inline v_f64 v_zero64(void) { return (v_f64){vdupq_n_f64(0), vdupq_n_f64(0)}; }
static inline v_f64 v_widen(v_f32 a) {
  return (v_f64){vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)};
}
static inline v_f64 v_add64(v_f64 a, v_f64 b) {
  return (v_f64){vaddq_f64(a.lo, b.lo), vaddq_f64(a.hi, b.hi)};
}
static inline v_f64 v_fma64(v_f32 a, v_f32 b, v_f64 c) {
  v_f64 x = v_widen(a), y = v_widen(b);
  return (v_f64){vfmaq_f64(c.lo, x.lo, y.lo), vfmaq_f64(c.hi, x.hi, y.hi)};
}
static inline double v_sum64(v_f64 a) { return vaddvq_f64(vaddq_f64(a.lo, a.hi)); }

static inline v_f32 v_swap_pairs(v_f32 a) { return vrev64q_f32(a); }
static inline v_f32 v_dup_pairs(v_f32 a) { return vzip1q_f32(a, a); }
static inline v_f32 v_load_dup(const float *p) {
  float32x2_t two = vld1_f32(p);
  return v_dup_pairs(vcombine_f32(two, two));
}
static inline v_f32 v_load_dup_n(const float *p, size_t n) { return v_dup_pairs(v_load_n(p, n)); }
static inline v_f32 v_fmaddsub(v_f32 a, v_f32 b, v_f32 c) {
  static const float signs[4] = {-1, 1, -1, 1};
  return vfmaq_f32(vmulq_f32(c, vld1q_f32(signs)), a, b);
}
static inline v_f32 v_fmsubadd(v_f32 a, v_f32 b, v_f32 c) { return v_fmaddsub(a, b, v_neg(c)); }
static inline void v_load2(const float *p, v_f32 *even, v_f32 *odd) {
  float32x4x2_t pairs = vld2q_f32(p);
  *even = pairs.val[0];
  *odd = pairs.val[1];
}
static inline void v_store2(float *p, v_f32 even, v_f32 odd) {
  vst2q_f32(p, (float32x4x2_t){{even, odd}});
}

static inline v_f32 v_load_bf16(const uint16_t *p) {
  return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}
static inline v_f32 v_load_i8(const int8_t *p) {
  int32_t lanes[4] = {p[0], p[1], p[2], p[3]};
  return vcvtq_f32_s32(vld1q_s32(lanes));
}

static inline v_f32 v_scale2(v_f32 a, v_f32 n) {
  const int32x4_t bias = vdupq_n_s32(127);
  int32x4_t whole = vcvtq_s32_f32(n), half = vshrq_n_s32(whole, 1);
  int32x4_t rest = vsubq_s32(whole, half);
  v_f32 p = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(half, bias), 23));
  v_f32 q = vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(rest, bias), 23));
  return v_mul(v_mul(a, p), q);
}

#include "kernel/vec_exp.h"

/* In place: rows become columns. */
static inline void v_transpose(v_f32 r[4]) {
  v_f32 t0 = vzip1q_f32(r[0], r[2]), t1 = vzip2q_f32(r[0], r[2]);
  v_f32 t2 = vzip1q_f32(r[1], r[3]), t3 = vzip2q_f32(r[1], r[3]);
  r[0] = vzip1q_f32(t0, t2);
  r[1] = vzip2q_f32(t0, t2);
  r[2] = vzip1q_f32(t1, t3);
  r[3] = vzip2q_f32(t1, t3);
}

#endif
