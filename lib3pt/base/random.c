/* SplitMix64, and the two distributions that weights start from. */
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* 2^64 / golden ratio, made odd: the step of the counter, and the finaliser's multipliers (variant
 * 13 of Stafford's mixers), from the paper. */
static const uint64_t step = 0x9e3779b97f4a7c15u;

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint64_t tpti_random_stream(uint64_t seed, uint64_t index) {
  return mix(mix(seed + step) + (index + 1) * step);
}

uint64_t tpti_random_next(uint64_t *state) { return mix(*state += step); }

double tpti_random_double(uint64_t *state) {
  return (double)(tpti_random_next(state) >> 11) * 0x1p-53;
}

uint64_t tpti_random_below(uint64_t *state, uint64_t bound) {
  /* The first 2^64 mod bound numbers are one too many for some residues: draw again. */
  uint64_t least = (UINT64_MAX - bound + 1) % bound;
  uint64_t bits;
  do bits = tpti_random_next(state);
  while (bits < least);
  return bits % bound;
}

void tpti_random_uniform(uint64_t state, float *values, size_t count, double bound) {
  for (size_t i = 0; i < count; i++) {
    /* 24 bits, a float's own: so that rounding to float cannot reach the upper bound. */
    double unit = (double)(tpti_random_next(&state) >> 40) * 0x1p-23 - 1.0;
    values[i] = (float)(unit * bound);
  }
}

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)). */
static double split(double x, int64_t *exponent) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int64_t e = (int64_t)(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double m;
  memcpy(&m, &bits, sizeof m);
  bool upper = m > 0x1.6a09e667f3bcdp+0; /* sqrt(2) */
  *exponent = upper ? e + 1 : e;
  return upper ? m * 0.5 : m;
}

double tpti_random_log(double x) {
  int64_t exponent;
  double m = split(x, &exponent);
  /* ln m = 2 artanh t = 2 (t + t^3/3 + t^5/5 + ...) with |t| <= 0.1716: the first term left out is
   * t^25/25, below 2^-66 of the sum. */
  double t = (m - 1.0) / (m + 1.0), square = t * t, sum = 0;
  for (int odd = 23; odd > 1; odd -= 2) sum = (sum + 1.0 / odd) * square;
  /* ln 2 in two parts; the upper has 32 bits, so that its product with an exponent is exact. */
  double e = (double)exponent;
  return e * 0x1.62e42feep-1 + (e * 0x1.a39ef35793c76p-33 + (2.0 * t * sum + 2.0 * t));
}

/* Marsaglia's polar method: a point uniform in the disc gives two normals. */
static void normal_pair(uint64_t *state, double pair[2]) {
  double u, v, s;
  do {
    u = 2.0 * tpti_random_double(state) - 1.0;
    v = 2.0 * tpti_random_double(state) - 1.0;
    s = u * u + v * v;
  } while (s >= 1.0 || s == 0.0);
  double factor = sqrt(-2.0 * tpti_random_log(s) / s);
  pair[0] = u * factor;
  pair[1] = v * factor;
}

void tpti_random_normal(uint64_t state, float *values, size_t count) {
  double pair[2];
  for (size_t i = 0; i < count; i++) {
    if (i % 2 == 0) normal_pair(&state, pair);
    values[i] = (float)pair[i % 2];
  }
}

uint64_t tpti_random_system(void) {
  uint64_t bits = 0;
  struct timespec now;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits) return bits;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&now;
}
