/* Linear maps of weights that are not float32 (linear_held.h). */
#include "op/linear_held.h"

#include "base/size.h"
#include "kernel/kernel.h"

/* Floats of W at a time, where they are expanded: a second-level cache. Rows are a multiple of
 * UNIT, which kernels like. */
enum { FLOATS = 1 << 18, UNIT = 64, EXPAND_ROWS = 16 };

/* Rows of W that are floats at a time. */
static size_t step_of(size_t out, size_t in) {
  size_t step = FLOATS / in / UNIT * UNIT;
  return tpti_least(tpti_most(step, UNIT), out);
}

size_t tpti_linear_held_floats(tpti_precision precision, size_t out, size_t in) {
  return precision == TPTI_PRECISION_F32 ? step_of(out, in) * in : 0;
}

size_t tpti_linear_held_pack(tpti_precision precision, size_t M, size_t out, size_t in) {
  return tpti_gemm_pack(precision, M, precision == TPTI_PRECISION_F32 ? step_of(out, in) : out, in);
}

typedef struct expansion {
  const tpti_kernels *kernels;
  float *floats;
  tpti_matrix w;
  size_t rows, in;
} expansion;

static void expand_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const expansion *e = argument;
  size_t first = item * EXPAND_ROWS, left = e->rows - first;
  const tpti_matrix w = tpti_matrix_from(e->w, e->in, first);
  e->kernels->expand(e->floats + first * e->in, &w, tpti_least(left, EXPAND_ROWS), e->in);
}

/* The product as tpti_gemm_run takes it, with no B yet. */
static tpti_gemm product(float *y, const float *base, const float *x, size_t M, size_t out,
                         size_t in) {
  return (tpti_gemm){.c = y,
                     .base = base,
                     .a = x,
                     .c_row = out,
                     .base_row = out,
                     .a_row = in,
                     .a_col = 1,
                     .b_row = 1,
                     .b_col = in,
                     .m = M,
                     .n = out,
                     .k = in};
}

static void multiply_expanded(tpti_run *run, const tpti_gemm *whole, const tpti_matrix *w,
                              float *floats) {
  size_t out = whole->n, in = whole->k, step = step_of(out, in);
  for (size_t first = 0; first < out && !run->stopped; first += step) {
    tpti_gemm g = *whole;
    g.n = tpti_least(step, out - first);
    expansion e = {run->kernels, floats, tpti_matrix_from(*w, in, first), g.n, in};
    tpti_parallel(run, tpti_ceil_div(g.n, EXPAND_ROWS), expand_rows, &e);
    g.b = floats;
    g.c += first;
    if (g.base) g.base += first;
    tpti_gemm_run(run, &g);
  }
}

void tpti_linear_held(tpti_run *run, float *y, const float *base, const float *x,
                      const tpti_matrix *w, float *floats, size_t M, size_t out, size_t in) {
  tpti_gemm g = product(y, base, x, M, out, in);
  if (run->precision == TPTI_PRECISION_F32) {
    multiply_expanded(run, &g, w, floats);
  } else {
    g.held = w;
    tpti_gemm_run(run, &g);
  }
}
