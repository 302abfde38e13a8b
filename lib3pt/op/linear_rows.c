/* Linear maps of few rows (linear_rows.h). */
#include "op/linear_rows.h"

#include <assert.h>

#include "kernel/kernel.h"

/* Bytes of W that one item reads: some 8 us at the speed of memory, by which the threads may end
 * apart. Small matrices are cut finer, into ITEMS. For more than a row of x as many rows of W as
 * the kernel does at once. */
enum { ITEM_BYTES = 1 << 18, LEAST_BYTES = 1 << 14, ITEMS = 16, MULTIPLE = 4, MANY_STEP = 64 };

static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

size_t tpti_linear_rows_step(const tpti_linear_rows *map) {
  assert(map->in > 0);
  size_t row = map->in * tpti_form_bytes(map->w.form), bytes = ceil_div(map->out, ITEMS) * row;
  if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
  if (bytes > ITEM_BYTES) bytes = ITEM_BYTES;
  size_t step = ceil_div(bytes, row * MULTIPLE) * MULTIPLE;
  if (map->M > 1 && step < MANY_STEP && map->out >= ITEMS * MANY_STEP / 2) step = MANY_STEP;
  return step < TPTI_LINEAR_STEP ? step : TPTI_LINEAR_STEP;
}

size_t tpti_linear_rows_items(const tpti_linear_rows *map) {
  return ceil_div(map->out, tpti_linear_rows_step(map));
}

void tpti_linear_rows_part(const tpti_kernels *kernels, const tpti_linear_rows *map, size_t first,
                           size_t count, void *work) {
  _Static_assert((int)TPTI_LINEAR_WORK >= (int)TPTI_DOTS_WORK, "what the kernel works in");
  const tpti_dots d = {.y = map->y + first,
                       .base = map->base ? map->base + first : NULL,
                       .x = map->x,
                       .w = tpti_matrix_from(map->w, map->in, first),
                       .y_row = map->y_row,
                       .rows = map->M,
                       .out = count,
                       .in = map->in,
                       .work = work};
  kernels->dots(&d);
}

typedef struct job {
  const tpti_linear_rows *map;
  const tpti_kernels *kernels;
  size_t step;
} job;

static void do_part(void *argument, size_t item, void *scratch) {
  const job *j = argument;
  size_t first = item * j->step, left = j->map->out - first;
  tpti_linear_rows_part(j->kernels, j->map, first, left < j->step ? left : j->step, scratch);
}

void tpti_linear_rows_run(tpti_run *run, const tpti_linear_rows *map) {
  job j = {map, run->kernels, tpti_linear_rows_step(map)};
  tpti_parallel(run, tpti_linear_rows_items(map), do_part, &j);
}

enum { LINE = 64 };

void tpti_linear_rows_fetch(const tpti_matrix *w, size_t in, size_t first, size_t count) {
  const tpti_matrix part = tpti_matrix_from(*w, in, first);
  size_t bytes = count * in * tpti_form_bytes(w->form);
  for (size_t at = 0; at < bytes; at += LINE) __builtin_prefetch((const char *)part.values + at);
}
