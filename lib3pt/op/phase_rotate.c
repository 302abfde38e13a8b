/* The phase rotation: see phase_rotate.h. */
#include "op/phase_rotate.h"

#include <assert.h>
#include <math.h>

#include "kernel/kernel.h"
#include "op/rows.h"

static const double two_pi = 6.283185307179586;

void tpti_phase_rotate_table(float *cosine, float *sine, const float *theta, size_t D, size_t N) {
  assert(N > 0 && D % (2 * N) == 0);
  size_t pairs = D / N / 2;
  for (size_t i = 0; i < N; i++) {
    double turn = two_pi * (double)i / (double)N;
    for (size_t k = 0; k < pairs; k++) {
      cosine[i * pairs + k] = (float)cos((double)theta[k] + turn);
      sine[i * pairs + k] = (float)sin((double)theta[k] + turn);
    }
  }
}

typedef struct forward_work {
  tpti_rotate_forward_fn *kernel;
  float *out;
  const float *h, *cosine, *sine;
  bool residual;
  size_t M, D;
} forward_work;

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  size_t at = rows.first * w->D;
  w->kernel(w->out + at, w->h + at, w->cosine, w->sine,
            &(tpti_rotate_shape){rows.count, w->D / 2, w->residual});
}

void tpti_phase_rotate_forward(tpti_run *run, float *out, const float *h, const float *cosine,
                               const float *sine, bool residual, size_t M, size_t D) {
  assert(D % 2 == 0);
  forward_work work = {run->kernels->rotate_forward, out, h, cosine, sine, residual, M, D};
  tpti_parallel(run, tpti_row_blocks(M), forward_rows, &work);
}

typedef struct backward_work {
  tpti_rotate_backward_fn *kernel;
  float *dh, *partial;
  const float *dout, *h, *cosine, *sine;
  bool residual;
  size_t M, D;
} backward_work;

static void backward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  size_t at = rows.first * w->D, pairs = w->D / 2;
  w->kernel(w->dh + at, w->partial + item * pairs, w->dout + at, w->h + at, w->cosine, w->sine,
            &(tpti_rotate_shape){rows.count, pairs, w->residual});
}

void tpti_phase_rotate_backward(tpti_run *run, float *dh, float *partial, const float *dout,
                                const float *h, const float *cosine, const float *sine,
                                bool residual, size_t M, size_t D) {
  assert(D % 2 == 0);
  backward_work work = {
      run->kernels->rotate_backward, dh, partial, dout, h, cosine, sine, residual, M, D};
  tpti_parallel(run, tpti_row_blocks(M), backward_rows, &work);
}

void tpti_phase_rotate_backward_theta(float *dtheta, const float *partial, size_t M, size_t D,
                                      size_t N) {
  assert(N > 0 && D % (2 * N) == 0);
  /* theta is shared by the phases: a row of partial is N sums of P / 2 angles. */
  tpti_add_partials(dtheta, partial, tpti_row_blocks(M) * N, D / N / 2);
}
