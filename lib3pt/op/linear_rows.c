/* Linear maps of few rows (linear_rows.h). */
#include "op/linear_rows.h"

#include <assert.h>

#include "base/size.h"
#include "kernel/kernel.h"

/* Bytes of W that one item reads: so many that a stream of memory gets going. Small matrices are
 * cut finer, into ITEMS; the last TAIL items again, each into PIECES, so that the threads end
 * within a microsecond or two of each other. For more than a row of x as many rows of W as the
 * kernel does at once, and PIECES of no less than LEAST_MANY. */
enum { ITEM_BYTES = 1 << 18, LEAST_BYTES = 1 << 14, ITEMS = 16, TAIL = 2, PIECES = 8 };
enum { MULTIPLE = 4, MANY_STEP = 64, LEAST_MANY = 16 };

/* Rows of W, `row` bytes each. */
static size_t rows_of(size_t bytes, size_t row) {
  return tpti_ceil_div(bytes, row * MULTIPLE) * MULTIPLE;
}

static size_t clamp(size_t value, size_t least, size_t most) {
  return value < least ? least : value > most ? most : value;
}

tpti_rows_cut tpti_linear_rows_cut(const tpti_linear_rows *map, size_t matrices) {
  assert(map->in > 0);
  size_t row = matrices * map->in * tpti_form_bytes(map->w.form);
  size_t bytes = clamp(tpti_ceil_div(map->out, ITEMS) * row, LEAST_BYTES, ITEM_BYTES);
  size_t step = rows_of(bytes, row), fine = rows_of(clamp(bytes / PIECES, LEAST_BYTES, bytes), row);
  if (map->M > 1 && map->out >= ITEMS * MANY_STEP / 2) {
    step = clamp(step, MANY_STEP, SIZE_MAX);
    fine = clamp(fine, LEAST_MANY, SIZE_MAX);
  }
  tpti_rows_cut cut = {.out = map->out, .step = clamp(step, 0, TPTI_LINEAR_STEP)};
  cut.fine = clamp(fine, 0, cut.step);
  cut.whole = map->out / cut.step > TAIL ? map->out / cut.step - TAIL : 0;
  cut.items = cut.whole + tpti_ceil_div(map->out - cut.whole * cut.step, cut.fine);
  return cut;
}

tpti_rows_span tpti_linear_rows_span(const tpti_rows_cut *cut, size_t item) {
  if (item < cut->whole) return (tpti_rows_span){item * cut->step, cut->step};
  size_t first = cut->whole * cut->step + (item - cut->whole) * cut->fine;
  size_t left = cut->out - first;
  return (tpti_rows_span){first, left < cut->fine ? left : cut->fine};
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
  tpti_rows_cut cut;
} job;

static void do_part(void *argument, size_t item, void *scratch) {
  const job *j = argument;
  tpti_rows_span at = tpti_linear_rows_span(&j->cut, item);
  tpti_linear_rows_part(j->kernels, j->map, at.first, at.count, scratch);
}

void tpti_linear_rows_run(tpti_run *run, const tpti_linear_rows *map) {
  job j = {map, run->kernels, tpti_linear_rows_cut(map, 1)};
  tpti_parallel(run, j.cut.items, do_part, &j);
}

enum { LINE = 64 };

size_t tpti_linear_rows_pieces(const tpti_matrix *w, size_t in, size_t rows) {
  return tpti_ceil_div(rows * in * tpti_form_bytes(w->form), TPTI_FETCH_BYTES);
}

void tpti_linear_rows_fetch(const tpti_matrix *w, size_t in, tpti_rows_span rows, size_t piece) {
  const tpti_matrix part = tpti_matrix_from(*w, in, rows.first);
  size_t bytes = rows.count * in * tpti_form_bytes(w->form), from = piece * TPTI_FETCH_BYTES;
  size_t to = clamp(bytes, 0, from + TPTI_FETCH_BYTES);
  for (; from < to; from += LINE) __builtin_prefetch((const char *)part.values + from, 0, 2);
}
