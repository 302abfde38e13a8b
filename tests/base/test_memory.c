/* Sizes that do not wrap, plans, and allocators that do not keep their word. */
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

#include "support/allocator.h"
#include "support/runner.h"

START_TEST(sums_and_products_do_not_wrap) {
  size_t result;
  ck_assert(tpti_add(&result, SIZE_MAX - 1, 1) && result == SIZE_MAX);
  ck_assert(!tpti_add(&result, SIZE_MAX, 1) && result == SIZE_MAX);
  ck_assert(tpti_mul(&result, SIZE_MAX / 2, 2) && result == SIZE_MAX - 1);
  ck_assert(!tpti_mul(&result, SIZE_MAX / 2 + 1, 2) && result == SIZE_MAX);
  ck_assert(tpti_mul(&result, SIZE_MAX, 0) && result == 0);
  ck_assert(tpti_mul(&result, 0, SIZE_MAX) && result == 0);
}
END_TEST

START_TEST(default_blocks_are_aligned) {
  for (size_t bytes = 1; bytes < 1000; bytes += 37) {
    char *block = tpti_take(&tpti_memory_default, bytes);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % TPTI_ALIGNMENT, 0);
    block[bytes - 1] = 1;
    tpti_give(&tpti_memory_default, block, bytes);
  }
  tpti_give(&tpti_memory_default, NULL, 5);
  ck_assert_ptr_null(tpti_take(&tpti_memory_default, 0));
  ck_assert_ptr_null(tpti_take(&tpti_memory_default, SIZE_MAX));
}
END_TEST

/* Those that big pages are asked for. Every byte is ours, and other blocks stay as they are. */
START_TEST(large_blocks_are_whole) {
  const size_t sizes[] = {(4 << 20) - 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 4097};
  char *small = tpti_take(&tpti_memory_default, 64);
  ck_assert_ptr_nonnull(small);
  memset(small, 7, 64);
  for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
    size_t bytes = sizes[i / 3];
    unsigned char *block = tpti_take(&tpti_memory_default, bytes);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % TPTI_ALIGNMENT, 0);
    tpti_pages(&tpti_memory_default, block, bytes, i % 3 > 0);
    memset(block, 0xa5, bytes);
    tpti_pages(&tpti_memory_default, block, bytes, i % 3 < 2);
    ck_assert(block[0] == 0xa5 && block[bytes / 2] == 0xa5 && block[bytes - 1] == 0xa5);
    tpti_give(&tpti_memory_default, block, bytes);
  }
  for (size_t i = 0; i < 64; i++) ck_assert_int_eq(small[i], 7);
  tpti_give(&tpti_memory_default, small, 64);
}
END_TEST

static char storage[256];
static size_t released;

static void *allocate_crooked(void *user, size_t bytes, size_t alignment) {
  (void)user;
  (void)bytes;
  return storage + alignment - (uintptr_t)storage % alignment + 8;
}

static void count_release(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user;
  (void)memory;
  (void)alignment;
  released += bytes;
}

START_TEST(a_block_out_of_line_goes_back) {
  tpti_memory crooked = {NULL, allocate_crooked, count_release};
  ck_assert_ptr_null(tpti_take(&crooked, 24));
  ck_assert_uint_eq(released, 24);
}
END_TEST

START_TEST(a_refusal_is_null) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_test_allocator_fail_at(&a, 1);
  ck_assert_ptr_null(tpti_take(&a.memory, 8));
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

static void lay_out(tpti_plan *plan, float **a, double **b, char **c) {
  *a = tpti_place(plan, 3, sizeof **a);
  *b = tpti_place(plan, 17, sizeof **b);
  *c = tpti_place(plan, 1, 1);
}

START_TEST(a_plan_counts_then_places) {
  tpti_plan plan = {0};
  float *a;
  double *b;
  char *c;
  lay_out(&plan, &a, &b, &c);
  ck_assert(!a && !b && !c && !plan.overflow);
  ck_assert_uint_eq(plan.used, 64 + 192 + 1);
  size_t bytes = plan.used;
  plan.base = tpti_take(&tpti_memory_default, bytes);
  plan.used = 0;
  lay_out(&plan, &a, &b, &c);
  ck_assert_uint_eq(plan.used, bytes);
  ck_assert_ptr_eq(a, plan.base);
  ck_assert_ptr_eq(b, plan.base + 64);
  ck_assert_ptr_eq(c, plan.base + 256);
  tpti_give(&tpti_memory_default, plan.base, bytes);
}
END_TEST

START_TEST(an_overflow_of_a_plan_sticks) {
  const size_t counts[][2] = {{SIZE_MAX / 2, 3}, {SIZE_MAX, 1}, {SIZE_MAX - 80, 1}};
  for (size_t i = 0; i < 3; i++) {
    char base[1];
    tpti_plan plan = {.base = base, .used = 100};
    ck_assert_ptr_null(tpti_place(&plan, counts[i][0], counts[i][1]));
    ck_assert(plan.overflow);
    ck_assert_ptr_null(tpti_place(&plan, 1, 1));
    ck_assert(plan.overflow && plan.used == SIZE_MAX);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/memory");
  TCase *c = tcase_create("memory");
  tcase_add_test(c, sums_and_products_do_not_wrap);
  tcase_add_test(c, default_blocks_are_aligned);
  tcase_add_test(c, large_blocks_are_whole);
  tcase_add_test(c, a_block_out_of_line_goes_back);
  tcase_add_test(c, a_refusal_is_null);
  tcase_add_test(c, a_plan_counts_then_places);
  tcase_add_test(c, an_overflow_of_a_plan_sticks);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
