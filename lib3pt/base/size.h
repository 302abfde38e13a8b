/* Sizes: the smaller, the larger, and the parts that a whole is cut into. */
#ifndef TPTI_BASE_SIZE_H
#define TPTI_BASE_SIZE_H

#include <stddef.h>

static inline size_t tpti_least(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t tpti_most(size_t a, size_t b) { return a > b ? a : b; }

/* a / b rounded up; b > 0. */
static inline size_t tpti_ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

#endif
