/* Numbers in tests: how far an array is from what it should be, and repeatable random input. */
#ifndef TPTI_TESTS_SUPPORT_COMPARE_H
#define TPTI_TESTS_SUPPORT_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* |got - want| / |want| in the 2-norm; |got - want| where want is 0; infinite where a value of got
 * is not finite. */
double tpti_test_error(const float *got, const double *want, size_t count);
double tpti_test_error_float(const float *got, const float *want, size_t count);
double tpti_test_error_double(const double *got, const double *want, size_t count);

/* The same bits? The place of the first that differs, or count. */
size_t tpti_test_first_difference(const float *a, const float *b, size_t count);

/* Uniform in [-1, 1), a function of seed and place alone. */
void tpti_test_fill(float *values, size_t count, uint64_t seed);
void tpti_test_fill_double(double *values, size_t count, uint64_t seed);

/* Token ids in 0..vocab-1, likewise. */
void tpti_test_tokens(int32_t *tokens, size_t count, int32_t vocab, uint64_t seed);

/* Fails the running test with the error and its bound. */
#define tpti_test_near(got, want, count, bound)                                                    \
  do {                                                                                             \
    double error_ = tpti_test_error(got, want, count);                                             \
    ck_assert_msg(error_ <= (bound), "%s: relative error %.3g, bound %.3g", #got, error_,          \
                  (double)(bound));                                                                \
  } while (0)

#endif
