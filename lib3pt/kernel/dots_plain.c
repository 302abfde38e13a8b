/* Rows times a matrix in plain loops: the reference of every other variant. Sums are in double. */
#include "kernel/dots.h"

#include <string.h>

/* Weight i of row o. */
static float value_at(const tpti_matrix *w, size_t columns, size_t o, size_t i) {
  size_t at = o * columns + i;
  float value;
  uint32_t bits;
  switch (w->form) {
  case TPTI_FORM_BF16:
    bits = (uint32_t)((const uint16_t *)w->values)[at] << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
  case TPTI_FORM_INT8:
    return (float)((const int8_t *)w->values)[at] *
           w->scales[o * tpti_scales(columns) + i / TPTI_SCALE_BLOCK];
  case TPTI_FORM_F32:
    break;
  }
  return ((const float *)w->values)[at];
}

void tpti_dots_plain(const tpti_dots *d) {
  for (size_t r = 0; r < d->rows; r++) {
    for (size_t o = 0; o < d->out; o++) {
      const float *x = d->x + r * d->in;
      double sum = d->base ? d->base[r * d->y_row + o] : 0;
      for (size_t i = 0; i < d->in; i++) sum += (double)x[i] * value_at(&d->w, d->in, o, i);
      d->y[r * d->y_row + o] = (float)sum;
    }
  }
}

void tpti_expand_plain(float *values, const tpti_matrix *w, size_t rows, size_t columns) {
  for (size_t o = 0; o < rows; o++)
    for (size_t i = 0; i < columns; i++) values[o * columns + i] = value_at(w, columns, o, i);
}
