/* The zero-sum penalty: see zero_sum.h. */
#include "op/zero_sum.h"

#include <assert.h>

#include "kernel/kernel.h"
#include "op/rows.h"

typedef struct forward_work {
  tpti_sum_values_fn *sum;
  float *sums;
  const float *x;
  size_t M, D, P;
} forward_work;

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    w->sums[m] = (float)(w->sum(w->x + m * w->D, w->D) / (double)w->P);
  }
}

double tpti_zero_sum_forward(tpti_run *run, float *sums, const float *x, size_t M, size_t D,
                             size_t N) {
  assert(M > 0 && N > 0 && D % N == 0);
  forward_work work = {run->kernels->sum_values, sums, x, M, D, D / N};
  tpti_parallel(run, tpti_row_blocks(M), forward_rows, &work);
  return run->stopped ? 0 : run->kernels->sum_squares(sums, M) / (double)M;
}

typedef struct backward_work {
  float *dx;
  const float *sums;
  double scale;
  size_t M, D;
} backward_work;

static void backward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    float add = (float)(w->scale * (double)w->sums[m]), *dx = w->dx + m * w->D;
    for (size_t d = 0; d < w->D; d++) dx[d] += add;
  }
}

void tpti_zero_sum_backward(tpti_run *run, float *dx, const float *sums, float coef, size_t M,
                            size_t D, size_t N) {
  assert(M > 0 && N > 0 && D % N == 0);
  double scale = 2 * (double)coef / ((double)M * (double)(D / N));
  backward_work work = {dx, sums, scale, M, D};
  tpti_parallel(run, tpti_row_blocks(M), backward_rows, &work);
}
