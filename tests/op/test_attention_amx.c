/* Attention on bf16 tiles against the same equation in float64 with the same roundings of operands,
 * and what is promised about bits, gaps and position 0. */
#include "op/attention_amx.h"

#include "base/cpu.h"
#include "kernel/bf16.h"
#include "support/run.h"

#include "attention_problem.h"

/* The reference rounds what the operation rounds, at the same place; what is left is float32's own
 * error, relative to the norm. (Without rounding in the reference it is 3e-3.) Where a number lies
 * so near the middle of two bf16 that float32's error decides where it goes, `doubt` holds what the
 * other choice would change. */
static const double NEAR = 2e-6;

/* float32's error of p, relative: its exponent, below 8 in these problems, is rounded a few times.
 */
static const double UNSURE = 2e-6;

/* ---- the equation ---- */

/* To the nearest bf16, ties to even. */
static double rounded(double value) {
  float x = (float)value;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += 0x7fff + (bits >> 16 & 1);
  bits &= 0xffff0000u;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

/* A rounded number, and by how much it would differ if it were off by `error`. */
typedef struct unsure {
  double value, doubt;
} unsure;

static unsure rounded_unsure(double x, double error) {
  return (unsure){rounded(x), rounded(x + error) - rounded(x - error)};
}

/* Gaps stay NaN. */
static void round_all(float *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isnan(x[i])) x[i] = (float)rounded((double)x[i]);
}

/* What may be added to each value of y, dq, dk and dv; and dy as it is where it is an operand. */
typedef struct doubts {
  double *y, *dq, *dk, *dv;
  float *rounded_dy;
} doubts;

/* From here on w's q, k and v are what the operation, which has run, made of them. */
static doubts doubts_new(problem *w) {
  doubts d = {doubles(w->y_size), doubles(w->q_size), doubles(w->kv_size), doubles(w->kv_size),
              malloc(w->y_size * sizeof(float))};
  ck_assert(d.rounded_dy != NULL);
  memcpy(d.rounded_dy, w->dy, w->y_size * sizeof(float));
  round_all(d.rounded_dy, w->y_size), round_all(w->q, w->q_size);
  round_all(w->k, w->kv_size), round_all(w->v, w->kv_size);
  return d;
}

static void doubts_free(doubts *d) {
  free(d->y), free(d->dq), free(d->dk), free(d->dv), free(d->rounded_dy);
}

/* s [first + t + 1] of one query. */
static void scores(double *s, const problem *w, size_t b, size_t t, size_t h) {
  const tpti_attention *a = &w->a;
  double scale = 1 / sqrt((double)a->E);
  for (size_t u = 0; u <= a->first + t; u++)
    s[u] = product(w->q + q_place(a, b, t, h), w->k + k_place(a, b, u, h), a->E) * scale;
}

static void scale_row(double *y, double *doubt, size_t E, double by) {
  for (size_t e = 0; e < E; e++) y[e] *= by, doubt[e] *= by;
}

/* Keys u .. to - 1 of a query, against the maximum of the keys so far; the result is the sum of
 * their weights. */
static double forward_chunk(problem *w, const double *s, double max, const float *v, size_t count,
                            double *y, double *doubt) {
  double sum = 0;
  for (size_t u = 0; u < count; u++, v += w->a.kv_stride) {
    double p = exp(s[u] - max);
    unsure weight = rounded_unsure(p, p * UNSURE);
    sum += p;
    for (size_t e = 0; e < w->a.E; e++) {
      y[e] += weight.value * (double)v[e];
      doubt[e] += weight.doubt * fabs((double)v[e]);
    }
  }
  return sum;
}

static void forward_row(problem *w, doubts *d, size_t b, size_t t, size_t h, double *s) {
  const tpti_attention *a = &w->a;
  size_t seen = a->first + t + 1, at = y_place(a, b, t, h);
  double *y = w->Y + at, *doubt = d->y + at, max = -INFINITY, sum = 0;
  scores(s, w, b, t, h);
  for (size_t u = 0, n; u < seen; u += n) {
    double before = max;
    n = TPTI_SCORE_CHUNK < seen - u ? TPTI_SCORE_CHUNK : seen - u;
    for (size_t i = u; i < u + n; i++) max = fmax(max, s[i]);
    sum *= exp(before - max);
    scale_row(y, doubt, a->E, exp(before - max));
    sum += forward_chunk(w, s + u, max, w->v + k_place(a, b, u, h), n, y, doubt);
  }
  scale_row(y, doubt, a->E, 1 / sum);
  w->LSE[(b * a->T + t) * a->H + h] = max + log(sum);
}

/* What p and ds of query t and key u give. */
static void backward_pair(problem *w, doubts *d, size_t q, size_t k, const float *dy, unsure p,
                          unsure ds) {
  for (size_t e = 0; e < w->a.E; e++) {
    double key = (double)w->k[k + e], query = (double)w->q[q + e], weight = (double)dy[e];
    w->DQ[q + e] += ds.value * key, d->dq[q + e] += ds.doubt * fabs(key);
    w->DK[k + e] += ds.value * query, d->dk[k + e] += ds.doubt * fabs(query);
    w->DV[k + e] += p.value * weight, d->dv[k + e] += p.doubt * fabs(weight);
  }
}

/* From the y and lse that the forward gave. */
static void backward_row(problem *w, doubts *d, size_t b, size_t t, size_t h, double *s) {
  const tpti_attention *a = &w->a;
  size_t q = q_place(a, b, t, h), y = y_place(a, b, t, h);
  const float *dy = w->dy + y;
  double scale = 1 / sqrt((double)a->E), lse = w->lse[(b * a->T + t) * a->H + h];
  double delta = product(dy, w->y + y, a->E), length = sqrt(product(dy, dy, a->E) * (double)a->E);
  scores(s, w, b, t, h);
  for (size_t u = 0; u <= t; u++) {
    size_t k = k_place(a, b, u, h);
    double p = exp(s[u] - lse),
           ds = p * (product(d->rounded_dy + y, w->v + k, a->E) - delta) * scale;
    double error = p * scale * length * UNSURE; /* |dp| and |delta| are at most |dy| sqrt(E) */
    unsure none = {0, 0};
    backward_pair(w, d, q, k, d->rounded_dy + y, rounded_unsure(p, p * UNSURE),
                  t == 0 ? none : rounded_unsure(ds, error));
  }
}

static void each_row(problem *w, doubts *d,
                     void (*row)(problem *, doubts *, size_t, size_t, size_t, double *)) {
  double *s = doubles(w->a.first + w->a.T);
  for (size_t b = 0; b < w->a.B; b++)
    for (size_t h = 0; h < w->a.H; h++)
      for (size_t t = 0; t < w->a.T; t++) row(w, d, b, t, h, s);
  free(s);
}

/* ---- running it ---- */

static tpti_run *bf16_run(int32_t threads) {
  tpti_run *run = tpti_test_run(threads);
  run->precision = TPTI_PRECISION_BF16;
  return run;
}

/* The bits that float32 gives. */
static void check_falls_back(size s, tpti_run *run) {
  tpti_run *plain = tpti_test_run(2);
  check_same(s, run, plain);
  tpti_test_run_free(plain);
}

/* got - want moved towards 0 by what is in doubt, then compared as `check` does. */
static void check_doubted(const char *what, float *got, const double *want, const double *doubt,
                          const float *like, size_t count, size s) {
  for (size_t i = 0; i < count; i++) {
    double off = (double)got[i] - want[i];
    if (isfinite(off) && doubt[i] > 0)
      got[i] = (float)(want[i] + copysign(fmax(fabs(off) - doubt[i], 0), off));
  }
  check(what, got, want, like, count, s, NEAR);
}

static void check_size(size s, tpti_run *run) {
  problem w = problem_new(s);
  if (!tpti_attention_amx_choose(run, &w.a)) {
    problem_free(&w);
    check_falls_back(s, run);
    return;
  }
  s.first ? run_forward(&w, run) : run_backward(&w, run);
  doubts d = doubts_new(&w);
  if (s.first == 0) {
    each_row(&w, &d, backward_row);
    check_doubted("dq", w.dq, w.DQ, d.dq, w.q, w.q_size, s);
    check_doubted("dk", w.dk, w.DK, d.dk, w.k, w.kv_size, s);
    check_doubted("dv", w.dv, w.DV, d.dv, w.k, w.kv_size, s);
  }
  each_row(&w, &d, forward_row);
  check_doubted("y", w.y, w.Y, d.y, w.dy, w.y_size, s);
  check_lse(&w, s, NEAR);
  problem_free(&w), doubts_free(&d);
}

static const size_t CHANNELS[] = {2, 16, 32, 48, 64, 80, 96, 128};
static const size_t LENGTHS[] = {1, 2, 15, 16, 17, 31, 33, 64, 65, 127, 128, 129, 200, 300};
static const size_t HEADS[][2] = {{1, 1}, {2, 1}, {3, 3}, {6, 2}, {9, 1}};
enum {
  CHANNEL_COUNT = sizeof CHANNELS / sizeof *CHANNELS,
  LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS,
  HEAD_COUNT = sizeof HEADS / sizeof *HEADS,
  MANY = 65 /* positions; with more, the equation of several sequences takes seconds */
};

START_TEST(every_size_is_the_rounded_equation) {
  tpti_run *run = bf16_run(2);
  for (size_t i = 0; i < LENGTH_COUNT; i++) {
    const size_t *heads = HEADS[(i + (size_t)_i) % HEAD_COUNT];
    size_t B = LENGTHS[i] > MANY ? 1 : 1 + (i + (size_t)_i) % 3;
    check_size((size){B, LENGTHS[i], 0, heads[0], heads[1], CHANNELS[_i]}, run);
  }
  tpti_test_run_free(run);
}
END_TEST

/* Several blocks of keys, of one and several sequences, heads together and apart, wide heads,
 * positions before the first query, more channels than the tiles hold. */
static const size OTHERS[] = {
    {1, 600, 0, 2, 1, 64},   {17, 40, 0, 2, 1, 32},    {1, 300, 0, 2, 2, 160},
    {1, 290, 0, 3, 1, 256},  {2, 20, 0, 1, 1, 258},    {1, 16, 1, 1, 1, 32},
    {2, 17, 5, 4, 2, 6},     {1, 40, 61, 6, 3, 48},    {1, 33, 127, 2, 1, 64},
    {1, 130, 700, 2, 1, 32}, {1, 200, 100, 9, 1, 256}, {1, 1, 100, 3, 1, 32},
    {3, 140, 0, 6, 3, 32}};
enum { OTHER_COUNT = sizeof OTHERS / sizeof *OTHERS };

START_TEST(other_sizes_are_the_rounded_equation) {
  tpti_run *run = bf16_run(2);
  check_size(OTHERS[_i], run);
  tpti_test_run_free(run);
}
END_TEST

/* The tiles are written by instructions that no checker of memory sees. */
START_TEST(nothing_is_written_behind_the_scratch) {
  enum { ZONE = 1 << 14 };
  static const size_t wide[] = {2, 64, 160, 256};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    tpti_run *run = bf16_run(1);
    unsigned char *own = aligned_alloc(64, TPTI_SCRATCH + 2 * ZONE), *scratch = run->scratch;
    ck_assert(own != NULL);
    memset(own, 0xa5, TPTI_SCRATCH + 2 * ZONE);
    run->scratch = own + ZONE;
    problem w = problem_new((size){1, 520, 0, 9, 1, wide[i]});
    run_backward(&w, run);
    for (size_t z = 0; z < ZONE; z++)
      ck_assert(own[z] == 0xa5 && own[ZONE + TPTI_SCRATCH + z] == 0xa5);
    problem_free(&w);
    free(own);
    run->scratch = scratch;
    tpti_test_run_free(run);
  }
}
END_TEST

START_TEST(the_same_bits_at_every_thread_count) {
  static const int32_t THREADS[] = {2, 3, 7};
  static const size CASES[] = {
      {1, 300, 0, 4, 2, 64}, {17, 40, 0, 4, 2, 10}, {1, 70, 100, 6, 1, 32}, {2, 129, 0, 3, 1, 128}};
  tpti_run *one = bf16_run(1), *other = bf16_run(THREADS[_i]);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) check_same(CASES[i], one, other);
  tpti_test_run_free(one), tpti_test_run_free(other);
}
END_TEST

START_TEST(a_position_alone_has_no_score_gradient) {
  tpti_run *run = bf16_run(1);
  for (size_t T = 16; T <= 300; T += 142) check_position_alone(T, run);
  tpti_test_run_free(run);
}
END_TEST

START_TEST(later_keys_change_no_bit) {
  tpti_run *run = bf16_run(1);
  for (size_t t = 71; t <= 271; t += 100) {
    problem x = problem_new((size){1, 290, 0, 3, 1, 10});
    problem y = problem_new((size){1, 290, 0, 3, 1, 10});
    for (size_t i = t * y.a.kv_stride; i < y.kv_size; i++) y.k[i] = 50, y.v[i] = -1e6f;
    run_forward(&x, run), run_forward(&y, run);
    ck_assert_mem_eq(x.y, y.y, t * x.a.y_stride * sizeof(float));
    ck_assert_mem_eq(x.lse, y.lse, t * 3 * sizeof(double));
    problem_free(&x), problem_free(&y);
  }
  tpti_test_run_free(run);
}
END_TEST

/* Scores of +-10^4 and more: without the running maximum exp would overflow or all become 0. */
START_TEST(large_scores_stay_finite) {
  tpti_run *run = bf16_run(1);
  problem w = problem_new((size){1, 200, 0, 2, 1, 32});
  for (size_t i = 0; i < w.q_size; i++) w.q[i] *= 8192;
  run_backward(&w, run);
  doubts d = doubts_new(&w);
  each_row(&w, &d, forward_row);
  /* scores are rounded at 10^4 x 6e-8, and exp shows that as a relative error */
  double error = 0;
  for (size_t i = 0; i < w.y_size; i++)
    if (!isnan(w.dy[i])) error = fmax(error, fabs((double)w.y[i] - w.Y[i]));
  ck_assert_msg(error < 0.02, "error %.3g", error);
  for (size_t i = 0; i < w.q_size; i++) ck_assert(isnan(w.q[i]) || isfinite(w.dq[i]));
  problem_free(&w), doubts_free(&d);
  tpti_test_run_free(run);
}
END_TEST

/* Of key 0, which all see. */
static void check_visible(float value) {
  tpti_run *run = bf16_run(1);
  for (size_t T = 16; T <= 300; T += 142) {
    problem w = problem_new((size){1, T, 0, 2, 1, 32});
    w.k[0] = value;
    for (size_t i = 0; i < T; i++) w.q[i * w.a.q_stride] = w.q[i * w.a.q_stride + 32] = 1;
    run_backward(&w, run);
    for (size_t i = 0; i < w.lse_size; i++)
      ck_assert(!isfinite(w.lse[i]) && isnan(w.y[i / 2 * w.a.y_stride]));
    for (size_t i = 1; i < T; i++) ck_assert(isnan(w.dq[i * w.a.q_stride]));
    ck_assert(isnan(w.dk[0]) && isnan(w.dv[0]));
    problem_free(&w);
  }
  tpti_test_run_free(run);
}

START_TEST(nan_and_infinity_show) { check_visible(NAN), check_visible(INFINITY); }
END_TEST

START_TEST(lse_may_be_left_out) {
  tpti_run *run = bf16_run(1);
  check_without_lse((size){1, 150, 0, 2, 1, 6}, run);
  tpti_test_run_free(run);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("op attention amx");
  TCase *c = tcase_create("attention amx");
  tcase_add_loop_test(c, every_size_is_the_rounded_equation, 0, CHANNEL_COUNT);
  tcase_add_loop_test(c, other_sizes_are_the_rounded_equation, 0, OTHER_COUNT);
  tcase_add_test(c, nothing_is_written_behind_the_scratch);
  tcase_add_loop_test(c, the_same_bits_at_every_thread_count, 0, 3);
  tcase_add_test(c, a_position_alone_has_no_score_gradient);
  tcase_add_test(c, later_keys_change_no_bit);
  tcase_add_test(c, large_scores_stay_finite);
  tcase_add_test(c, nan_and_infinity_show);
  tcase_add_test(c, lse_may_be_left_out);
  suite_add_tcase(s, c);
  return s;
}

int main(void) {
  if (tpti_amx_permit() && tpti_scores_amx()) return tpti_test_main(suite());
  srunner_free(srunner_create(suite()));
  return tpti_test_skip("this processor has no tiles for bf16");
}
