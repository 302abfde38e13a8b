/* Log-sum-exp and softmax over the vector vocabulary: softmax.h. */
#include <math.h>
#include <stdint.h>

#include "kernel/softmax.h"

/* A NaN is passed over (v_max gives its second operand) unless it is the first entry: the sum of
 * exponentials finds it. */
static inline float softmax_top(const float *z, size_t n) {
  v_f32 a = v_set1(z[0]), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + 4 * V_LANES <= n; i += 4 * V_LANES) {
    a = v_max(v_load(z + i), a);
    b = v_max(v_load(z + i + V_LANES), b);
    c = v_max(v_load(z + i + 2 * V_LANES), c);
    d = v_max(v_load(z + i + 3 * V_LANES), d);
  }
  for (; i + V_LANES <= n; i += V_LANES) a = v_max(v_load(z + i), a);
  if (i < n) b = v_max(v_select(v_mask_n(n - i), v_load_n(z + i, n - i), b), b);
  return v_hmax(v_max(v_max(a, b), v_max(c, d)));
}

static inline v_f32 softmax_exp(const float *z, v_f32 top) { return v_exp(v_sub(v_load(z), top)); }

/* Rows lie one behind the other: exponentials leave the memory idle, so meanwhile the same part of
 * the next row is fetched, which took 4.4 to 2.9 ms for 1024 rows of 10000 on a Zen 4 core. Beyond
 * the last row a fetch does nothing. */
static inline void softmax_fetch(const float *z, size_t ahead) {
  enum { LINE = 64 / sizeof(float) };
  uintptr_t next = (uintptr_t)z + ahead * sizeof(float);
  for (size_t i = 0; i < 4 * V_LANES; i += LINE) {
    __builtin_prefetch((const void *)(next + i * sizeof(float)));
  }
}

/* exp(z - top), which also takes the place of z at `out`, unless that is NULL. */
ALWAYS_INLINE v_f32 softmax_put(float *out, const float *z, v_f32 top) {
  v_f32 e = softmax_exp(z, top);
  if (out) v_store(out, e);
  return e;
}

/* The sum of exp(z - top), four at a time added in float, the rest in double; out [n]: the
 * exponentials, or NULL, a constant where this is called. */
ALWAYS_INLINE double softmax_sum(float *out, const float *z, float top, size_t n) {
  v_f32 t = v_set1(top), rest = v_zero();
  v_f64 sums = v_zero64();
  size_t i = 0;
  for (; i + 4 * V_LANES <= n; i += 4 * V_LANES) {
    v_f32 e[4];
    UNROLL
    for (size_t v = 0; v < 4; v++)
      e[v] = softmax_put(out ? out + i + v * V_LANES : NULL, z + i + v * V_LANES, t);
    softmax_fetch(z + i, n);
    sums = v_add64(sums, v_widen(v_add(v_add(e[0], e[1]), v_add(e[2], e[3]))));
  }
  for (; i + V_LANES <= n; i += V_LANES)
    rest = v_add(rest, softmax_put(out ? out + i : NULL, z + i, t));
  if (i < n) {
    v_f32 e = v_exp(v_sub(v_load_n(z + i, n - i), t));
    if (out) v_store_n(out + i, e, n - i);
    rest = v_add(rest, v_select(v_mask_n(n - i), e, v_zero()));
  }
  return v_sum64(v_add64(sums, v_widen(rest)));
}

static double logsumexp(const float *z, size_t n) {
  float top = softmax_top(z, n);
  return (double)top + log(softmax_sum(NULL, z, top, n));
}

static double softmax_row(float *z, float weight, size_t n) {
  float top = softmax_top(z, n);
  double sum = softmax_sum(z, z, top, n);
  v_f32 w = v_set1((float)((double)weight / sum));
  size_t i = 0;
  for (; i + V_LANES <= n; i += V_LANES) v_store(z + i, v_mul(w, v_load(z + i)));
  if (i < n) v_store_n(z + i, v_mul(w, v_load_n(z + i, n - i)), n - i);
  return (double)top + log(sum);
}
