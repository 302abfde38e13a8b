/* PhaseNorm: see phase_norm.h. */
#include "op/phase_norm.h"

#include <assert.h>

#include "kernel/kernel.h"
#include "op/rows.h"

typedef struct forward_work {
  tpti_norm_forward_fn *kernel;
  float *n, *rstd;
  const float *h, *gain;
  float eps;
  size_t M, D, N;
} forward_work;

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  float *rstd = w->rstd ? w->rstd + rows.first * w->N : NULL;
  size_t at = rows.first * w->D;
  w->kernel(w->n + at, rstd, w->h + at, w->gain, w->eps,
            &(tpti_norm_shape){rows.count, w->N, w->D / w->N});
}

void tpti_phase_norm_forward(tpti_run *run, float *n, float *rstd, const float *h,
                             const float *gain, float eps, size_t M, size_t D, size_t N) {
  assert(N > 0 && D % N == 0);
  forward_work work = {run->kernels->norm_forward, n, rstd, h, gain, eps, M, D, N};
  tpti_parallel(run, tpti_row_blocks(M), forward_rows, &work);
}

typedef struct backward_work {
  tpti_norm_backward_fn *kernel;
  float *dh, *partial;
  const float *dn, *h, *rstd, *gain;
  size_t M, D, N;
} backward_work;

static void backward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  size_t at = rows.first * w->D;
  w->kernel(w->dh + at, w->partial + item * w->D, w->dn + at, w->h + at,
            w->rstd + rows.first * w->N, w->gain,
            &(tpti_norm_shape){rows.count, w->N, w->D / w->N});
}

void tpti_phase_norm_backward(tpti_run *run, float *dh, float *partial, const float *dn,
                              const float *h, const float *rstd, const float *gain, size_t M,
                              size_t D, size_t N) {
  assert(N > 0 && D % N == 0);
  backward_work work = {run->kernels->norm_backward, dh, partial, dn, h, rstd, gain, M, D, N};
  tpti_parallel(run, tpti_row_blocks(M), backward_rows, &work);
}

void tpti_phase_norm_backward_gain(float *dgain, const float *partial, size_t M, size_t D) {
  tpti_add_partials(dgain, partial, tpti_row_blocks(M), D);
}
