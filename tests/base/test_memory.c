/* Sizes that do not wrap, plans, and allocators that do not keep their word. */
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
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

/* ---- large blocks: mapped by themselves, big pages asked for ---- */

enum { BIG_PAGE = 2 << 20, BIG_BLOCK = 4 << 20, LARGE = 4 };

static const size_t sizes[] = {BIG_BLOCK - 1, BIG_BLOCK, BIG_BLOCK + 1, (9 << 20) + 4097};

static size_t whole_pages(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

static struct advice {
  size_t calls;
  void *block;
  size_t bytes;
  int what;
} last;

/* In place of the C library's: a system that takes no advice. */
int madvise(void *block, size_t bytes, int what) {
  last = (struct advice){last.calls + 1, block, bytes, what};
  errno = EINVAL;
  return -1;
}

/* As many calls in all, the last of them about this block; none about a small one. */
static void is_advised(size_t calls, const void *block, size_t bytes, int what) {
  ck_assert_uint_eq(last.calls, bytes < BIG_BLOCK ? 0 : calls);
  ck_assert_int_eq(errno, EDOM);
  if (bytes < BIG_BLOCK) return;
  ck_assert_ptr_eq(last.block, block);
  ck_assert_uint_eq(last.bytes, whole_pages(bytes));
  ck_assert_int_eq(last.what, what);
}

/* Advice is no more than that: refused, it costs neither the block nor errno. */
START_TEST(large_blocks_ask_for_big_pages) {
  const tpti_memory *memory = &tpti_memory_default;
  size_t bytes = sizes[_i];
  last.calls = 0;
  errno = EDOM;
  void *block = tpti_take(memory, bytes);
  ck_assert_ptr_nonnull(block);
  is_advised(1, block, bytes, MADV_HUGEPAGE);
  ck_assert_uint_eq((uintptr_t)block % (bytes < BIG_BLOCK ? TPTI_ALIGNMENT : BIG_PAGE), 0);
  tpti_pages(memory, block, bytes, false);
  is_advised(2, block, bytes, MADV_NOHUGEPAGE);
  tpti_pages(memory, block, bytes, true);
  is_advised(3, block, bytes, MADV_HUGEPAGE);
  tpti_give(memory, block, bytes);
  is_advised(3, block, bytes, MADV_HUGEPAGE);
}
END_TEST

START_TEST(a_hosts_memory_is_not_advised) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  last.calls = 0;
  void *block = tpti_take(&a.memory, BIG_BLOCK);
  ck_assert_ptr_nonnull(block);
  tpti_pages(&a.memory, block, BIG_BLOCK, true);
  tpti_pages(&a.memory, block, BIG_BLOCK, false);
  tpti_give(&a.memory, block, BIG_BLOCK);
  ck_assert_uint_eq(last.calls, 0);
}
END_TEST

/* Every byte of each is its own. */
START_TEST(large_blocks_are_whole) {
  unsigned char *blocks[LARGE];
  for (size_t i = 0; i < LARGE; i++) {
    blocks[i] = tpti_take(&tpti_memory_default, sizes[i]);
    ck_assert_ptr_nonnull(blocks[i]);
    memset(blocks[i], (int)i + 1, sizes[i]);
  }
  for (size_t i = 0; i < LARGE; i++) {
    ck_assert_uint_eq(blocks[i][0], i + 1);
    ck_assert_mem_eq(blocks[i], blocks[i] + 1, sizes[i] - 1);
    tpti_give(&tpti_memory_default, blocks[i], sizes[i]);
  }
}
END_TEST

/* Of the process, read or not. */
static size_t address_space(void) {
  char text[200] = "";
  int file = open("/proc/self/statm", O_RDONLY);
  ck_assert_int_ge(file, 0);
  ck_assert_int_gt((int)read(file, text, sizeof text - 1), 0);
  close(file);
  return (size_t)strtoull(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* What was mapped beside a block to begin with a big page goes back at once, and the block later:
 * kept, it would be 2 MiB of each, here 128. */
START_TEST(large_blocks_take_what_they_hold) {
  enum { BLOCKS = 64, SLACK = 8 << 20 };
  void *blocks[BLOCKS];
  size_t begin = address_space(), held = 0;
  for (size_t i = 0; i < BLOCKS; i++) {
    size_t bytes = BIG_BLOCK + i * 4096;
    blocks[i] = tpti_take(&tpti_memory_default, bytes);
    ck_assert_ptr_nonnull(blocks[i]);
    held += whole_pages(bytes);
  }
  size_t most = address_space();
  for (size_t i = 0; i < BLOCKS; i++) {
    tpti_give(&tpti_memory_default, blocks[i], BIG_BLOCK + i * 4096);
  }
  size_t end = address_space();
  ck_assert_uint_ge(most, begin + held);
  ck_assert_uint_le(most, begin + held + SLACK);
  ck_assert_uint_le(end, begin + SLACK);
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
  tpti_test_allocator refusing;
  tpti_test_allocator_init(&refusing);
  tpti_test_allocator_fail_at(&refusing, 1);
  ck_assert_ptr_null(tpti_take(&crooked, 24));
  ck_assert_uint_eq(released, 24);
  ck_assert_int_eq(tpti_fail_memory(24), TPT_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "a block of 24 bytes at no multiple of 64"));
  tpti_fail_memory(24); /* of something else */
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "refused 24 bytes"));
  ck_assert_ptr_null(tpti_take(&crooked, 24));
  ck_assert_ptr_null(tpti_take(&refusing.memory, 8));
  tpti_fail_memory(4); /* what a buffer holds when it grows */
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "refused 8 bytes"));
  ck_assert_int_eq(tpti_fail_memory(SIZE_MAX), TPT_E_MEMORY);
  ck_assert_ptr_nonnull(strstr(tpti_error_text(), "more bytes are needed"));
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
  tcase_add_loop_test(c, large_blocks_ask_for_big_pages, 0, LARGE);
  tcase_add_test(c, a_hosts_memory_is_not_advised);
  tcase_add_test(c, large_blocks_are_whole);
  tcase_add_test(c, large_blocks_take_what_they_hold);
  tcase_add_test(c, a_block_out_of_line_goes_back);
  tcase_add_test(c, a_refusal_is_null);
  tcase_add_test(c, a_plan_counts_then_places);
  tcase_add_test(c, an_overflow_of_a_plan_sticks);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
