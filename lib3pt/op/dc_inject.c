/* Token embedding and DC injection: see dc_inject.h. */
#include "op/dc_inject.h"

#include <assert.h>

#include "base/size.h"
#include "kernel/kernel.h"
#include "op/rows.h"

/* Channels of dembedding that one item adds up: two cache lines, of which D 192 has six. Cutting by
 * columns lets every item take the tokens in their order, so that a token given twice needs no
 * atomic addition. */
enum { STRIPE = 32 };

typedef struct forward_work {
  tpti_sum_values_fn *sum;
  float *x;
  const int32_t *tokens;
  const float *embedding, *profile;
  float scale;
  size_t M, T, D;
} forward_work;

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    const float *row = w->embedding + (size_t)w->tokens[m] * w->D;
    float *x = w->x + m * w->D;
    double scale = (double)w->scale, shift = 0;
    if (w->profile) {
      shift = (double)w->profile[m % w->T] - scale * w->sum(row, w->D) / (double)w->D;
    }
    /* A shift rounded to float would move the mean by as much. */
    for (size_t d = 0; d < w->D; d++) x[d] = (float)(scale * (double)row[d] + shift);
  }
}

void tpti_dc_inject_forward(tpti_run *run, float *x, const int32_t *tokens, const float *embedding,
                            const float *profile, float scale, size_t B, size_t T, size_t D) {
  forward_work work = {run->kernels->sum_values, x, tokens, embedding, profile, scale, B * T, T, D};
  tpti_parallel(run, tpti_row_blocks(B * T), forward_rows, &work);
}

typedef struct backward_work {
  tpti_sum_values_fn *sum;
  float *dembedding, *means;
  const float *dx;
  const int32_t *tokens;
  float scale;
  size_t M, D;
} backward_work;

static void mean_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    w->means[m] = (float)(w->sum(w->dx + m * w->D, w->D) / (double)w->D);
  }
}

static void add_stripe(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const backward_work *w = argument;
  size_t first = item * STRIPE, width = w->D - first < STRIPE ? w->D - first : STRIPE;
  for (size_t m = 0; m < w->M; m++) {
    float *out = w->dembedding + (size_t)w->tokens[m] * w->D + first;
    const float *dx = w->dx + m * w->D + first;
    float mean = w->means ? w->means[m] : 0;
    for (size_t d = 0; d < width; d++) out[d] += w->scale * (dx[d] - mean);
  }
}

static void add_profile(float *dprofile, const float *means, size_t B, size_t T, size_t D) {
  for (size_t t = 0; t < T; t++) {
    double sum = 0;
    for (size_t b = 0; b < B; b++) sum += (double)means[b * T + t];
    dprofile[t] += (float)(sum * (double)D);
  }
}

void tpti_dc_inject_backward(tpti_run *run, float *dembedding, float *dprofile, float *means,
                             const float *dx, const int32_t *tokens, bool centred, float scale,
                             size_t B, size_t T, size_t D) {
  assert(centred || !dprofile);
  backward_work work = {
      run->kernels->sum_values, dembedding, centred ? means : NULL, dx, tokens, scale, B * T, D};
  if (centred) tpti_parallel(run, tpti_row_blocks(B * T), mean_rows, &work);
  tpti_parallel(run, tpti_ceil_div(D, STRIPE), add_stripe, &work);
  if (dprofile && !run->stopped) add_profile(dprofile, means, B, T, D);
}
