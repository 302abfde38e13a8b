/* The words of one vec_*.h (VEC_HEADER), compiled for its instruction set, against scalar code. */
#include <check.h>
#include <math.h>
#include <string.h>

#include VEC_HEADER

#include "base/cpu.h"
#include "support/runner.h"

enum { MOST = 16 }; /* lanes of the widest set */

static void count_up(float *p, size_t n, float from) {
  for (size_t i = 0; i < n; i++) p[i] = from + (float)i;
}

static double exp_error_in_ulp(float x) {
  float out[MOST];
  v_store(out, v_exp(v_set1(x)));
  for (size_t i = 1; i < V_LANES; i++) ck_assert_mem_eq(&out[i], &out[0], sizeof(float));
  double want = exp((double)x);
  double ulp = ldexp(1, ilogb(want) < -126 ? -149 : ilogb(want) - 23);
  return fabs(out[0] - want) / ulp;
}

START_TEST(exp_is_within_two_ulp) {
  double worst = 0;
  for (float x = -103.9f; x < 88.7f; x += 0.00371f) worst = fmax(worst, exp_error_in_ulp(x));
  ck_assert_msg(worst < 2, "worst error %.2f units in the last place", worst);
}
END_TEST

START_TEST(exp_of_special_values) {
  float in[MOST] = {-INFINITY, INFINITY, NAN, 0, -0.0f, 89, -150, 1e30f}, out[MOST];
  for (size_t i = 0; i < 8; i++) {
    v_store(out, v_exp(v_set1(in[i])));
    float want = expf(in[i]);
    ck_assert_msg(isnan(want) ? isnan(out[0]) : out[0] == want, "exp(%g) = %g", (double)in[i],
                  (double)out[0]);
  }
}
END_TEST

START_TEST(parts_of_a_vector_touch_nothing_else) {
  for (size_t n = 0; n <= V_LANES; n++) {
    float in[MOST], out[MOST], all[MOST];
    count_up(in, MOST, 1);
    count_up(out, MOST, 100);
    v_store(all, v_load_n(in, n));
    v_store_n(out, v_load(in), n);
    for (size_t i = 0; i < V_LANES; i++) {
      ck_assert(all[i] == (i < n ? in[i] : 0));
      ck_assert(out[i] == (i < n ? in[i] : 100 + (float)i));
    }
  }
}
END_TEST

START_TEST(lanes_are_summed_and_compared) {
  float in[MOST];
  count_up(in, MOST, 1);
  float sum = (float)(V_LANES * (V_LANES + 1)) / 2;
  ck_assert(v_sum(v_load(in)) == sum);
  ck_assert(v_hmax(v_load(in)) == (float)V_LANES);
  ck_assert(v_hmax(v_neg(v_load(in))) == -1);
  ck_assert(v_sum64(v_widen(v_load(in))) == (double)sum);
  double squares = 0;
  for (size_t i = 0; i < V_LANES; i++) squares += (double)in[i] * in[i];
  v_f64 twice = v_fma64(v_load(in), v_load(in), v_fma64(v_load(in), v_load(in), v_zero64()));
  ck_assert(v_sum64(twice) == 2 * squares);
  ck_assert(v_sum64(v_add64(twice, twice)) == 4 * squares);
}
END_TEST

START_TEST(max_and_min_give_b_where_one_is_nan) {
  ck_assert(v_sum(v_max(v_set1(NAN), v_set1(1))) == V_LANES);
  ck_assert(v_sum(v_min(v_set1(NAN), v_set1(1))) == V_LANES);
  ck_assert(isnan(v_sum(v_max(v_set1(1), v_set1(NAN)))));
  ck_assert(isnan(v_sum(v_min(v_set1(1), v_set1(NAN)))));
}
END_TEST

START_TEST(select_follows_the_comparison) {
  float in[MOST], out[MOST];
  count_up(in, MOST, 0);
  v_f32 a = v_load(in), two = v_set1(2);
  v_store(out, v_select(v_lt(a, two), v_set1(-1), a));
  for (size_t i = 0; i < V_LANES; i++) ck_assert(out[i] == (i < 2 ? -1 : (float)i));
  v_store(out, v_select(v_le(a, two), v_set1(-1), a));
  for (size_t i = 0; i < V_LANES; i++) ck_assert(out[i] == (i <= 2 ? -1 : (float)i));
  v_store(out, v_select(v_eq(a, two), v_set1(-1), a));
  for (size_t i = 0; i < V_LANES; i++) ck_assert(out[i] == (i == 2 ? -1 : (float)i));
}
END_TEST

START_TEST(pairs_turn_and_turn_back) {
  float in[MOST], c[MOST], s[MOST], out[MOST];
  count_up(in, MOST, 1);
  count_up(c, MOST, 3);
  count_up(s, MOST, 7);
  v_f32 x = v_load(in), cosine = v_load_dup(c), sine = v_load_dup(s);
  v_store(out, v_fmaddsub(x, cosine, v_mul(v_swap_pairs(x), sine)));
  for (size_t k = 0; k < V_LANES / 2; k++) {
    ck_assert(out[2 * k] == in[2 * k] * c[k] - in[2 * k + 1] * s[k]);
    ck_assert(out[2 * k + 1] == in[2 * k] * s[k] + in[2 * k + 1] * c[k]);
  }
  v_store(out, v_fmsubadd(x, cosine, v_mul(v_swap_pairs(x), sine)));
  for (size_t k = 0; k < V_LANES / 2; k++) {
    ck_assert(out[2 * k] == in[2 * k] * c[k] + in[2 * k + 1] * s[k]);
    ck_assert(out[2 * k + 1] == in[2 * k + 1] * c[k] - in[2 * k] * s[k]);
  }
  v_store(out, v_load_dup_n(c, 1));
  ck_assert(out[0] == c[0] && out[1] == c[0] && out[2] == 0);
}
END_TEST

START_TEST(pairs_come_apart_and_together) {
  float in[2 * MOST], out[2 * MOST];
  count_up(in, 2 * MOST, 0);
  v_f32 even, odd;
  v_load2(in, &even, &odd);
  v_store(out, even);
  v_store(out + V_LANES, odd);
  for (size_t i = 0; i < V_LANES; i++) {
    ck_assert(out[i] == in[2 * i] && out[V_LANES + i] == in[2 * i + 1]);
  }
  v_store2(out, even, odd);
  ck_assert_mem_eq(out, in, 2 * V_LANES * sizeof(float));
}
END_TEST

START_TEST(short_numbers_are_widened) {
  uint16_t halves[MOST];
  int8_t bytes[MOST];
  float out[MOST];
  for (size_t i = 0; i < MOST; i++) {
    halves[i] = (uint16_t)(0xbf80 + i);
    bytes[i] = (int8_t)(16 * (int)i - 128);
  }
  v_store(out, v_load_bf16(halves));
  for (size_t i = 0; i < V_LANES; i++) ck_assert(out[i] == -1 - (float)i / 128);
  v_store(out, v_load_i8(bytes));
  for (size_t i = 0; i < V_LANES; i++) ck_assert(out[i] == bytes[i]);
}
END_TEST

START_TEST(a_square_is_transposed) {
  float in[MOST * MOST], out[MOST];
  count_up(in, MOST * MOST, 0);
  v_f32 r[V_LANES];
  for (size_t i = 0; i < V_LANES; i++) r[i] = v_load(in + i * MOST);
  v_transpose(r);
  for (size_t i = 0; i < V_LANES; i++) {
    v_store(out, r[i]);
    for (size_t j = 0; j < V_LANES; j++) ck_assert(out[j] == in[j * MOST + i]);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("kernel vec");
  TCase *tests = tcase_create(VEC_HEADER);
  tcase_add_test(tests, exp_is_within_two_ulp);
  tcase_add_test(tests, exp_of_special_values);
  tcase_add_test(tests, parts_of_a_vector_touch_nothing_else);
  tcase_add_test(tests, lanes_are_summed_and_compared);
  tcase_add_test(tests, max_and_min_give_b_where_one_is_nan);
  tcase_add_test(tests, select_follows_the_comparison);
  tcase_add_test(tests, pairs_turn_and_turn_back);
  tcase_add_test(tests, pairs_come_apart_and_together);
  tcase_add_test(tests, short_numbers_are_widened);
  tcase_add_test(tests, a_square_is_transposed);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) {
  if (tpti_cpu_flags() & VEC_NEEDS) return tpti_test_main(suite());
  return tpti_test_skip("this processor lacks the instructions of " VEC_HEADER);
}
