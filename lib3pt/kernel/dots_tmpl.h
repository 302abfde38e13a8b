/* Few rows times a matrix: a row of w is read once for up to four rows of x. Each sum is four
 * vectors and a fixed order of adding them, whatever the number of rows. */
#include "kernel/dots.h"

enum { DOTS_PARTS = 4, DOTS_ROWS = 4 };

/* sums[r] = w . x_r for `rows` rows, a constant where this is called. */
ALWAYS_INLINE void dots_row(const size_t rows, float *sums, const float *w, const float *x,
                            size_t in) {
  v_f32 part[DOTS_ROWS][DOTS_PARTS];
  UNROLL
  for (size_t r = 0; r < rows; r++) {
    UNROLL
    for (size_t q = 0; q < DOTS_PARTS; q++) part[r][q] = v_zero();
  }
  size_t i = 0;
  for (; i + DOTS_PARTS * V_LANES <= in; i += DOTS_PARTS * V_LANES) {
    UNROLL
    for (size_t q = 0; q < DOTS_PARTS; q++) {
      v_f32 y = v_load(w + i + q * V_LANES);
      UNROLL
      for (size_t r = 0; r < rows; r++) {
        part[r][q] = v_fma(v_load(x + r * in + i + q * V_LANES), y, part[r][q]);
      }
    }
  }
  for (; i < in; i += V_LANES) {
    size_t n = in - i < V_LANES ? in - i : V_LANES;
    v_f32 y = v_load_n(w + i, n);
    UNROLL
    for (size_t r = 0; r < rows; r++) {
      part[r][0] = v_fma(v_load_n(x + r * in + i, n), y, part[r][0]);
    }
  }
  UNROLL
  for (size_t r = 0; r < rows; r++) {
    sums[r] = v_sum(v_add(v_add(part[r][0], part[r][1]), v_add(part[r][2], part[r][3])));
  }
}

static void dots_rows(float *sums, const float *w, const float *x, size_t in, size_t rows) {
  switch (rows) {
  case 1:
    dots_row(1, sums, w, x, in);
    break;
  case 2:
    dots_row(2, sums, w, x, in);
    break;
  case 3:
    dots_row(3, sums, w, x, in);
    break;
  default:
    dots_row(DOTS_ROWS, sums, w, x, in);
  }
}

static void dots(const tpti_dots *d) {
  float sums[DOTS_ROWS];
  for (size_t o = 0; o < d->out; o++) {
    for (size_t r = 0; r < d->rows; r += DOTS_ROWS) {
      size_t rows = d->rows - r < DOTS_ROWS ? d->rows - r : DOTS_ROWS;
      dots_rows(sums, d->w + o * d->in, d->x + r * d->in, d->in, rows);
      for (size_t q = 0; q < rows; q++) {
        size_t at = (r + q) * d->y_row + o;
        d->y[at] = d->base ? d->base[at] + sums[q] : sums[q];
      }
    }
  }
}
