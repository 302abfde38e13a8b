/* Linear maps without bias (linear.h). */
#include "op/linear.h"

#include <assert.h>

#include "kernel/kernel.h"

void tpti_linear_forward(tpti_run *run, float *y, const float *base, const float *x, const float *w,
                         size_t M, size_t out, size_t in) {
  tpti_gemm g = {.c = y,
                 .base = base,
                 .a = x,
                 .b = w,
                 .c_row = out,
                 .base_row = out,
                 .a_row = in,
                 .a_col = 1,
                 .b_row = 1,
                 .b_col = in,
                 .m = M,
                 .n = out,
                 .k = in};
  tpti_gemm_run(run, &g);
}

void tpti_linear_backward_input(tpti_run *run, float *dx, const float *base, const float *dy,
                                const float *w, size_t M, size_t out, size_t in) {
  tpti_gemm g = {.c = dx,
                 .base = base,
                 .a = dy,
                 .b = w,
                 .c_row = in,
                 .base_row = in,
                 .a_row = out,
                 .a_col = 1,
                 .b_row = in,
                 .b_col = 1,
                 .m = M,
                 .n = in,
                 .k = out};
  tpti_gemm_run(run, &g);
}

void tpti_linear_backward_weight(tpti_run *run, float *dw, const float *dy, const float *x,
                                 size_t M, size_t out, size_t in) {
  tpti_gemm g = {.c = dw,
                 .base = dw,
                 .a = dy,
                 .b = x,
                 .c_row = in,
                 .base_row = in,
                 .a_row = 1,
                 .a_col = out,
                 .b_row = in,
                 .b_col = 1,
                 .m = out,
                 .n = in,
                 .k = M};
  tpti_gemm_run(run, &g);
}

/* Bytes of w that one item reads: some 10 us at the speed of memory. */
enum { ITEM_BYTES = 1 << 17 };

typedef struct rows_job {
  tpti_dots dots;
  tpti_dots_fn *kernel;
  size_t step; /* rows of w an item */
} rows_job;

static void rows_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const rows_job *j = argument;
  tpti_dots d = j->dots;
  size_t from = item * j->step;
  d.w += from * d.in;
  d.y += from;
  if (d.base) d.base += from;
  d.out = d.out - from < j->step ? d.out - from : j->step;
  j->kernel(&d);
}

void tpti_linear_rows(tpti_run *run, float *y, const float *base, const float *x, const float *w,
                      size_t M, size_t out, size_t in) {
  assert(in > 0);
  rows_job j = {
      .dots = {.y = y, .base = base, .x = x, .w = w, .y_row = out, .rows = M, .out = out, .in = in},
      .kernel = run->kernels->dots,
      .step = ITEM_BYTES / (in * sizeof(float)) + 1};
  tpti_parallel(run, (out + j.step - 1) / j.step, rows_item, &j);
}

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

size_t tpti_linear_pack(size_t M, size_t out, size_t in, bool training) {
  size_t forward = tpti_gemm_pack(M, out, in);
  if (!training) return forward;
  return most(forward, most(tpti_gemm_pack(M, in, out), tpti_gemm_pack(out, in, M)));
}
