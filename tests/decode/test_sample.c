/* Sampling: who can be drawn, how often, and that a seed gives the same draws. */
#include "decode/sample.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "support/runner.h"

enum { V = 6, DRAWS = 40000 };

static const float logits[V] = {0.0f, 2.0f, -1.0f, 2.0f, 1.0f, -30.0f};

static tpti_sampler sampler(double temperature, size_t top_k, double top_p) {
  static uint32_t order[V];
  static double weight[V];
  return (tpti_sampler){.temperature = temperature,
                        .top_k = top_k,
                        .top_p = top_p,
                        .random = tpti_random_stream(9, 0),
                        .order = order,
                        .weight = weight};
}

/* share [V]: how often each was drawn. */
static void draw(tpti_sampler s, const float *z, double *share) {
  for (int v = 0; v < V; v++) share[v] = 0.0;
  for (int i = 0; i < DRAWS; i++) {
    int32_t token;
    ck_assert_int_eq(tpti_sample(&s, z, V, &token), TPT_OK);
    share[token] += 1.0 / DRAWS;
  }
}

/* The shares that `kept` tokens should have at a temperature; others 0. */
static void check(const double *share, double temperature, const int *kept, int count) {
  double total = 0.0, want[V] = {0};
  for (int i = 0; i < count; i++) total += exp((double)logits[kept[i]] / temperature);
  for (int i = 0; i < count; i++)
    want[kept[i]] = exp((double)logits[kept[i]] / temperature) / total;
  for (int v = 0; v < V; v++)
    ck_assert_double_eq_tol(share[v], want[v], 0.012 * (want[v] > 0.0) + 1e-12);
}

START_TEST(greedy_takes_the_lower_of_equals) {
  int32_t token;
  tpti_sampler s = sampler(0.0, 0, 1.0);
  uint64_t before = s.random;
  ck_assert_int_eq(tpti_sample(&s, logits, V, &token), TPT_OK);
  ck_assert_int_eq(token, 1);
  ck_assert(s.random == before);
}
END_TEST

START_TEST(temperature_alone) {
  double share[V];
  static const int all[] = {0, 1, 2, 3, 4};
  draw(sampler(1.0, 0, 1.0), logits, share);
  check(share, 1.0, all, 5);
  draw(sampler(2.5, 0, 1.0), logits, share);
  check(share, 2.5, all, 5);
}
END_TEST

START_TEST(top_k_ties_go_to_the_lower_id) {
  double share[V];
  static const int kept[] = {1, 3, 4};
  draw(sampler(1.0, 1, 1.0), logits, share);
  check(share, 1.0, kept, 1);
  draw(sampler(1.0, 3, 1.0), logits, share);
  check(share, 1.0, kept, 3);
  draw(sampler(1.0, 600, 1.0), logits, share);
  static const int all[] = {0, 1, 2, 3, 4};
  check(share, 1.0, all, 5);
}
END_TEST

START_TEST(top_p_is_the_smallest_set) {
  double share[V];
  static const int kept[] = {1, 3, 4};
  /* shares: 0.40 0.40 0.147 0.054 0.02 */
  draw(sampler(1.0, 0, 0.3), logits, share);
  check(share, 1.0, kept, 1);
  draw(sampler(1.0, 0, 0.7), logits, share);
  check(share, 1.0, kept, 2);
  draw(sampler(1.0, 0, 0.9), logits, share);
  check(share, 1.0, kept, 3);
  draw(sampler(1.0, 0, 0.0), logits, share);
  check(share, 1.0, kept, 1);
}
END_TEST

START_TEST(top_p_of_what_top_k_left) {
  double share[V];
  static const int kept[] = {1, 3};
  /* of the three that are left: 0.42 0.42 0.16 */
  draw(sampler(1.0, 3, 0.83), logits, share);
  check(share, 1.0, kept, 2);
}
END_TEST

START_TEST(same_seed_same_draws) {
  tpti_sampler a = sampler(1.0, 0, 0.9), b = sampler(1.0, 0, 0.9);
  for (int i = 0; i < 100; i++) {
    int32_t x, y;
    ck_assert_int_eq(tpti_sample(&a, logits, V, &x), TPT_OK);
    ck_assert_int_eq(tpti_sample(&b, logits, V, &y), TPT_OK);
    ck_assert_int_eq(x, y);
  }
}
END_TEST

START_TEST(not_finite_is_an_error) {
  float bad[V] = {0.0f, NAN, 1.0f, 2.0f, 3.0f, 4.0f};
  int32_t token = 77;
  tpti_sampler s = sampler(1.0, 2, 1.0);
  ck_assert_int_eq(tpti_sample(&s, bad, V, &token), TPT_E_NUMERIC);
  bad[1] = INFINITY;
  ck_assert_int_eq(tpti_sample(&s, bad, V, &token), TPT_E_NUMERIC);
  ck_assert_int_eq(token, 77);
  bad[1] = -INFINITY; /* a token that cannot come is no error */
  ck_assert_int_eq(tpti_sample(&s, bad, V, &token), TPT_OK);
}
END_TEST

START_TEST(tiny_temperature_is_greedy) {
  double share[V];
  float z[V] = {0.0f, 2.0f, -1.0f, 1.9f, 1.0f, -30.0f};
  draw(sampler(1e-300, 0, 1.0), z, share);
  ck_assert_double_eq_tol(share[1], 1.0, 1e-9);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("decode sample");
  TCase *tests = tcase_create("sample");
  tcase_add_test(tests, greedy_takes_the_lower_of_equals);
  tcase_add_test(tests, temperature_alone);
  tcase_add_test(tests, top_k_ties_go_to_the_lower_id);
  tcase_add_test(tests, top_p_is_the_smallest_set);
  tcase_add_test(tests, top_p_of_what_top_k_left);
  tcase_add_test(tests, same_seed_same_draws);
  tcase_add_test(tests, not_finite_is_an_error);
  tcase_add_test(tests, tiny_temperature_is_greedy);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
