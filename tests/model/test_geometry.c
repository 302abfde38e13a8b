/* Measures of a stream, on values small enough to count by hand. */
#include <math.h>

#include "model/geometry.h"
#include "support/runner.h"

/* B 1, T 2, D 4, N 2: token 0 has phases (1, 3) and (0, 2), token 1 (-1, -3) and (4, 0). */
static const float x[8] = {1, 3, 0, 2, -1, -3, 4, 0};
static const tpti_stream stream = {.x = x, .B = 1, .T = 2, .D = 4, .N = 2};

START_TEST(means_and_rms) {
  double values[2];
  tpti_geometry_means(&stream, values);
  ck_assert_double_eq_tol(values[0], 0.0, 1e-15);
  ck_assert_double_eq_tol(values[1], 1.5, 1e-15);
  tpti_geometry_rms(&stream, values);
  ck_assert_double_eq_tol(values[0], sqrt(20.0 / 4.0), 1e-15);
  ck_assert_double_eq_tol(values[1], sqrt(20.0 / 4.0), 1e-15);
}
END_TEST

START_TEST(energy_on_the_dc_direction) {
  double share[2];
  tpti_geometry_energy(&stream, share);
  ck_assert_double_eq_tol(share[0], (2.0 * 4.0 + 2.0 * 4.0) / 40.0, 1e-15);
  ck_assert_double_eq_tol(share[1], (2.0 * 1.0 + 2.0 * 4.0) / 40.0, 1e-15);
}
END_TEST

START_TEST(cosines_between_phases) {
  double cosine[4];
  tpti_geometry_cosines(&stream, cosine);
  double first = 6.0 / (sqrt(10.0) * 2.0), second = -4.0 / (sqrt(10.0) * 4.0);
  ck_assert_double_eq_tol(cosine[0], 1.0, 1e-15);
  ck_assert_double_eq_tol(cosine[3], 1.0, 1e-15);
  ck_assert_double_eq_tol(cosine[1], (first + second) / 2.0, 1e-15);
  ck_assert_double_eq(cosine[1], cosine[2]);
}
END_TEST

START_TEST(positions_and_residual) {
  float dc[2];
  tpti_geometry_positions(&stream, dc);
  ck_assert(dc[0] == 1.5f && dc[1] == 0.0f);
  ck_assert_double_eq_tol(tpti_geometry_residual(&stream), 2.0 * 6.0 / 8.0, 1e-15);
  const float profile[3] = {1.0f, 0.5f, 0.25f};
  ck_assert_double_eq_tol(tpti_geometry_analytic(profile, 2, 3), 3.0 * 0.75, 1e-15);
}
END_TEST

START_TEST(displacement_is_relative) {
  const float after[8] = {1, 3, 0, 2, 1, 3, -4, 0}; /* token 0 stays, token 1 turns around */
  ck_assert_double_eq_tol(tpti_geometry_moved(&stream, after), (0.0 + 2.0) / 2.0, 1e-15);
  const float nothing[4] = {0, 0, 0, 0};
  const tpti_stream still = {.x = nothing, .B = 1, .T = 1, .D = 4, .N = 1};
  ck_assert_double_eq(tpti_geometry_moved(&still, nothing), 0.0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("model geometry");
  TCase *tests = tcase_create("geometry");
  tcase_add_test(tests, means_and_rms);
  tcase_add_test(tests, energy_on_the_dc_direction);
  tcase_add_test(tests, cosines_between_phases);
  tcase_add_test(tests, positions_and_residual);
  tcase_add_test(tests, displacement_is_relative);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
