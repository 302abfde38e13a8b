/* Token embedding and DC injection against their equation in float64. */
#include "op/dc_inject.h"

#include "gradient.h"
#include "support/runner.h"

typedef struct shape {
  size_t B, T, D, V;
  bool centred;
  float scale;
} shape;

static const shape shapes[] = {
    {1, 1, 2, 1, true, 1},   {1, 2, 6, 3, true, 1},   {2, 3, 10, 2, true, 1.5f},
    {3, 5, 14, 4, false, 1}, {2, 7, 34, 5, true, 1},  {1, 17, 66, 7, false, 8.124f},
    {2, 33, 6, 9, true, 1},  {5, 13, 2, 3, true, 1},  {1, 3, 192, 4, true, 1},
    {43, 3, 2, 50, true, 1}, {2, 2, 130, 3, true, 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct input {
  int32_t *tokens;
  float *embedding, *profile;
} input;

static input input_of(arrays *a, const shape *s) {
  input in = {arrays_take(a, s->B * s->T * sizeof(int32_t)), filled(a, s->V * s->D, 1),
              s->centred ? filled(a, s->T, 2) : NULL};
  tpti_test_tokens(in.tokens, s->B * s->T, (int32_t)s->V, 3);
  return in;
}

static void reference(double *x, const int32_t *tokens, const double *embedding,
                      const double *profile, const shape *s) {
  for (size_t m = 0; m < s->B * s->T; m++) {
    const double *row = embedding + (size_t)tokens[m] * s->D;
    double mean = 0, scale = (double)s->scale;
    for (size_t d = 0; d < s->D; d++) mean += scale * row[d] / (double)s->D;
    double shift = profile ? profile[m % s->T] - mean : 0;
    for (size_t d = 0; d < s->D; d++) x[m * s->D + d] = scale * row[d] + shift;
  }
}

START_TEST(forward_is_the_equation) {
  const shape *s = &shapes[_i];
  size_t count = s->B * s->T * s->D;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  input in = input_of(&a, s);
  float *x = poisoned(&a, count);
  double *want = zeros(&a, count);
  tpti_dc_inject_forward(run, x, in.tokens, in.embedding, in.profile, s->scale, s->B, s->T, s->D);
  reference(want, in.tokens, doubled(&a, in.embedding, s->V * s->D),
            s->centred ? doubled(&a, in.profile, s->T) : NULL, s);
  tpti_test_near(x, want, count, near_forward);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

/* A fact of the geometry that the library must show. */
START_TEST(the_mean_over_channels_is_the_profile) {
  const shape s = {2, 70, 66, 11, true, 1};
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  input in = input_of(&a, &s);
  float *x = poisoned(&a, s.B * s.T * s.D);
  tpti_dc_inject_forward(run, x, in.tokens, in.embedding, in.profile, 1, s.B, s.T, s.D);
  for (size_t m = 0; m < s.B * s.T; m++) {
    double mean = 0;
    for (size_t d = 0; d < s.D; d++) mean += (double)x[m * s.D + d] / (double)s.D;
    ck_assert_double_eq_tol(mean, (double)in.profile[m % s.T], 5e-8);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(without_profile_rows_are_copies) {
  const shape s = {2, 3, 10, 4, false, 1};
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  input in = input_of(&a, &s);
  float *x = poisoned(&a, s.B * s.T * s.D);
  tpti_dc_inject_forward(run, x, in.tokens, in.embedding, NULL, 1, s.B, s.T, s.D);
  for (size_t m = 0; m < s.B * s.T; m++) {
    same_bits((x + m * s.D), (in.embedding + (size_t)in.tokens[m] * s.D), s.D);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(a_token_alone_has_the_same_bits) {
  const shape *s = &shapes[_i];
  arrays a = {0};
  tpti_run *run = tpti_test_run(2);
  input in = input_of(&a, s);
  float *x = poisoned(&a, s->B * s->T * s->D), *alone = poisoned(&a, s->D);
  tpti_dc_inject_forward(run, x, in.tokens, in.embedding, in.profile, s->scale, s->B, s->T, s->D);
  for (size_t m = 0; m < s->B * s->T; m++) {
    tpti_dc_inject_forward(run, alone, in.tokens + m, in.embedding,
                           in.profile ? in.profile + m % s->T : NULL, s->scale, 1, 1, s->D);
    same_bits(alone, (x + m * s->D), s->D);
  }
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

typedef struct problem {
  const int32_t *tokens;
  const double *embedding, *profile;
  double *x;
  const float *dx;
  const shape *s;
} problem;

static double loss_of(const void *context) {
  const problem *p = context;
  reference(p->x, p->tokens, p->embedding, p->profile, p->s);
  return weighted(p->dx, p->x, p->s->B * p->s->T * p->s->D);
}

/* Both outputs add to what was there; most tokens come more than once. */
START_TEST(backward_is_the_gradient) {
  const shape *s = &shapes[_i];
  size_t M = s->B * s->T, weights = s->V * s->D;
  arrays a = {0};
  tpti_run *run = tpti_test_run(1);
  input in = input_of(&a, s);
  float *dx = filled(&a, M * s->D, 4), *dembedding = filled(&a, weights, 5);
  float *dprofile = filled(&a, s->T, 6);
  double *embedding = doubled(&a, in.embedding, weights), *want = doubled(&a, dembedding, weights);
  double *profile = s->centred ? doubled(&a, in.profile, s->T) : NULL;
  double *want_profile = doubled(&a, dprofile, s->T);
  problem p = {in.tokens, embedding, profile, zeros(&a, M * s->D), dx, s};
  numeric_gradient(want, embedding, weights, loss_of, &p);
  if (profile) numeric_gradient(want_profile, profile, s->T, loss_of, &p);
  tpti_dc_inject_backward(run, dembedding, s->centred ? dprofile : NULL, poisoned(&a, M), dx,
                          in.tokens, s->centred, s->scale, s->B, s->T, s->D);
  tpti_test_near(dembedding, want, weights, near_backward);
  tpti_test_near(dprofile, want_profile, s->T, near_backward);
  float *fixed = filled(&a, weights, 5);
  tpti_dc_inject_backward(run, fixed, NULL, poisoned(&a, M), dx, in.tokens, s->centred, s->scale,
                          s->B, s->T, s->D);
  same_bits(fixed, dembedding, weights);
  tpti_test_run_free(run);
  arrays_free(&a);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  const shape s = {3, 111, 138, 5, true, 1.25f};
  size_t M = s.B * s.T;
  arrays a = {0};
  input in = input_of(&a, &s);
  float *dx = filled(&a, M * s.D, 4), *first[3] = {0};
  for (size_t t = 0; t < THREAD_COUNTS; t++) {
    tpti_run *run = tpti_test_run(thread_counts[t]);
    float *x = poisoned(&a, M * s.D), *dembedding = filled(&a, s.V * s.D, 5);
    float *dprofile = filled(&a, s.T, 6);
    tpti_dc_inject_forward(run, x, in.tokens, in.embedding, in.profile, s.scale, s.B, s.T, s.D);
    tpti_dc_inject_backward(run, dembedding, dprofile, poisoned(&a, M), dx, in.tokens, true,
                            s.scale, s.B, s.T, s.D);
    float *now[3] = {x, dembedding, dprofile};
    const size_t counts[3] = {M * s.D, s.V * s.D, s.T};
    for (size_t i = 0; i < 3; i++) {
      if (t == 0) first[i] = now[i];
      same_bits(now[i], first[i], counts[i]);
    }
    tpti_test_run_free(run);
  }
  arrays_free(&a);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("dc_inject");
  TCase *c = tcase_create("dc_inject");
  tcase_add_loop_test(c, forward_is_the_equation, 0, SHAPES);
  tcase_add_test(c, the_mean_over_channels_is_the_profile);
  tcase_add_test(c, without_profile_rows_are_copies);
  tcase_add_loop_test(c, a_token_alone_has_the_same_bits, 0, SHAPES);
  tcase_add_loop_test(c, backward_is_the_gradient, 0, SHAPES);
  tcase_add_test(c, threads_do_not_change_bits);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
