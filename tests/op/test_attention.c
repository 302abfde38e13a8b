/* Attention against its equation in float64, its gradient against central differences of that, and
 * what is promised about bits, gaps and position 0. */
#include "op/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "kernel/kernel.h"
#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"

#include "attention_problem.h"

static const double NEAR = 2e-6; /* relative to the norm; float32 rounds at 6e-8 */

/* ---- the equation ---- */

/* p [first + t + 1]: the probabilities of one query; the result is its lse. */
static double probabilities(double *p, const problem *w, size_t b, size_t t, size_t h) {
  const tpti_attention *a = &w->a;
  size_t seen = a->first + t + 1;
  double top = -INFINITY, sum = 0, scale = 1 / sqrt((double)a->E);
  for (size_t u = 0; u < seen; u++) {
    p[u] = product(w->q + q_place(a, b, t, h), w->k + k_place(a, b, u, h), a->E) * scale;
    top = fmax(top, p[u]);
  }
  for (size_t u = 0; u < seen; u++) sum += p[u] = exp(p[u] - top);
  for (size_t u = 0; u < seen; u++) p[u] /= sum;
  return top + log(sum);
}

static void forward_row(problem *w, size_t b, size_t t, size_t h, double *p) {
  const tpti_attention *a = &w->a;
  w->LSE[(b * a->T + t) * a->H + h] = probabilities(p, w, b, t, h);
  double *y = w->Y + y_place(a, b, t, h);
  memset(y, 0, a->E * sizeof *y);
  for (size_t u = 0; u <= a->first + t; u++)
    for (size_t e = 0; e < a->E; e++) y[e] += p[u] * (double)w->v[k_place(a, b, u, h) + e];
}

static void backward_row(problem *w, size_t b, size_t t, size_t h, double *p) {
  const tpti_attention *a = &w->a;
  const float *dy = w->dy + y_place(a, b, t, h);
  size_t q = q_place(a, b, t, h);
  double delta = 0, scale = 1 / sqrt((double)a->E);
  probabilities(p, w, b, t, h);
  for (size_t u = 0; u <= t; u++) delta += p[u] * product(dy, w->v + k_place(a, b, u, h), a->E);
  for (size_t u = 0; u <= t; u++) {
    size_t k = k_place(a, b, u, h);
    double ds = t == 0 ? 0 : p[u] * (product(dy, w->v + k, a->E) - delta) * scale;
    for (size_t e = 0; e < a->E; e++) {
      w->DQ[q + e] += ds * (double)w->k[k + e];
      w->DK[k + e] += ds * (double)w->q[q + e];
      w->DV[k + e] += p[u] * (double)dy[e];
    }
  }
}

static void each_row(problem *w, void (*row)(problem *, size_t, size_t, size_t, double *)) {
  double *p = doubles(w->a.first + w->a.T);
  for (size_t b = 0; b < w->a.B; b++)
    for (size_t h = 0; h < w->a.H; h++)
      for (size_t t = 0; t < w->a.T; t++) row(w, b, t, h, p);
  free(p);
}

/* sum of dy . y by the equation: the loss whose gradient backward is. */
static double loss(problem *w) {
  double sum = 0;
  each_row(w, forward_row);
  for (size_t i = 0; i < w->y_size; i++)
    if (!isnan(w->dy[i])) sum += w->Y[i] * (double)w->dy[i];
  return sum;
}

static void check_forward(size s, tpti_run *run) {
  problem w = problem_new(s);
  each_row(&w, forward_row);
  run_forward(&w, run);
  check("y", w.y, w.Y, w.dy, w.y_size, s, NEAR);
  check_lse(&w, s, NEAR);
  problem_free(&w);
}

static void check_backward(size s, tpti_run *run) {
  problem w = problem_new(s);
  each_row(&w, backward_row);
  run_backward(&w, run);
  check("dq", w.dq, w.DQ, w.q, w.q_size, s, NEAR);
  check("dk", w.dk, w.DK, w.k, w.kv_size, s, NEAR);
  check("dv", w.dv, w.DV, w.k, w.kv_size, s, NEAR);
  problem_free(&w);
}

static const size SIZES[] = {{1, 1, 0, 1, 1, 2},    {2, 2, 0, 2, 1, 6},    {1, 3, 0, 3, 3, 10},
                             {3, 5, 0, 4, 2, 32},   {2, 7, 0, 12, 3, 2},   {1, 17, 0, 3, 1, 64},
                             {2, 33, 0, 6, 3, 6},   {1, 65, 0, 2, 2, 10},  {1, 65, 0, 9, 1, 32},
                             {9, 70, 0, 4, 2, 18},  {1, 130, 0, 2, 1, 64}, {1, 130, 0, 3, 1, 34},
                             {1, 20, 0, 1, 1, 520}, {1, 400, 0, 2, 1, 34}, {1, 290, 0, 2, 1, 200}};
static const size CACHED[] = {{1, 1, 1, 1, 1, 2},    {1, 2, 5, 4, 2, 6},     {1, 5, 61, 6, 3, 10},
                              {1, 17, 130, 3, 1, 8}, {1, 70, 127, 2, 1, 32}, {1, 1, 700, 12, 3, 64},
                              {3, 1, 40, 9, 1, 6},   {2, 1, 1100, 4, 2, 34}, {1, 1, 30, 2, 1, 520},
                              {1, 33, 700, 2, 1, 66}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, CACHED_COUNT = sizeof CACHED / sizeof *CACHED };

/* With the inner loops of every instruction set that this processor has. */
static void on_every_table(void (*check_size)(size, tpti_run *), size s) {
  tpti_run *run = tpti_test_run(2);
  for (size_t i = 0; tpti_kernels_list(i); i++) {
    run->kernels = tpti_kernels_list(i);
    if ((run->kernels->needs & ~tpti_cpu_flags()) == 0) check_size(s, run);
  }
  tpti_test_run_free(run);
}

START_TEST(forward_is_the_equation) { on_every_table(check_forward, SIZES[_i]); }
END_TEST

START_TEST(forward_over_a_cache_is_the_equation) { on_every_table(check_forward, CACHED[_i]); }
END_TEST

START_TEST(backward_is_the_equation) { on_every_table(check_backward, SIZES[_i]); }
END_TEST

/* The gradient of every element of x [count] that is no gap against (loss(x + h) - loss(x - h)) / 2
 * h.
 */
static void check_slope(problem *w, float *x, const double *gradient, size_t count) {
  const float h = 1.0f / 1024; /* x + h and x - h are then exact: check_slopes rounds x */
  for (size_t i = 0; i < count; i++) {
    if (isnan(x[i])) continue;
    float at = x[i];
    x[i] = at + h;
    double up = loss(w);
    x[i] = at - h;
    double slope = (up - loss(w)) / (2 * (double)h);
    x[i] = at;
    ck_assert_msg(fabs(slope - gradient[i]) <= 2e-6, "element %zu: slope %.9g, gradient %.9g", i,
                  slope, gradient[i]);
  }
}

static void to_multiples(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) x[i] = roundf(x[i] * 1048576) / 1048576;
}

START_TEST(the_gradient_of_the_equation_is_its_slope) {
  problem w = problem_new((size){2, 5, 0, 4, 2, 6});
  to_multiples(w.q, w.q_size), to_multiples(w.k, w.kv_size), to_multiples(w.v, w.kv_size);
  each_row(&w, backward_row);
  check_slope(&w, w.q, w.DQ, w.q_size);
  check_slope(&w, w.k, w.DK, w.kv_size);
  check_slope(&w, w.v, w.DV, w.kv_size);
  problem_free(&w);
}
END_TEST

/* ---- what is promised beside the equation ---- */

START_TEST(a_position_alone_has_no_score_gradient) {
  tpti_run *run = tpti_test_run(1);
  for (size_t T = 1; T <= 70; T += 69) check_position_alone(T, run);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(the_same_bits_at_every_thread_count) {
  static const int32_t THREADS[] = {2, 3, 7};
  static const size CASES[] = {
      {1, 150, 0, 4, 2, 32}, {9, 40, 0, 4, 2, 10}, {1, 1, 600, 12, 3, 64}, {1, 70, 100, 6, 1, 10}};
  tpti_run *one = tpti_test_run(1), *other = tpti_test_run(THREADS[_i]);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) check_same(CASES[i], one, other);
  tpti_test_run_free(one), tpti_test_run_free(other);
}
END_TEST

START_TEST(later_keys_change_no_bit) {
  tpti_run *run = tpti_test_run(1);
  problem x = problem_new((size){1, 90, 0, 3, 1, 10}), y = problem_new((size){1, 90, 0, 3, 1, 10});
  size_t t = 71;
  for (size_t i = t * y.a.kv_stride; i < y.kv_size; i++) y.k[i] = 50, y.v[i] = -1e6f;
  run_forward(&x, run), run_forward(&y, run);
  ck_assert_mem_eq(x.y, y.y, t * x.a.y_stride * sizeof(float));
  ck_assert_mem_eq(x.lse, y.lse, t * 3 * sizeof(double));
  problem_free(&x), problem_free(&y);
  tpti_test_run_free(run);
}
END_TEST

/* Scores of +-10^4 and more: without the running maximum exp would overflow or all become 0. */
START_TEST(large_scores_stay_finite) {
  tpti_run *run = tpti_test_run(1);
  for (size_t first = 0; first <= 300; first += 300) {
    size s = {1, first ? 1 : 80, first, 2, 1, 32};
    problem w = problem_new(s);
    for (size_t i = 0; i < w.q_size; i++) w.q[i] *= 8192;
    each_row(&w, forward_row);
    first ? run_forward(&w, run) : run_backward(&w, run);
    /* scores are rounded at 10^4 x 6e-8, and exp shows that as a relative error */
    double error = 0;
    for (size_t i = 0; i < w.y_size; i++)
      if (!isnan(w.dy[i])) error = fmax(error, fabs((double)w.y[i] - w.Y[i]));
    ck_assert_msg(error < 0.02, "error %.3g", error);
    for (size_t i = 0; !first && i < w.q_size; i++) ck_assert(isnan(w.q[i]) || isfinite(w.dq[i]));
    problem_free(&w);
  }
  tpti_test_run_free(run);
}
END_TEST

/* The weights of a query sum to one in backward too, however large its scores: of y_t = sum_u p_tu
 * v_u, the dv of all keys add up to the dy of all queries. dy is 1 in one channel of each row, so
 * that few rows share a sum; lse in one float is off by 5e-4 at scores of 10^4, and the sums then
 * by as much. */
static void check_whole(size s, tpti_run *run) {
  problem w = problem_new(s);
  for (size_t i = 0; i < w.q_size; i++) w.q[i] *= 8192;
  for (size_t t = 0; t < s.T; t++)
    for (size_t i = 0; i < s.H * s.E; i++) w.dy[t * w.a.y_stride + i] = i % s.E == t % s.E;
  run_backward(&w, run);
  for (size_t i = 0; i < s.K * s.E; i++) {
    double sum = 0, want = 0;
    for (size_t u = 0; u < s.T; u++) sum += (double)w.dv[u * w.a.kv_stride + i];
    for (size_t t = i % s.E; t < s.T; t += s.E) want += (double)(s.H / s.K);
    ck_assert_msg(fabs(sum - want) <= NEAR * want, "T %zu E %zu, channel %zu: %.9g, not %g", s.T,
                  s.E, i, sum, want);
  }
  problem_free(&w);
}

START_TEST(large_weights_sum_to_one_in_backward) {
  static const size CASES[] = {{1, 80, 0, 2, 1, 32}, {1, 300, 0, 2, 2, 64}, {1, 20, 0, 1, 1, 520}};
  on_every_table(check_whole, CASES[_i]);
}
END_TEST

START_TEST(nan_propagates) {
  tpti_run *run = tpti_test_run(1);
  for (size_t first = 0; first <= 100; first += 100) {
    problem w = problem_new((size){1, first ? 1 : 70, first, 2, 1, 32});
    w.k[0] = NAN;
    first ? run_forward(&w, run) : run_backward(&w, run);
    for (size_t i = 0; i < w.lse_size; i++)
      ck_assert(isnan(w.lse[i]) && isnan(w.y[i / 2 * w.a.y_stride]));
    for (size_t i = 1; !first && i < 70; i++) ck_assert(isnan(w.dq[i * w.a.q_stride]));
    problem_free(&w);
  }
  tpti_test_run_free(run);
}
END_TEST

START_TEST(lse_may_be_left_out) {
  tpti_run *run = tpti_test_run(1);
  check_without_lse((size){1, 30, 0, 2, 1, 6}, run);
  check_without_lse((size){1, 1, 50, 2, 1, 6}, run);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(work_stays_within_its_promise) {
  for (size_t i = 0; i < SIZE_COUNT; i++) {
    size s = SIZES[i];
    tpti_attention a = {s.B, s.T,       0,         s.H,       s.K,
                        s.E, s.H * s.E, s.K * s.E, s.H * s.E, s.T * s.K * s.E};
    ck_assert_uint_le(tpti_attention_work(&a), s.B * s.T * s.H * (2 * s.E + 1));
  }
}
END_TEST

/* Fewer sequences may need more: their groups of heads are cut apart. */
START_TEST(the_most_work_covers_every_smaller_batch) {
  static const size_t heads[][3] = {{6, 3, 32}, {4, 1, 128}, {4, 4, 8}, {32, 16, 2}, {12, 3, 64}};
  enum { ROWS = 960, LONGEST = 64 };
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    tpti_attention a = {.H = heads[i][0], .K = heads[i][1], .E = heads[i][2]};
    size_t most = tpti_attention_work_most(&a, ROWS, LONGEST), seen = 0;
    for (a.T = 1; a.T <= LONGEST; a.T++) {
      for (a.B = 1; a.B * a.T <= ROWS; a.B++) {
        size_t work = tpti_attention_work(&a);
        ck_assert_uint_le(work, most);
        if (work > seen) seen = work;
      }
    }
    ck_assert_uint_eq(seen, most); /* and no more than that is planned */
  }
}
END_TEST

/* Products of one item, of which the first one has the run cancelled. */
static struct {
  tpti_product_fn *product;
  size_t made;
  atomic_int cancel;
} first_cancels;

static void product_that_cancels(const tpti_gemm *g) {
  first_cancels.made++;
  atomic_store(&first_cancels.cancel, 1);
  first_cancels.product(g);
}

/* One head of a long sequence is one item of the backward: it ends after its first keys, not with
 * its end. */
START_TEST(a_long_item_ends_early) {
  size_t made[2];
  problem w = problem_new((size){1, 1024, 0, 1, 1, 64});
  float *work = malloc(tpti_attention_work(&w.a) * sizeof *work);
  ck_assert_ptr_nonnull(work);
  for (int cancelled = 0; cancelled < 2; cancelled++) {
    tpti_run *run = tpti_test_run(1);
    tpti_kernels kernels = *run->kernels;
    tpti_attention_forward(run, w.y, w.lse, w.q, w.k, w.v, &w.a);
    first_cancels.product = kernels.product;
    first_cancels.made = 0;
    atomic_store(&first_cancels.cancel, 0);
    kernels.product = product_that_cancels;
    run->kernels = &kernels;
    if (cancelled) run->cancel = &first_cancels.cancel;
    tpti_attention_backward(run, w.dq, w.dk, w.dv, work, w.dy, w.y, w.lse, w.q, w.k, w.v, &w.a);
    made[cancelled] = first_cancels.made;
    ck_assert(run->stopped == cancelled);
    tpti_test_run_free(run);
  }
  ck_assert_uint_gt(made[1], 0);
  ck_assert_uint_lt(made[1], made[0] / 2);
  free(work);
  problem_free(&w);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("op attention");
  TCase *c = tcase_create("attention");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SIZE_COUNT);
  tcase_add_loop_test(c, forward_over_a_cache_is_the_equation, 0, CACHED_COUNT);
  tcase_add_loop_test(c, backward_is_the_equation, 0, SIZE_COUNT);
  tcase_add_test(c, the_gradient_of_the_equation_is_its_slope);
  tcase_add_test(c, a_position_alone_has_no_score_gradient);
  tcase_add_loop_test(c, the_same_bits_at_every_thread_count, 0, 3);
  tcase_add_test(c, later_keys_change_no_bit);
  tcase_add_test(c, large_scores_stay_finite);
  tcase_add_loop_test(c, large_weights_sum_to_one_in_backward, 0, 3);
  tcase_add_test(c, nan_propagates);
  tcase_add_test(c, lse_may_be_left_out);
  tcase_add_test(c, a_long_item_ends_early);
  tcase_add_test(c, work_stays_within_its_promise);
  tcase_add_test(c, the_most_work_covers_every_smaller_batch);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
