/* Rotary position embedding, one pair after the other: the reference of every other variant. */
#include "kernel/rope.h"

void tpti_rope_plain(float *x, const float *cosine, const float *sine, size_t heads, size_t half,
                     bool back) {
  for (size_t i = 0; i < heads; i++, x += 2 * half) {
    for (size_t j = 0; j < half; j++) {
      float lo = x[j], hi = x[half + j], c = cosine[j], s = back ? -sine[j] : sine[j];
      x[j] = lo * c - hi * s;
      x[half + j] = hi * c + lo * s;
    }
  }
}
