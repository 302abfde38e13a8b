/* The tables of a network: the same on every number of threads, and left off where a run stops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/network.h"
#include "support/compare.h"
#include "support/run.h"
#include "support/runner.h"

enum { POSITIONS = 9001, HALF = 3 };

static tpti_network network_of(tpti_dc dc, void **block) {
  tpti_dims d = {.V = 5,
                 .D = 12,
                 .L = 1,
                 .H = 2,
                 .K = 1,
                 .F = 4,
                 .N = 3,
                 .max_seq_len = POSITIONS,
                 .rope_base = 100.0,
                 .dc = dc};
  tpti_network net;
  tpti_plan plan = {0};
  tpti_network_layout(&net, &d, TPTI_FORM_F32, &plan);
  size_t lines = (plan.used - 1) / TPTI_ALIGNMENT + 1;
  plan = (tpti_plan){.base = aligned_alloc(TPTI_ALIGNMENT, lines * TPTI_ALIGNMENT)};
  ck_assert_ptr_nonnull(plan.base);
  *block = plan.base;
  tpti_network_layout(&net, &d, TPTI_FORM_F32, &plan);
  for (size_t i = 0; i < POSITIONS * HALF; i++) net.rope_cosine[i] = net.rope_sine[i] = 7.0f;
  for (size_t p = 0; net.profile && p < POSITIONS; p++) net.profile[p] = 7.0f;
  return net;
}

START_TEST(tables_are_what_they_say) {
  void *block;
  tpti_network net = network_of(TPTI_DC_RAMP, &block);
  tpti_run *run = tpti_test_run(1);
  tpti_network_tables(run, &net);
  for (size_t p = 0; p < POSITIONS; p++) {
    double angle = (double)p * pow(100.0, -4.0 / 6.0); /* the last pair of 6 channels */
    ck_assert(net.profile[p] == (float)(1.0 - (double)p / POSITIONS));
    ck_assert(fabs((double)net.rope_cosine[p * HALF + 2] - cos(angle)) < 1e-6);
    ck_assert(net.rope_sine[p * HALF] == (float)sin((double)p));
  }
  tpti_test_run_free(run);
  free(block);
}
END_TEST

START_TEST(threads_do_not_change_bits) {
  void *blocks[2];
  tpti_network one = network_of(TPTI_DC_LOGARITHMIC, &blocks[0]);
  tpti_network three = network_of(TPTI_DC_LOGARITHMIC, &blocks[1]);
  tpti_run *runs[2] = {tpti_test_run(1), tpti_test_run(3)};
  tpti_network_tables(runs[0], &one);
  tpti_network_tables(runs[1], &three);
  const size_t half = POSITIONS * HALF;
  ck_assert_uint_eq(tpti_test_first_difference(one.rope_cosine, three.rope_cosine, half), half);
  ck_assert_uint_eq(tpti_test_first_difference(one.rope_sine, three.rope_sine, half), half);
  ck_assert_uint_eq(tpti_test_first_difference(one.profile, three.profile, POSITIONS), POSITIONS);
  for (int i = 0; i < 2; i++) tpti_test_run_free(runs[i]), free(blocks[i]);
}
END_TEST

START_TEST(a_stopped_run_makes_no_tables) {
  void *block;
  atomic_int cancel = 1;
  tpti_network net = network_of(TPTI_DC_HORN, &block);
  tpti_run *run = tpti_test_run(1);
  run->cancel = &cancel;
  tpti_network_tables(run, &net);
  ck_assert_int_eq(tpti_run_status(run), TPT_E_CANCELLED);
  ck_assert(net.rope_cosine[POSITIONS * HALF - 1] == 7.0f && net.profile[POSITIONS - 1] == 7.0f);
  tpti_test_run_free(run);
  free(block);
}
END_TEST

/* The share of the weights: all of them at the end, whatever the number of layers. */
START_TEST(a_fold_is_done_at_its_end) {
  void *blocks[2];
  double turn[12];
  tpti_network net = network_of(TPTI_DC_HORN, &blocks[0]);
  tpti_network folded = network_of(TPTI_DC_HORN, &blocks[1]);
  tpti_run *run = tpti_test_run(1);
  memset(net.weights, 0, net.params.count * sizeof *net.weights);
  tpti_run_span(run, 0.0, 1.0);
  tpti_network_fold(run, &net, &folded, turn);
  ck_assert(run->done == 1.0);
  tpti_test_run_free(run);
  for (int i = 0; i < 2; i++) free(blocks[i]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("model network");
  TCase *tests = tcase_create("network");
  tcase_add_test(tests, tables_are_what_they_say);
  tcase_add_test(tests, threads_do_not_change_bits);
  tcase_add_test(tests, a_stopped_run_makes_no_tables);
  tcase_add_test(tests, a_fold_is_done_at_its_end);
  suite_add_tcase(suite, tests);
  return tpti_test_main(suite);
}
