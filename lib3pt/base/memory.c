/* The allocator in force, sizes that cannot wrap, and the layout of plans. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Weights, gradients and activations on pages of 2 MiB: 512 times fewer to be found and, at their
 * first use, to be made. */
enum { BIG_PAGE = 2 << 20, BIG_BLOCK = 4 << 20 };

/* On the whole pages inside the block only: the process must not grow by more than was asked for.
 * For the same reason the block is not made to begin with one: glibc would keep what lies before
 * it. Advice that is not taken costs nothing. */
static void advise(char *block, size_t bytes, int advice) {
  if (bytes < BIG_BLOCK) return;
  size_t skip = BIG_PAGE - 1 - ((uintptr_t)block + BIG_PAGE - 1) % BIG_PAGE;
  (void)madvise(block + skip, (bytes - skip) / BIG_PAGE * BIG_PAGE, advice);
}

static void *default_allocate(void *user, size_t bytes, size_t alignment) {
  void *block = NULL;
  (void)user;
  if (posix_memalign(&block, alignment, bytes) != 0) return NULL;
  advise(block, bytes, MADV_HUGEPAGE);
  return block;
}

static void default_release(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user;
  (void)bytes;
  (void)alignment;
  free(memory);
}

const tpti_memory tpti_memory_default = {NULL, default_allocate, default_release};

void tpti_pages(const tpti_memory *memory, void *block, size_t bytes, bool big) {
  if (memory->allocate != default_allocate) return;
  advise(block, bytes, big ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void *tpti_take(const tpti_memory *memory, size_t bytes) {
  /* Beyond PTRDIFF_MAX no object exists, and a host's allocator may add to the size. */
  if (bytes == 0 || bytes > PTRDIFF_MAX) return NULL;
  void *block = memory->allocate(memory->user, bytes, TPTI_ALIGNMENT);
  /* A host's allocator that forgets the alignment would end in a fault far from here. */
  if ((uintptr_t)block % TPTI_ALIGNMENT != 0) {
    memory->release(memory->user, block, bytes, TPTI_ALIGNMENT);
    return NULL;
  }
  return block;
}

void tpti_give(const tpti_memory *memory, void *block, size_t bytes) {
  if (block) memory->release(memory->user, block, bytes, TPTI_ALIGNMENT);
}

bool tpti_add(size_t *result, size_t a, size_t b) {
  bool fits = a <= SIZE_MAX - b;
  *result = fits ? a + b : SIZE_MAX;
  return fits;
}

bool tpti_mul(size_t *result, size_t a, size_t b) {
  bool fits = b == 0 || a <= SIZE_MAX / b;
  *result = fits ? a * b : SIZE_MAX;
  return fits;
}

void *tpti_place(tpti_plan *plan, size_t count, size_t size) {
  size_t start, bytes, end;
  bool fits = tpti_add(&start, plan->used, TPTI_ALIGNMENT - 1);
  start -= start % TPTI_ALIGNMENT;
  fits = tpti_mul(&bytes, count, size) && fits;
  fits = tpti_add(&end, start, bytes) && fits;
  plan->used = end;
  if (!fits || plan->overflow) {
    plan->overflow = true;
    plan->used = SIZE_MAX;
    return NULL;
  }
  return plan->base ? plan->base + start : NULL;
}
