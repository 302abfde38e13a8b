/* Rotary position embedding against its equation in float64. */
#include "op/rope.h"

#include "gradient.h"
#include "support/runner.h"

static const double base = 10000;

typedef struct shape {
  size_t M, T, first, heads, E, gap; /* stride is heads E + gap */
} shape;

static const shape shapes[] = {{1, 1, 0, 1, 2, 0},   {6, 3, 0, 2, 6, 5},   {7, 7, 2, 3, 10, 0},
                               {4, 2, 9, 1, 14, 3},  {3, 3, 0, 2, 34, 34}, {2, 1, 5, 1, 66, 1},
                               {17, 17, 0, 2, 4, 8}, {65, 65, 3, 1, 8, 2}, {130, 65, 0, 3, 32, 96},
                               {1, 1, 300, 6, 64, 0}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static size_t stride_of(const shape *s) { return s->heads * s->E + s->gap; }

static void reference(double *y, const double *x, const shape *s, double sign) {
  for (size_t i = 0; i < s->M * s->heads; i++) {
    size_t m = i / s->heads, at = m * stride_of(s) + i % s->heads * s->E, half = s->E / 2;
    for (size_t j = 0; j < half; j++) {
      double a = (double)(s->first + m % s->T) * pow(base, -2 * (double)j / (double)s->E) * sign;
      y[at + j] = x[at + j] * cos(a) - x[at + half + j] * sin(a);
      y[at + half + j] = x[at + half + j] * cos(a) + x[at + j] * sin(a);
    }
  }
}

typedef struct tables {
  float *cosine, *sine;
} tables;

static tables tables_of(arrays *a, const shape *s) {
  size_t positions = s->first + s->T;
  tables t = {poisoned(a, positions * s->E / 2), poisoned(a, positions * s->E / 2)};
  tpti_run alone = {0};
  tpti_rope_table(&alone, t.cosine, t.sine, base, positions, s->E);
  return t;
}

START_TEST(forward_is_the_equation_and_keeps_out_of_the_gaps) {
  const shape *s = &shapes[_i];
  size_t count = s->M * stride_of(s);
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *x = filled(&a, count, 1);
  double *before = doubled(&a, x, count), *want = doubled(&a, x, count);
  tables t = tables_of(&a, s);
  tpti_rope_forward(run, x, stride_of(s), s->heads, t.cosine, t.sine, s->first, s->M, s->T, s->E);
  reference(want, before, s, 1);
  tpti_test_near(x, want, count, near_forward);
  for (size_t i = 0; i < count; i++) {
    if (i % stride_of(s) >= s->heads * s->E) ck_assert_double_eq((double)x[i], before[i]);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* The map is linear and orthogonal: its gradient is the turn by -a. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t count = s->M * stride_of(s);
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  float *dx = filled(&a, count, 2), *x = filled(&a, count, 3), *y = copied(&a, x, count);
  float *dy = copied(&a, dx, count);
  double *want = doubled(&a, dx, count);
  tables t = tables_of(&a, s);
  reference(want, doubled(&a, dx, count), s, -1);
  tpti_rope_forward(run, y, stride_of(s), s->heads, t.cosine, t.sine, s->first, s->M, s->T, s->E);
  tpti_rope_backward(run, dx, stride_of(s), s->heads, t.cosine, t.sine, s->first, s->M, s->T, s->E);
  tpti_test_near(dx, want, count, near_forward);
  double forward = weighted(dy, doubled(&a, y, count), count);
  double backward = weighted(x, doubled(&a, dx, count), count);
  ck_assert_double_eq_tol(forward, backward, 1e-5 * sqrt((double)count));
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* Decoding turns one position at a time. */
START_TEST(a_position_alone_has_the_same_bits) {
  const shape *s = &shapes[_i];
  size_t count = s->M * stride_of(s);
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  float *x = filled(&a, count, 1), *alone = copied(&a, x, count);
  tables t = tables_of(&a, s);
  tpti_rope_forward(run, x, stride_of(s), s->heads, t.cosine, t.sine, s->first, s->M, s->T, s->E);
  for (size_t m = 0; m < s->M; m++) {
    tpti_rope_forward(run, alone + m * stride_of(s), stride_of(s), s->heads, t.cosine, t.sine,
                      s->first + m % s->T, 1, 1, s->E);
  }
  same_bits(alone, x, count);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(position_zero_stays_as_it_is) {
  tpti_run *run = tpti_test_run(1);
  float x[6] = {1, -2, 3, 4, -5, 6}, cosine[3], sine[3];
  tpti_rope_table(run, cosine, sine, base, 1, 6);
  tpti_rope_forward(run, x, 6, 1, cosine, sine, 0, 1, 1, 6);
  const float want[6] = {1, -2, 3, 4, -5, 6};
  for (size_t i = 0; i < 6; i++) ck_assert_float_eq(x[i], want[i]);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(far_positions_are_exact) {
  enum { POSITIONS = 5000, E = 4 };
  arrays a = {0};
  float *cosine = poisoned(&a, POSITIONS * E / 2), *sine = poisoned(&a, POSITIONS * E / 2);
  tpti_run *run = tpti_test_run(2);
  tpti_rope_table(run, cosine, sine, base, POSITIONS, E);
  tpti_test_run_free(run);
  for (size_t p = 0; p < POSITIONS; p++) {
    ck_assert_double_eq_tol((double)cosine[2 * p], cos((double)p), 3.1e-8);
    ck_assert_double_eq_tol((double)sine[2 * p + 1], sin((double)p / 100), 3.1e-8);
  }
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  const shape s = {333, 111, 4, 3, 10, 7};
  size_t count = s.M * stride_of(&s);
  arrays a = {0};
  tables t = tables_of(&a, &s);
  float *forward = NULL, *backward = NULL;
  for (size_t i = 0; i < THREAD_COUNTS; i++) {
    tpti_run *run = tpti_test_run(thread_counts[i]);
    float *x = filled(&a, count, 1), *dx = filled(&a, count, 2);
    tpti_rope_forward(run, x, stride_of(&s), s.heads, t.cosine, t.sine, s.first, s.M, s.T, s.E);
    tpti_rope_backward(run, dx, stride_of(&s), s.heads, t.cosine, t.sine, s.first, s.M, s.T, s.E);
    if (!forward) forward = x, backward = dx;
    same_bits(x, forward, count);
    same_bits(dx, backward, count);
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("rope");
  TCase *c = tcase_create("rope");
  tcase_add_loop_test(c, forward_is_the_equation_and_keeps_out_of_the_gaps, 0, SHAPES);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_loop_test(c, a_position_alone_has_the_same_bits, 0, SHAPES);
  tcase_add_test(c, position_zero_stays_as_it_is);
  tcase_add_test(c, far_positions_are_exact);
  tcase_add_test(c, threads_do_not_change_bits);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
