/* SwiGLU: see swiglu.h. */
#include "op/swiglu.h"

#include "kernel/kernel.h"
#include "op/rows.h"

typedef struct forward_work {
  tpti_swiglu_forward_fn *kernel;
  float *act;
  const float *gate_up;
  size_t M, F;
} forward_work;

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    w->kernel(w->act + m * w->F, w->gate_up + m * 2 * w->F, w->F);
  }
}

void tpti_swiglu_forward(tpti_run *run, float *act, const float *gate_up, size_t M, size_t F) {
  forward_work work = {run->kernels->swiglu_forward, act, gate_up, M, F};
  tpti_parallel(run, tpti_row_blocks(M), forward_rows, &work);
}

typedef struct backward_work {
  tpti_swiglu_backward_fn *kernel;
  float *dgate_up, *act;
  const float *dact, *gate_up;
  size_t M, F;
} backward_work;

static void backward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    size_t at = m * 2 * w->F;
    w->kernel(w->dgate_up + at, w->act + m * w->F, w->dact + m * w->F, w->gate_up + at, w->F);
  }
}

void tpti_swiglu_backward(tpti_run *run, float *dgate_up, float *act, const float *dact,
                          const float *gate_up, size_t M, size_t F) {
  backward_work work = {run->kernels->swiglu_backward, dgate_up, act, dact, gate_up, M, F};
  tpti_parallel(run, tpti_row_blocks(M), backward_rows, &work);
}
