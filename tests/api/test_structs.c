/* Structs that cross the border: a size too small, one of a later version, and what is cleared. */
#include "api/session.h"

#include "support/allocator.h"

/* Room after a struct, as a program built against a later version has it. */
enum { TAIL = 40 };

typedef tpt_status ask(const session *s, void *result);

static tpt_status ask_info(const session *s, void *result) {
  return tpt_model_tensor_info(s->model, 1, result);
}

static tpt_status ask_drift(const session *s, void *result) {
  return tpt_geometry_drift(s->model, 0, result);
}

static tpt_status ask_evaluation(const session *s, void *result) {
  tpt_dataset *dataset;
  ok(tpt_dataset_from_tokens(s->context, s->tokens, ROWS, &dataset));
  tpt_status status = tpt_evaluate(s->model, NULL, dataset, 4, 2, result);
  tpt_dataset_destroy(dataset);
  return status;
}

static const struct {
  ask *ask;
  size_t size;
  const char *name;
} results[] = {{ask_info, sizeof(tpt_tensor_info), "info"},
               {ask_drift, sizeof(tpt_drift), "drift"},
               {ask_evaluation, sizeof(tpt_evaluation), "evaluation"}};
enum { RESULTS = sizeof results / sizeof *results };

static void set_size(void *result, size_t size) { memcpy(result, &size, sizeof size); }

static void all_are(const unsigned char *from, const unsigned char *to, unsigned char value) {
  ck_assert_uint_eq(others(from, (size_t)(to - from), value), 0);
}

/* Room for any of them and its tail, aligned for any. */
typedef union room {
  size_t size;
  double aligned;
  unsigned char bytes[200];
} room;

START_TEST(a_later_versions_result) {
  session s = start("");
  size_t size = results[_i].size;
  room plain, later;
  memset(&plain, 0xaa, sizeof plain);
  set_size(&plain, size);
  ok(results[_i].ask(&s, &plain));
  all_are(plain.bytes + size, plain.bytes + sizeof plain, 0xaa);
  memset(&later, 0xaa, sizeof later);
  set_size(&later, size + TAIL);
  ok(results[_i].ask(&s, &later));
  ck_assert_uint_eq(later.size, size + TAIL); /* .size itself is the caller's */
  ck_assert_mem_eq(later.bytes + sizeof(size_t), plain.bytes + sizeof(size_t),
                   size - sizeof(size_t));
  all_are(later.bytes + size, later.bytes + size + TAIL, 0);
  all_are(later.bytes + size + TAIL, later.bytes + sizeof later, 0xaa);
  end(&s);
}
END_TEST

START_TEST(a_size_that_was_never_set) {
  session s = start("");
  const size_t bad[] = {0, 1, sizeof(size_t), results[_i].size - 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    room result;
    memset(&result, 0xaa, sizeof result);
    set_size(&result, bad[i]);
    refused(s.model, results[_i].ask(&s, &result), TPT_E_ARGUMENT, results[_i].name);
    ck_assert_ptr_nonnull(strstr(tpt_error_message(), "size"));
    ck_assert_uint_eq(result.size, bad[i]);
    all_are(result.bytes + sizeof(size_t), result.bytes + sizeof result, 0xaa);
  }
  refused(s.model, results[_i].ask(&s, NULL), TPT_E_ARGUMENT, results[_i].name);
  end(&s);
}
END_TEST

START_TEST(an_allocator) {
  tpti_test_allocator a;
  tpt_context *context;
  tpti_test_allocator_init(&a);
  ok(tpt_context_create(&context));
  room given;
  memset(&given, 0, sizeof given);
  memcpy(&given, &a.allocator, sizeof a.allocator);
  const size_t bad[] = {0, sizeof(size_t), sizeof(tpt_allocator) - 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    set_size(&given, bad[i]);
    refused(context, tpt_context_set_allocator(context, (tpt_allocator *)&given), TPT_E_ARGUMENT,
            "size");
  }
  set_size(&given, sizeof(tpt_allocator) + TAIL);
  given.bytes[sizeof(tpt_allocator) + TAIL - 1] = 1;
  refused(context, tpt_context_set_allocator(context, (tpt_allocator *)&given), TPT_E_ARGUMENT,
          "allocator");
  given.bytes[sizeof(tpt_allocator) + TAIL - 1] = 0;
  given.bytes[sizeof(tpt_allocator) + TAIL] = 1; /* beyond it: not ours to see */
  ok(tpt_context_set_allocator(context, (tpt_allocator *)&given));
  tpt_context_destroy(context);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/structs");
  TCase *tests = tcase_create("structs");
  tcase_add_loop_test(tests, a_later_versions_result, 0, RESULTS);
  tcase_add_loop_test(tests, a_size_that_was_never_set, 0, RESULTS);
  tcase_add_test(tests, an_allocator);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
