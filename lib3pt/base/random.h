/* Random numbers: SplitMix64 (Steele, Lea, Flood 2014), whose whole state is one 64-bit counter, so
 * a stream is saved, copied and split at no cost. Only + - * /, sqrt and shifts: the same numbers
 * on every machine. */
#ifndef TPTI_BASE_RANDOM_H
#define TPTI_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The state of stream `index` of `seed`. */
uint64_t tpti_random_stream(uint64_t seed, uint64_t index);

/* The next 64 random bits. */
uint64_t tpti_random_next(uint64_t *state);

/* Uniform in [0, 1): 53 bits. */
double tpti_random_double(uint64_t *state);

/* Uniform in 0..bound-1 without bias; bound >= 1. */
uint64_t tpti_random_below(uint64_t *state, uint64_t bound);

/* Fills `values`: uniform in [-bound, bound), or normal of mean 0 and deviation 1. */
void tpti_random_uniform(uint64_t state, float *values, size_t count, double bound);
void tpti_random_normal(uint64_t state, float *values, size_t count);

/* 64 bits that nobody can guess; from the clock where the system has none ready. No file is opened.
 */
uint64_t tpti_random_system(void);

/* Natural logarithm of a normal positive number, within 1e-15, from + - * / alone: the C library's
 * own may differ in the last bit between machines. */
double tpti_random_log(double x);

#endif
