/* The start of the weights: schedules of the angles, scales, and one stream a tensor. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "model/params.h"
#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"

#define PI 3.14159265358979323846

static tpti_dims small(tpti_schedule schedule, size_t layers) {
  return (tpti_dims){.V = 50,
                     .D = 12,
                     .L = layers,
                     .H = 3,
                     .K = 3,
                     .F = 20,
                     .N = 3,
                     .max_seq_len = 9,
                     .dc = TPTI_DC_LEARNED,
                     .schedule = schedule};
}

static float *weights_of(const tpti_dims *d, uint64_t seed, int32_t threads, tpti_params *params,
                         void **table) {
  tpti_plan plan = {0};
  tpti_params_layout(params, d, &plan);
  plan = (tpti_plan){.base = aligned_alloc(TPTI_ALIGNMENT, plan.used)};
  ck_assert_ptr_nonnull(plan.base);
  *table = plan.base;
  tpti_params_layout(params, d, &plan);
  float *weights = malloc(params->count * sizeof *weights);
  ck_assert_ptr_nonnull(weights);
  tpti_run *run = tpti_test_run(threads);
  tpti_params_init(run, params, d, seed, weights);
  tpti_test_run_free(run);
  return weights;
}

START_TEST(linear_schedule_is_depth) {
  tpti_dims d = small(TPTI_SCHEDULE_LINEAR, 4);
  for (size_t l = 0; l < 4; l++)
    ck_assert_double_eq_tol(tpti_params_start_angle(&d, l), (double)(l + 1) * PI / 8.0, 1e-15);
}
END_TEST

START_TEST(u_shaped_is_the_papers_row) {
  static const double row[12] = {0.178, 0.282, 0.397, 0.515, 0.635, 0.755,
                                 0.877, 0.977, 1.095, 1.222, 1.327, 1.409};
  tpti_dims d = small(TPTI_SCHEDULE_U_SHAPED, 12);
  for (size_t l = 0; l < 12; l++)
    ck_assert_double_eq_tol(tpti_params_start_angle(&d, l), row[l], 1e-12);
  d.L = 23; /* every second one lies between two of the row */
  ck_assert_double_eq_tol(tpti_params_start_angle(&d, 1), (row[0] + row[1]) / 2, 1e-12);
  ck_assert_double_eq_tol(tpti_params_start_angle(&d, 22), row[11], 1e-12);
  d.L = 1;
  ck_assert_double_eq_tol(tpti_params_start_angle(&d, 0), row[0], 1e-12);
}
END_TEST

START_TEST(constant_and_list) {
  double list[2] = {0.25, -3.0};
  tpti_dims d = small(TPTI_SCHEDULE_CONSTANT, 2);
  ck_assert_double_eq_tol(tpti_params_start_angle(&d, 1), PI / 4, 1e-15);
  d.schedule = TPTI_SCHEDULE_LIST;
  d.schedule_values = list;
  d.schedule_count = 2;
  ck_assert_double_eq(tpti_params_start_angle(&d, 1), -3.0);
}
END_TEST

START_TEST(each_tensor_starts_as_described) {
  tpti_dims d = small(TPTI_SCHEDULE_LINEAR, 2);
  tpti_params p;
  void *table;
  float *w = weights_of(&d, 7, 1, &p, &table);
  const tpti_tensor *down = tpti_params_find(&p, "blocks.1.ff.down.weight");
  float bound = (float)(1.0 / sqrt(20.0)), most = 0.0f;
  for (size_t i = 0; i < down->count; i++) most = fmaxf(most, fabsf(w[down->offset + i]));
  ck_assert(most <= bound && most > 0.9f * bound);
  ck_assert(w[tpti_params_find(&p, "norm_f.norms.1.weight")->offset] == 1.0f);
  ck_assert(w[p.dc_profile + 3] == 0.25f);
  ck_assert(w[tpti_params_find(&p, "blocks.1.pr.theta")->offset] == (float)(PI / 2));
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < d.V * d.D; i++)
    sum += (double)w[i], squares += (double)w[i] * (double)w[i];
  ck_assert_double_eq_tol(sum / 600.0, 0.0, 0.15);
  ck_assert_double_eq_tol(squares / 600.0, 1.0, 0.2);
  free(w);
  free(table);
}
END_TEST

START_TEST(a_function_of_seed_alone) {
  tpti_dims d = small(TPTI_SCHEDULE_LINEAR, 2);
  d.V = 6000; /* its embedding is started in two blocks */
  tpti_params p;
  void *tables[3];
  float *a = weights_of(&d, 7, 1, &p, &tables[0]), *b = weights_of(&d, 7, 3, &p, &tables[1]);
  float *c = weights_of(&d, 8, 1, &p, &tables[2]);
  ck_assert_uint_eq(tpti_test_first_difference(a, b, p.count), p.count);
  ck_assert_uint_ne(tpti_test_first_difference(a, c, p.count), p.count);
  const tpti_tensor *q = tpti_params_find(&p, "blocks.0.attn.q.weight");
  const tpti_tensor *other = tpti_params_find(&p, "blocks.1.attn.q.weight");
  ck_assert_uint_eq(tpti_test_first_difference(a + q->offset, a + other->offset, 1), 0);
  free(a), free(b), free(c);
  for (int i = 0; i < 3; i++) free(tables[i]);
}
END_TEST

/* Said otherwise than in the library: tensor by tensor, block by block. Many small tensors share a
 * task, and the large one has several. */
START_TEST(every_block_has_a_stream_of_its_own) {
  enum { BLOCK = 65536 };
  tpti_dims d = small(TPTI_SCHEDULE_LINEAR, 40);
  d.V = 12000;
  tpti_params p;
  void *table;
  float *w = weights_of(&d, 9, 2, &p, &table), *want = malloc(BLOCK * sizeof *want);
  ck_assert_ptr_nonnull(want);
  for (size_t i = 0; i < p.tensor_count; i++) {
    const tpti_tensor *t = &p.tensors[i];
    if (t->start != TPTI_START_NORMAL && t->start != TPTI_START_UNIFORM) continue;
    for (size_t b = 0; b * BLOCK < t->count; b++) {
      size_t left = t->count - b * BLOCK, count = left < BLOCK ? left : BLOCK;
      uint64_t stream = tpti_random_stream(tpti_random_stream(9, i), b);
      if (t->start == TPTI_START_NORMAL)
        tpti_random_normal(stream, want, count);
      else
        tpti_random_uniform(stream, want, count, 1.0 / sqrt((double)t->shape[1]));
      ck_assert_uint_eq(tpti_test_first_difference(w + t->offset + b * BLOCK, want, count), count);
    }
  }
  free(want);
  free(w);
  free(table);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("model init");
  TCase *tests = tcase_create("init");
  tcase_add_test(tests, linear_schedule_is_depth);
  tcase_add_test(tests, u_shaped_is_the_papers_row);
  tcase_add_test(tests, constant_and_list);
  tcase_add_test(tests, each_tensor_starts_as_described);
  tcase_add_test(tests, a_function_of_seed_alone);
  tcase_add_test(tests, every_block_has_a_stream_of_its_own);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
