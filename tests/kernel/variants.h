/* What the tests of kernels share: the variants this processor can run, each to be compared with
 * the plain reference, and arrays between guard values at addresses that are not aligned. */
#ifndef TPTI_TESTS_KERNEL_VARIANTS_H
#define TPTI_TESTS_KERNEL_VARIANTS_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "kernel/kernel.h"
#include "support/compare.h"
#include "support/runner.h"

/* The tables besides the plain one whose instructions this processor has. */
static inline const tpti_kernels *variant(size_t index) {
  for (size_t i = 1; tpti_kernels_list(i); i++) {
    if (tpti_kernels_list(i)->needs & ~tpti_cpu_flags()) continue;
    if (index-- == 0) return tpti_kernels_list(i);
  }
  return NULL;
}

static inline int variant_count(void) {
  int count = 0;
  while (variant((size_t)count)) count++;
  return count;
}

enum { GUARD = 17 /* odd, so that arrays are not aligned */, GUARDED_ARRAYS = 16 };
static const float guard_value = -1234.5f;

/* The arrays of one comparison. */
typedef struct guarded {
  float *block[GUARDED_ARRAYS];
  size_t size[GUARDED_ARRAYS], count;
} guarded;

/* An array with the values of `seed`. */
static inline float *guarded_take(guarded *g, size_t count, uint64_t seed) {
  ck_assert_uint_lt(g->count, GUARDED_ARRAYS);
  float *block = malloc((count + 2 * GUARD) * sizeof *block);
  ck_assert_ptr_nonnull(block);
  for (size_t i = 0; i < GUARD; i++) block[i] = block[GUARD + count + i] = guard_value;
  tpti_test_fill(block + GUARD, count, seed);
  g->block[g->count] = block;
  g->size[g->count++] = count;
  return block + GUARD;
}

/* An array of NaN, for outputs: a value left out is seen. */
static inline float *guarded_nan(guarded *g, size_t count) {
  float *values = guarded_take(g, count, 0);
  for (size_t i = 0; i < count; i++) values[i] = NAN;
  return values;
}

/* Frees all; nothing may have written beside an array. */
static inline void guarded_end(guarded *g) {
  while (g->count) {
    float *block = g->block[--g->count];
    size_t count = g->size[g->count];
    for (size_t i = 0; i < GUARD; i++) {
      ck_assert_msg(block[i] == guard_value, "written %zu before an array", GUARD - i);
      ck_assert_msg(block[GUARD + count + i] == guard_value, "written %zu behind an array", i);
    }
    free(block);
  }
}

/* Relative to the norm; both are at most a few roundings of float32 from the truth. */
#define same_values(got, want, count, bound)                                                       \
  do {                                                                                             \
    double error_ = tpti_test_error_float(got, want, count);                                       \
    ck_assert_msg(error_ <= (bound), "%s of %s, %zu values: error %.3g", #got,                     \
                  variant((size_t)_i)->name, (size_t)(count), error_);                             \
  } while (0)

/* main of such a test: without a variant there is nothing to compare. */
static inline int variants_main(Suite *suite) {
  if (variant_count() > 0) return tpti_test_main(suite);
  srunner_free(srunner_create(suite));
  return tpti_test_skip("this processor runs the plain kernels only");
}

#endif
