/* What the tests of attention share: problems whose gaps are NaN, run and compared. */
#ifndef TPTI_TESTS_OP_ATTENTION_PROBLEM_H
#define TPTI_TESTS_OP_ATTENTION_PROBLEM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/attention.h"
#include "support/compare.h"
#include "support/runner.h"

/* Floats between the heads and the next position, and behind each sequence: never touched. */
enum { GAP = 3, TAIL = 5 };

typedef struct problem {
  tpti_attention a;
  size_t q_size, kv_size, y_size, lse_size;
  float *q, *k, *v, *dy;   /* inputs, NaN in the gaps */
  float *y, *dq, *dk, *dv; /* results of the operation, NaN where it must not write */
  double *lse;
  double *Y, *LSE, *DQ, *DK, *DV; /* the same by the equation; dq, dk and dv need dy */
} problem;

typedef struct size {
  size_t B, T, first, H, K, E;
} size;

/* A [rows of `width` used floats], `stride` apart, `batch` apart after each `T`: NaN, and random
 * where used. */
static inline float *rows_new(size_t count, size_t rows, size_t width, size_t stride, size_t T,
                              size_t batch, uint64_t seed) {
  float *x = malloc((count + 1) * sizeof *x), *values = malloc((rows * width + 1) * sizeof *x);
  ck_assert(x && values);
  memset(x, 0xff, count * sizeof *x);
  tpti_test_fill(values, rows * width, seed);
  for (size_t i = 0; i < rows && seed > 0; i++)
    memcpy(x + i / T * batch + i % T * stride, values + i * width, width * sizeof *x);
  free(values);
  return x;
}

static inline double *doubles(size_t count) {
  double *x = calloc(count + 1, sizeof *x);
  ck_assert(x != NULL);
  return x;
}

static inline problem problem_new(size s) {
  size_t keys = s.first + s.T, q = s.H * s.E + GAP, kv = s.K * s.E + 2 * GAP, y = s.H * s.E + 1;
  problem p = {.a = {s.B, s.T, s.first, s.H, s.K, s.E, q, kv, y, keys * kv + TAIL}};
  size_t n = s.B * s.T, m = s.B * keys;
  p.q_size = n * q, p.y_size = n * y, p.lse_size = n * s.H, p.kv_size = s.B * p.a.kv_batch_stride;
  p.q = rows_new(p.q_size, n, s.H * s.E, q, s.T, s.T * q, 1);
  p.k = rows_new(p.kv_size, m, s.K * s.E, kv, keys, p.a.kv_batch_stride, 2);
  p.v = rows_new(p.kv_size, m, s.K * s.E, kv, keys, p.a.kv_batch_stride, 3);
  p.dy = rows_new(p.y_size, n, s.H * s.E, y, s.T, s.T * y, 4);
  p.y = rows_new(p.y_size, 0, 0, 0, 1, 0, 0), p.lse = doubles(p.lse_size);
  p.dq = rows_new(p.q_size, 0, 0, 0, 1, 0, 0), p.dk = rows_new(p.kv_size, 0, 0, 0, 1, 0, 0);
  p.dv = rows_new(p.kv_size, 0, 0, 0, 1, 0, 0);
  p.Y = doubles(p.y_size), p.LSE = doubles(p.lse_size);
  p.DQ = doubles(p.q_size), p.DK = doubles(p.kv_size), p.DV = doubles(p.kv_size);
  return p;
}

static inline void problem_free(problem *p) {
  void *all[] = {p->q,  p->k,  p->v, p->dy,  p->y,  p->lse, p->dq,
                 p->dk, p->dv, p->Y, p->LSE, p->DQ, p->DK,  p->DV};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Where query t of head h, and the keys of its group, begin. */
static inline size_t q_place(const tpti_attention *a, size_t b, size_t t, size_t h) {
  return (b * a->T + t) * a->q_stride + h * a->E;
}
static inline size_t y_place(const tpti_attention *a, size_t b, size_t t, size_t h) {
  return (b * a->T + t) * a->y_stride + h * a->E;
}
static inline size_t k_place(const tpti_attention *a, size_t b, size_t u, size_t h) {
  return b * a->kv_batch_stride + u * a->kv_stride + h / (a->H / a->K) * a->E;
}

static inline double product(const float *x, const float *y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
  return sum;
}

static inline void run_forward(problem *w, tpti_run *run) {
  tpti_attention_forward(run, w->y, w->lse, w->q, w->k, w->v, &w->a);
}

static inline void run_backward_only(problem *w, tpti_run *run) {
  size_t count = tpti_attention_work(&w->a);
  float *work = malloc(count * sizeof *work);
  ck_assert(work != NULL);
  memset(work, 0xff, count * sizeof *work);
  tpti_attention_backward(run, w->dq, w->dk, w->dv, work, w->dy, w->y, w->lse, w->q, w->k, w->v,
                          &w->a);
  free(work);
}

static inline void run_backward(problem *w, tpti_run *run) {
  run_forward(w, run);
  run_backward_only(w, run);
}

/* got, whose gaps must be NaN still (as those of `like` are), against want, relative to the norm.
 */
static inline void check(const char *what, const float *got, const double *want, const float *like,
                         size_t count, size s, double bound) {
  float *used = malloc((count + 1) * sizeof *used);
  ck_assert(used != NULL);
  size_t written = count;
  for (size_t i = 0; i < count; i++) {
    bool gap = like && isnan(like[i]);
    if (gap && !isnan(got[i])) written = i;
    used[i] = gap ? 0 : got[i];
  }
  ck_assert_msg(written == count, "%s: a gap was written at %zu", what, written);
  double error = tpti_test_error(used, want, count);
  ck_assert_msg(error <= bound, "%s at B %zu T %zu first %zu H %zu K %zu E %zu: error %.3g", what,
                s.B, s.T, s.first, s.H, s.K, s.E, error);
  free(used);
}

static inline void check_lse(const problem *w, size s, double bound) {
  float *got = malloc((w->lse_size + 1) * sizeof *got);
  ck_assert(got != NULL);
  for (size_t i = 0; i < w->lse_size; i++) got[i] = (float)w->lse[i];
  check("lse", got, w->LSE, NULL, w->lse_size, s, bound);
  free(got);
}

/* The results of two runs of one problem, bit by bit. */
static inline void check_same(size s, tpti_run *one, tpti_run *other) {
  problem x = problem_new(s), y = problem_new(s);
  void (*go)(problem *, tpti_run *) = s.first ? run_forward : run_backward;
  go(&x, one), go(&y, other);
  ck_assert_mem_eq(x.y, y.y, x.y_size * sizeof(float));
  ck_assert_mem_eq(x.lse, y.lse, x.lse_size * sizeof(double));
  ck_assert_mem_eq(x.dq, y.dq, x.q_size * sizeof(float));
  ck_assert_mem_eq(x.dk, y.dk, x.kv_size * sizeof(float));
  ck_assert_mem_eq(x.dv, y.dv, x.kv_size * sizeof(float));
  problem_free(&x), problem_free(&y);
}

static inline void check_without_lse(size s, tpti_run *run) {
  problem x = problem_new(s), y = problem_new(s);
  run_forward(&x, run);
  tpti_attention_forward(run, y.y, NULL, y.q, y.k, y.v, &y.a);
  ck_assert_mem_eq(x.y, y.y, x.y_size * sizeof(float));
  problem_free(&x), problem_free(&y);
}

/* Position 0 alone is seen by its query: its score has no gradient, not even where y is not quite
 * the y of these weights, so that dy . v - delta is not 0 by chance. */
static inline void check_position_alone(size_t T, tpti_run *run) {
  problem w = problem_new((size){2, T, 0, 4, 2, 32});
  for (size_t i = 0; i < w.q_size; i++) /* only query 0 could then give dk something */
    if (i / w.a.q_stride % T > 0 && !isnan(w.q[i])) w.q[i] = 0;
  run_forward(&w, run);
  for (size_t i = 0; i < w.y_size; i++) w.y[i] *= 1.01f;
  run_backward_only(&w, run);
  for (size_t b = 0; b < 2; b++)
    for (size_t i = 0; i < 4 * 32; i++) ck_assert(w.dq[b * T * w.a.q_stride + i] == 0);
  for (size_t i = 0; i < w.kv_size; i++) ck_assert(isnan(w.k[i]) || w.dk[i] == 0);
  problem_free(&w);
}

#endif
