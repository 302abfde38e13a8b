/* What a program that was compiled with version 1.0.0 has in it: values, sizes and offsets as
 * numbers, and calls with structs of that size. Built twice: with the header, and with the
 * declarations that are stored (STORED: interface/3pt.cdef); each linked to the shared library. */
#ifdef STORED
#include <stddef.h>
#include <stdint.h>

#include "3pt.cdef"
#else
#include <3pt/3pt.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/runner.h"

#define VALUE(name, value) _Static_assert(name == value, #name)
VALUE(TPT_OK, 0);
VALUE(TPT_E_ARGUMENT, 1);
VALUE(TPT_E_MEMORY, 2);
VALUE(TPT_E_IO, 3);
VALUE(TPT_E_FORMAT, 4);
VALUE(TPT_E_CONFIG, 5);
VALUE(TPT_E_STATE, 6);
VALUE(TPT_E_UNSUPPORTED, 7);
VALUE(TPT_E_NUMERIC, 8);
VALUE(TPT_E_CANCELLED, 9);
VALUE(TPT_E_INTERNAL, 10);
VALUE(TPT_STATUS_FORCE, 0x7fffffff);
VALUE(TPT_MEMORY_INFERENCE, 0);
VALUE(TPT_MEMORY_TRAINING, 1);
VALUE(TPT_MEMORY_FORCE, 0x7fffffff);
VALUE(TPT_POINT_EMBEDDING, 0);
VALUE(TPT_POINT_ATTENTION, 1);
VALUE(TPT_POINT_ROTATION, 2);
VALUE(TPT_POINT_BLOCK, 3);
VALUE(TPT_POINT_FORCE, 0x7fffffff);
_Static_assert(sizeof(tpt_status) == 4 && sizeof(tpt_memory_use) == 4 && sizeof(tpt_point) == 4,
               "an enum is an int");

#if SIZE_MAX == UINT64_MAX
/* In eights: every field of version 1.0.0 is a word of the machine. */
#define AT(type, field, place) _Static_assert(offsetof(type, field) == 8 * place, #type "." #field)
#define WORDS(type, count)     _Static_assert(sizeof(type) == 8 * count, #type)
AT(tpt_tensor_info, size, 0);
AT(tpt_tensor_info, name, 1);
AT(tpt_tensor_info, ndim, 2);
AT(tpt_tensor_info, shape, 3);
AT(tpt_tensor_info, offset, 7);
AT(tpt_tensor_info, count, 8);
WORDS(tpt_tensor_info, 9);
AT(tpt_evaluation, size, 0);
AT(tpt_evaluation, loss, 1);
AT(tpt_evaluation, perplexity, 2);
AT(tpt_evaluation, tokens, 3);
WORDS(tpt_evaluation, 4);
AT(tpt_drift, size, 0);
AT(tpt_drift, start, 1);
AT(tpt_drift, mean, 2);
AT(tpt_drift, l2, 3);
AT(tpt_drift, max, 4);
WORDS(tpt_drift, 5);
AT(tpt_allocator, size, 0);
AT(tpt_allocator, user, 1);
AT(tpt_allocator, allocate, 2);
AT(tpt_allocator, release, 3);
WORDS(tpt_allocator, 4);
#endif

static void ok(tpt_status status) {
  ck_assert_msg(status == TPT_OK, "%s: %s", tpt_status_name(status), tpt_error_message());
}

static tpt_model *small_model(tpt_context *context) {
  static const char yaml[] =
      "model: {vocab_size: 16, d_model: 12, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 8}";
  tpt_config *config;
  tpt_model *model;
  ok(tpt_config_parse(yaml, strlen(yaml), &config));
  ok(tpt_model_create(context, config, 1, &model));
  tpt_config_destroy(config);
  return model;
}

/* Results have their fields and nothing behind them: a guard stands there. */
START_TEST(results_of_that_size) {
  struct {
    tpt_tensor_info info;
    uint64_t after_info;
    tpt_drift drift;
    uint64_t after_drift;
    tpt_evaluation evaluation;
    uint64_t after_evaluation;
  } r;
  memset(&r, 0x5a, sizeof r);
  r.info.size = sizeof r.info;
  r.drift.size = sizeof r.drift;
  r.evaluation.size = sizeof r.evaluation;
  const int32_t tokens[] = {1, 2, 3, 4, 5};
  tpt_model *model = small_model(NULL);
  tpt_dataset *dataset;
  ok(tpt_dataset_from_tokens(NULL, tokens, 5, &dataset));
  ok(tpt_model_tensor_info(model, 0, &r.info));
  ok(tpt_geometry_drift(model, 0, &r.drift));
  ok(tpt_evaluate(model, NULL, dataset, 4, 0, &r.evaluation));
  ck_assert_str_eq(r.info.name, "embedding.token_emb.weight");
  ck_assert_uint_eq(r.info.count, 16 * 12);
  ck_assert_uint_eq(r.info.shape[3], 1);
  ck_assert(r.drift.start > 0 && r.drift.max >= 0 && r.drift.max < 1e-6);
  ck_assert(r.evaluation.loss > 0 && r.evaluation.perplexity > 1);
  ck_assert_uint_eq(r.evaluation.tokens, 4);
  const uint64_t guard = UINT64_C(0x5a5a5a5a5a5a5a5a);
  ck_assert(r.after_info == guard && r.after_drift == guard && r.after_evaluation == guard);
  tpt_dataset_destroy(dataset);
  tpt_model_destroy(model);
}
END_TEST

static void *allocate(void *user, size_t bytes, size_t alignment) {
  ++*(int *)user;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)bytes;
  (void)alignment;
  --*(int *)user;
  free(memory);
}

/* An input of that size, and of a later one whose tail is zero; another tail asks for what this
 * library does not know. */
START_TEST(an_input_of_that_size) {
  int live = 0;
  struct {
    tpt_allocator known;
    uint64_t tail;
  } later = {{sizeof later, &live, allocate, release}, 0};
  tpt_allocator now = {sizeof now, &live, allocate, release};
  const tpt_allocator *given[] = {&now, &later.known};
  for (int i = 0; i < 2; i++) {
    tpt_context *context;
    ok(tpt_context_create(&context));
    ok(tpt_context_set_allocator(context, given[i]));
    tpt_model *model = small_model(context);
    ck_assert_int_gt(live, 0);
    tpt_model_destroy(model);
    tpt_context_destroy(context);
    ck_assert_int_eq(live, 0);
  }
  tpt_context *context;
  ok(tpt_context_create(&context));
  later.tail = 1;
  ck_assert_int_eq(tpt_context_set_allocator(context, &later.known), TPT_E_ARGUMENT);
  now.size--;
  ck_assert_int_eq(tpt_context_set_allocator(context, &now), TPT_E_ARGUMENT);
  tpt_context_destroy(context);
}
END_TEST

START_TEST(both_versions_are_named) {
  char wanted[40];
  ok(tpt_check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH));
  snprintf(wanted, sizeof wanted, "%d.4.2", TPT_VERSION_MAJOR + 1);
  ck_assert_int_eq(tpt_check_version(TPT_VERSION_MAJOR + 1, 4, 2), TPT_E_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), wanted));
  ck_assert_ptr_nonnull(strstr(tpt_error_message(), tpt_version()));
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/abi");
  TCase *tests = tcase_create("abi");
  tcase_add_test(tests, results_of_that_size);
  tcase_add_test(tests, an_input_of_that_size);
  tcase_add_test(tests, both_versions_are_named);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
