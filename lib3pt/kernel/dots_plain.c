/* Rows times a matrix in plain loops: the reference of every other variant. Sums are in double. */
#include "kernel/dots.h"

void tpti_dots_plain(const tpti_dots *d) {
  for (size_t r = 0; r < d->rows; r++) {
    for (size_t o = 0; o < d->out; o++) {
      const float *x = d->x + r * d->in, *w = d->w + o * d->in;
      double sum = d->base ? d->base[r * d->y_row + o] : 0;
      for (size_t i = 0; i < d->in; i++) sum += (double)x[i] * w[i];
      d->y[r * d->y_row + o] = (float)sum;
    }
  }
}
