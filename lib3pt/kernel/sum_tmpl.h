/* Sums over the vector vocabulary: sum.h. */
#include "kernel/sum.h"

static double sum_values(const float *x, size_t n) {
  v_f64 a = v_zero64(), b = v_zero64();
  size_t i = 0;
  for (; i + 2 * V_LANES <= n; i += 2 * V_LANES) {
    a = v_add64(a, v_widen(v_load(x + i)));
    b = v_add64(b, v_widen(v_load(x + i + V_LANES)));
  }
  for (; i < n; i += V_LANES) {
    a = v_add64(a, v_widen(n - i < V_LANES ? v_load_n(x + i, n - i) : v_load(x + i)));
  }
  return v_sum64(v_add64(a, b));
}

static double sum_squares(const float *x, size_t n) {
  v_f64 a = v_zero64(), b = v_zero64();
  size_t i = 0;
  for (; i + 2 * V_LANES <= n; i += 2 * V_LANES) {
    v_f32 u = v_load(x + i), v = v_load(x + i + V_LANES);
    a = v_fma64(u, u, a);
    b = v_fma64(v, v, b);
  }
  for (; i < n; i += V_LANES) {
    v_f32 u = n - i < V_LANES ? v_load_n(x + i, n - i) : v_load(x + i);
    a = v_fma64(u, u, a);
  }
  return v_sum64(v_add64(a, b));
}
