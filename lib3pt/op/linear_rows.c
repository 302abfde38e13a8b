/* Linear maps of few rows (linear_rows.h). */
#include "op/linear_rows.h"

#include <assert.h>

#include "kernel/kernel.h"

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
