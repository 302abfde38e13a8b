/* The allocator in force, sizes that cannot wrap, and the layout of plans. */
#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Large blocks, weights and gradients and activations, are mapped by themselves on pages of 2 MiB:
 * 512 times fewer to be found and, at their first use, to be made. Within malloc's own memory such
 * advice would stay behind with the host. */
enum { BIG_PAGE = 2 << 20, BIG_BLOCK = 4 << 20 };

/* Of whole pages; as much as bytes take in memory. */
static size_t mapped_bytes(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* Advice that is not taken costs nothing, and is no failure. */
static void advise(void *block, size_t bytes, int advice) {
  int before = errno;
  (void)madvise(block, mapped_bytes(bytes), advice);
  errno = before;
}

/* Begins with a big page: what lies before it and behind the block is given back. */
static void *map(size_t bytes) {
  size_t whole = mapped_bytes(bytes), room = whole + BIG_PAGE;
  if (room < whole) return NULL;
  char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return NULL;
  size_t before = BIG_PAGE - 1 - ((uintptr_t)at + BIG_PAGE - 1) % BIG_PAGE;
  char *block = at + before;
  if (before) munmap(at, before);
  if (before < BIG_PAGE) munmap(block + whole, BIG_PAGE - before);
  advise(block, bytes, MADV_HUGEPAGE);
  return block;
}

static void *default_allocate(void *user, size_t bytes, size_t alignment) {
  void *block = NULL;
  (void)user;
  if (bytes >= BIG_BLOCK) return map(bytes);
  return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

static void default_release(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user;
  (void)alignment;
  if (bytes >= BIG_BLOCK)
    munmap(memory, mapped_bytes(bytes));
  else
    free(memory);
}

const tpti_memory tpti_memory_default = {NULL, default_allocate, default_release};

void tpti_pages(const tpti_memory *memory, void *block, size_t bytes, bool big) {
  if (memory->allocate != default_allocate || bytes < BIG_BLOCK) return;
  advise(block, bytes, big ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static _Thread_local tpti_refusal refusal;

tpti_refusal tpti_last_refusal(void) {
  tpti_refusal last = refusal;
  refusal = (tpti_refusal){0};
  return last;
}

void tpti_forget_refusal(void) { refusal.bytes = 0, refusal.misaligned = false; }

static void *refuse(size_t bytes, bool misaligned) {
  refusal = (tpti_refusal){bytes, misaligned};
  return NULL;
}

void *tpti_take(const tpti_memory *memory, size_t bytes) {
  /* Beyond PTRDIFF_MAX no object exists, and a host's allocator may add to the size. */
  if (bytes == 0 || bytes > PTRDIFF_MAX) return refuse(bytes, false);
  void *block = memory->allocate(memory->user, bytes, TPTI_ALIGNMENT);
  if (!block) return refuse(bytes, false);
  /* A host's allocator that forgets the alignment would end in a fault far from here. */
  if ((uintptr_t)block % TPTI_ALIGNMENT == 0) return block;
  memory->release(memory->user, block, bytes, TPTI_ALIGNMENT);
  return refuse(bytes, true);
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
