/* Random numbers: known values, and the shapes of the distributions. */
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

#include "support/runner.h"

enum { COUNT = 200000 };

/* The first values of the published generator from state 1234567 (also Java's SplittableRandom). */
START_TEST(the_generator_is_splitmix64) {
  static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u};
  uint64_t state = 1234567;
  for (size_t i = 0; i < 5; i++) ck_assert_uint_eq(tpti_random_next(&state), known[i]);
}
END_TEST

START_TEST(streams_differ) {
  uint64_t states[64];
  for (uint64_t i = 0; i < 64; i++) states[i] = tpti_random_stream(i / 8, i % 8);
  for (size_t i = 0; i < 64; i++)
    for (size_t j = 0; j < i; j++) ck_assert_uint_ne(states[i], states[j]);
  ck_assert_uint_eq(tpti_random_stream(3, 4), states[3 * 8 + 4]);
}
END_TEST

START_TEST(doubles_fill_the_unit_interval) {
  uint64_t state = tpti_random_stream(1, 2);
  double sum = 0, least = 1, most = 0;
  for (size_t i = 0; i < COUNT; i++) {
    double x = tpti_random_double(&state);
    sum += x;
    least = fmin(least, x);
    most = fmax(most, x);
  }
  ck_assert_double_eq_tol(sum / COUNT, 0.5, 0.005);
  ck_assert(least >= 0 && least < 1e-4 && most > 1 - 1e-4 && most < 1);
}
END_TEST

START_TEST(bounded_numbers_are_even) {
  size_t seen[7] = {0};
  uint64_t state = 9;
  for (size_t i = 0; i < 70000; i++) seen[tpti_random_below(&state, 7)]++;
  for (size_t i = 0; i < 7; i++) ck_assert(seen[i] > 9600 && seen[i] < 10400);
  ck_assert_uint_eq(tpti_random_below(&state, 1), 0);
  /* a bound that a plain remainder would favour the lower half of */
  const uint64_t bound = UINT64_C(3) << 62;
  size_t low = 0;
  for (size_t i = 0; i < 30000; i++) low += tpti_random_below(&state, bound) < bound / 3;
  ck_assert(low > 9500 && low < 10500);
}
END_TEST

START_TEST(the_logarithm_is_the_logarithm) {
  uint64_t state = 3;
  double worst = 0;
  for (size_t i = 0; i < 100000; i++) {
    double x = ldexp(0.5 + tpti_random_double(&state), (int)tpti_random_below(&state, 120) - 110);
    double wanted = log(x);
    worst = fmax(worst, fabs(tpti_random_log(x) / wanted - 1));
  }
  ck_assert_double_le(worst, 5e-16);
  ck_assert_double_eq(tpti_random_log(1), 0);
}
END_TEST

static void moments(const float *values, double moment[5]) {
  for (int k = 1; k < 5; k++) moment[k] = 0;
  for (size_t i = 0; i < COUNT; i++)
    for (int k = 1; k < 5; k++) moment[k] += pow((double)values[i], k) / COUNT;
}

START_TEST(normals_have_their_moments) {
  float *values = malloc(COUNT * sizeof *values);
  double m[5];
  tpti_random_normal(tpti_random_stream(1, 1), values, COUNT);
  moments(values, m);
  ck_assert_double_eq_tol(m[1], 0, 0.01);
  ck_assert_double_eq_tol(m[2], 1, 0.02);
  ck_assert_double_eq_tol(m[3], 0, 0.04);
  ck_assert_double_eq_tol(m[4], 3, 0.12);
  double beyond = 0, neighbours = 0;
  for (size_t i = 1; i < COUNT; i++) {
    beyond += fabsf(values[i]) > 1.959964f;
    neighbours += (double)values[i] * (double)values[i - 1];
  }
  ck_assert_double_eq_tol(beyond / COUNT, 0.05, 0.003);
  ck_assert_double_eq_tol(neighbours / COUNT, 0, 0.01);
  free(values);
}
END_TEST

START_TEST(uniforms_keep_their_bound) {
  float *values = malloc(COUNT * sizeof *values);
  double m[5];
  tpti_random_uniform(7, values, COUNT, 0.3);
  size_t inside = 0;
  for (size_t i = 0; i < COUNT; i++) inside += values[i] >= -0.3f && values[i] < 0.3f;
  ck_assert_uint_eq(inside, COUNT);
  moments(values, m);
  ck_assert_double_eq_tol(m[1], 0, 0.002);
  ck_assert_double_eq_tol(m[2], 0.09 / 3, 0.001);
  free(values);
}
END_TEST

/* These must never change, on no machine: weights are a function of the seed. */
START_TEST(the_numbers_of_a_seed_are_fixed) {
  float normal[3], uniform[2];
  tpti_random_normal(tpti_random_stream(1, 0), normal, 3);
  tpti_random_uniform(tpti_random_stream(1, 0), uniform, 2, 1);
  ck_assert_float_eq(normal[0], -0x1.44c162p-2f);
  ck_assert_float_eq(normal[1], 0x1.528e82p+0f);
  ck_assert_float_eq(normal[2], -0x1.a2ef5ep-2f);
  ck_assert_float_eq(uniform[0], 0x1.8c501p-2f);
  ck_assert_float_eq(uniform[1], 0x1.e316d8p-1f);
}
END_TEST

START_TEST(a_shorter_fill_is_a_beginning) {
  float few[5], many[8];
  tpti_random_normal(11, few, 5);
  tpti_random_normal(11, many, 8);
  for (size_t i = 0; i < 5; i++) ck_assert_float_eq(few[i], many[i]);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/random");
  TCase *c = tcase_create("random");
  tcase_add_test(c, the_generator_is_splitmix64);
  tcase_add_test(c, streams_differ);
  tcase_add_test(c, doubles_fill_the_unit_interval);
  tcase_add_test(c, bounded_numbers_are_even);
  tcase_add_test(c, the_logarithm_is_the_logarithm);
  tcase_add_test(c, normals_have_their_moments);
  tcase_add_test(c, uniforms_keep_their_bound);
  tcase_add_test(c, the_numbers_of_a_seed_are_fixed);
  tcase_add_test(c, a_shorter_fill_is_a_beginning);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
