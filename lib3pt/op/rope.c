/* Rotary position embedding: see rope.h. */
#include "op/rope.h"

#include <assert.h>
#include <math.h>

#include "kernel/kernel.h"
#include "op/rows.h"

/* Positions of a table that are one item. */
enum { TABLE_BLOCK = 256 };

typedef struct table_work {
  float *cosine, *sine;
  double base;
  size_t positions, half;
} table_work;

static void table_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const table_work *w = argument;
  size_t first = item * TABLE_BLOCK, left = w->positions - first;
  size_t end = first + (left < TABLE_BLOCK ? left : TABLE_BLOCK);
  for (size_t j = 0; j < w->half; j++) {
    double frequency = pow(w->base, -2 * (double)j / (double)(2 * w->half));
    for (size_t p = first; p < end; p++) {
      w->cosine[p * w->half + j] = (float)cos((double)p * frequency);
      w->sine[p * w->half + j] = (float)sin((double)p * frequency);
    }
  }
}

void tpti_rope_table(tpti_run *run, float *cosine, float *sine, double base, size_t positions,
                     size_t E) {
  assert(E % 2 == 0 && positions > 0);
  table_work work = {cosine, sine, base, positions, E / 2};
  tpti_parallel(run, (positions - 1) / TABLE_BLOCK + 1, table_rows, &work);
}

typedef struct turn_work {
  tpti_rope_fn *kernel;
  float *x;
  size_t stride, heads;
  const float *cosine, *sine;
  size_t first, M, T, half;
  bool back;
} turn_work;

static void turn_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const turn_work *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->M);
  for (size_t m = rows.first; m < rows.first + rows.count; m++) {
    size_t at = (w->first + m % w->T) * w->half;
    w->kernel(w->x + m * w->stride, w->cosine + at, w->sine + at, w->heads, w->half, w->back);
  }
}

void tpti_rope_forward(tpti_run *run, float *x, size_t stride, size_t heads, const float *cosine,
                       const float *sine, size_t first, size_t M, size_t T, size_t E) {
  assert(E % 2 == 0 && T > 0 && stride >= heads * E);
  turn_work work = {run->kernels->rope, x, stride, heads, cosine, sine, first, M, T, E / 2, false};
  tpti_parallel(run, tpti_row_blocks(M), turn_rows, &work);
}

void tpti_rope_backward(tpti_run *run, float *dx, size_t stride, size_t heads, const float *cosine,
                        const float *sine, size_t first, size_t M, size_t T, size_t E) {
  assert(E % 2 == 0 && T > 0 && stride >= heads * E);
  turn_work work = {run->kernels->rope, dx, stride, heads, cosine, sine, first, M, T, E / 2, true};
  tpti_parallel(run, tpti_row_blocks(M), turn_rows, &work);
}
