/* See compare.h. */
#include "support/compare.h"

#include <math.h>
#include <string.h>

typedef struct norms {
  double difference, want;
  int finite;
} norms;

static void add(norms *n, double got, double want) {
  n->difference += (got - want) * (got - want);
  n->want += want * want;
  n->finite = n->finite && isfinite(got);
}

static double error_of(const norms *n) {
  if (!n->finite) return INFINITY;
  return n->want > 0 ? sqrt(n->difference / n->want) : sqrt(n->difference);
}

double tpti_test_error(const float *got, const double *want, size_t count) {
  norms n = {0, 0, 1};
  for (size_t i = 0; i < count; i++) add(&n, (double)got[i], want[i]);
  return error_of(&n);
}

double tpti_test_error_float(const float *got, const float *want, size_t count) {
  norms n = {0, 0, 1};
  for (size_t i = 0; i < count; i++) add(&n, (double)got[i], (double)want[i]);
  return error_of(&n);
}

double tpti_test_error_double(const double *got, const double *want, size_t count) {
  norms n = {0, 0, 1};
  for (size_t i = 0; i < count; i++) add(&n, got[i], want[i]);
  return error_of(&n);
}

size_t tpti_test_first_difference(const float *a, const float *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (memcmp(&a[i], &b[i], sizeof a[i]) != 0) return i;
  }
  return count;
}

/* A generator of the tests' own (xorshift64*), so that a fault of base/random cannot hide here. */
static uint64_t next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

/* The state must not be 0; nearby seeds must not give nearby numbers. */
static uint64_t start(uint64_t seed) {
  uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  for (int i = 0; i < 8; i++) next(&state);
  return state;
}

static double uniform(uint64_t *state) { return (double)(next(state) >> 11) * 0x1p-52 - 1.0; }

void tpti_test_fill(float *values, size_t count, uint64_t seed) {
  uint64_t state = start(seed);
  /* 24 bits, so that the rounding to float cannot give 1. */
  for (size_t i = 0; i < count; i++) values[i] = (float)(next(&state) >> 40) * 0x1p-23f - 1.0f;
}

void tpti_test_fill_double(double *values, size_t count, uint64_t seed) {
  uint64_t state = start(seed);
  for (size_t i = 0; i < count; i++) values[i] = uniform(&state);
}

void tpti_test_tokens(int32_t *tokens, size_t count, int32_t vocab, uint64_t seed) {
  uint64_t state = start(seed);
  for (size_t i = 0; i < count; i++)
    tokens[i] = (int32_t)((next(&state) >> 33) % (uint64_t)(uint32_t)vocab);
}
