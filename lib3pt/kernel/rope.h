/* Inner loop of the rotary position embedding (op/rope.h): all heads of one row. */
#ifndef TPTI_KERNEL_ROPE_H
#define TPTI_KERNEL_ROPE_H

#include <stdbool.h>
#include <stddef.h>

/* x [heads, 2 half] in place; cosine, sine [half] of the row's position; back: by -a. */
typedef void tpti_rope_fn(float *x, const float *cosine, const float *sine, size_t heads,
                          size_t half, bool back);

tpti_rope_fn tpti_rope_plain;

#endif
