/* Linear maps of weights that are not float32 (linear_held.h). */
#include "op/linear_held.h"

#include "base/size.h"
#include "kernel/kernel.h"

/* Floats of W at a time: a second-level cache. Rows are a multiple of UNIT, which kernels like. */
enum { FLOATS = 1 << 18, UNIT = 64, EXPAND_ROWS = 16 };

/* Rows of W that are floats at a time. */
static size_t step_of(size_t out, size_t in) {
  size_t step = FLOATS / in / UNIT * UNIT;
  if (step == 0) step = UNIT;
  return step < out ? step : out;
}

size_t tpti_linear_held_floats(size_t out, size_t in) { return step_of(out, in) * in; }

size_t tpti_linear_held_pack(tpti_precision precision, size_t M, size_t out, size_t in) {
  return tpti_gemm_pack(precision, M, step_of(out, in), in);
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
  e->kernels->expand(e->floats + first * e->in, &w, left < EXPAND_ROWS ? left : EXPAND_ROWS, e->in);
}

void tpti_linear_held(tpti_run *run, float *y, const float *base, const float *x,
                      const tpti_matrix *w, float *floats, size_t M, size_t out, size_t in) {
  size_t step = step_of(out, in);
  for (size_t first = 0; first < out && !run->stopped; first += step) {
    size_t rows = out - first < step ? out - first : step;
    expansion e = {run->kernels, floats, tpti_matrix_from(*w, in, first), rows, in};
    tpti_parallel(run, tpti_ceil_div(rows, EXPAND_ROWS), expand_rows, &e);
    tpti_gemm_run(run, &(tpti_gemm){.c = y + first,
                                    .base = base ? base + first : NULL,
                                    .a = x,
                                    .b = floats,
                                    .c_row = out,
                                    .base_row = out,
                                    .a_row = in,
                                    .a_col = 1,
                                    .b_row = 1,
                                    .b_col = in,
                                    .m = M,
                                    .n = rows,
                                    .k = in});
  }
}
