/* What the tests of operations share: repeatable arrays that free themselves with the test, float64
 * gradients by central differences, and the sweep over numbers of threads. */
#ifndef TPTI_TESTS_OP_GRADIENT_H
#define TPTI_TESTS_OP_GRADIENT_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/compare.h"
#include "support/run.h"

/* Relative to the norm; float32 has 6e-8. */
static const double near_forward = 5e-7, near_backward = 2e-6;

/* Arrays of one test, freed by `arrays_free`. */
typedef struct arrays {
  void *held[64];
  size_t count;
} arrays;

static inline void *arrays_take(arrays *a, size_t bytes) {
  ck_assert_uint_lt(a->count, 64);
  void *block = malloc(bytes ? bytes : 1);
  ck_assert_ptr_nonnull(block);
  a->held[a->count++] = block;
  return block;
}

static inline void arrays_free(arrays *a) {
  while (a->count) free(a->held[--a->count]);
}

static inline float *filled(arrays *a, size_t count, uint64_t seed) {
  float *values = arrays_take(a, count * sizeof *values);
  tpti_test_fill(values, count, seed);
  return values;
}

/* An output that must be overwritten, or scratch that must not be read first. */
static inline float *poisoned(arrays *a, size_t count) {
  float *values = arrays_take(a, count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = NAN;
  return values;
}

static inline float *copied(arrays *a, const float *from, size_t count) {
  float *values = arrays_take(a, count * sizeof *values);
  memcpy(values, from, count * sizeof *values);
  return values;
}

static inline double *doubled(arrays *a, const float *from, size_t count) {
  double *values = arrays_take(a, count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = (double)from[i];
  return values;
}

static inline double *zeros(arrays *a, size_t count) {
  double *values = arrays_take(a, count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = 0;
  return values;
}

/* grad [count] adds d loss / d x by central differences; error about step^2 = 1e-10. */
static inline void numeric_gradient(double *grad, double *x, size_t count,
                                    double (*loss)(const void *), const void *context) {
  const double step = 1e-5;
  for (size_t i = 0; i < count; i++) {
    double was = x[i];
    x[i] = was + step;
    double above = loss(context);
    x[i] = was - step;
    grad[i] += (above - loss(context)) / (2 * step);
    x[i] = was;
  }
}

/* sum of weight y: turns a reference into one number whose gradient has `weight` as its dy. */
static inline double weighted(const float *weight, const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (double)weight[i] * y[i];
  return sum;
}

static const int32_t thread_counts[] = {1, 2, 3, 7};
enum { THREAD_COUNTS = 4 };

#define same_bits(got, want, count)                                                                \
  ck_assert_msg(tpti_test_first_difference(got, want, count) == (count),                           \
                "%s differs from %s at %zu", #got, #want,                                          \
                tpti_test_first_difference(got, want, count))

#endif
