/* See allocator.h. */
#include "support/allocator.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and after a block. The head keeps what the block was asked for; 128 is at least any
 * alignment that the library asks for, so that the block after it stays aligned. */
enum { GUARD = 128, GUARD_BYTE = 0xb7, FRESH_BYTE = 0xff };

typedef struct head {
  size_t bytes, alignment;
} head;

static void raise_to(atomic_size_t *peak, size_t value) {
  size_t seen = atomic_load(peak);
  while (seen < value && !atomic_compare_exchange_weak(peak, &seen, value)) {
  }
}

static void *allocate(void *user, size_t bytes, size_t alignment) {
  tpti_test_allocator *a = user;
  atomic_fetch_add(&a->total, 1);
  size_t call = atomic_fetch_add(&a->calls, 1) + 1;
  size_t fail_at = atomic_load(&a->fail_at);
  if (fail_at != 0 && call >= fail_at) return NULL;
  if (alignment > GUARD || bytes > SIZE_MAX - 3 * GUARD) return NULL;
  size_t whole = (bytes + 2 * GUARD + GUARD - 1) / GUARD * GUARD;
  unsigned char *raw = aligned_alloc(GUARD, whole);
  if (!raw) return NULL;
  memset(raw, GUARD_BYTE, GUARD);
  memcpy(raw, &(head){bytes, alignment}, sizeof(head));
  memset(raw + GUARD, FRESH_BYTE, bytes);
  memset(raw + GUARD + bytes, GUARD_BYTE, GUARD);
  atomic_fetch_add(&a->blocks, 1);
  raise_to(&a->peak, atomic_fetch_add(&a->live, bytes) + bytes);
  return raw + GUARD;
}

static int guard_intact(const unsigned char *guard, size_t first) {
  for (size_t i = first; i < GUARD; i++) {
    if (guard[i] != GUARD_BYTE) return 0;
  }
  return 1;
}

static void release(void *user, void *memory, size_t bytes, size_t alignment) {
  tpti_test_allocator *a = user;
  if (!memory) return;
  unsigned char *raw = (unsigned char *)memory - GUARD;
  head h;
  memcpy(&h, raw, sizeof h);
  if (h.bytes != bytes || h.alignment != alignment || !guard_intact(raw, sizeof h) ||
      !guard_intact(raw + GUARD + h.bytes, 0))
    atomic_fetch_add(&a->misuses, 1);
  atomic_fetch_sub(&a->blocks, 1);
  atomic_fetch_sub(&a->live, h.bytes);
  free(raw);
}

void tpti_test_allocator_init(tpti_test_allocator *a) {
  memset(a, 0, sizeof *a);
  a->memory = (tpti_memory){a, allocate, release};
  a->allocator.size = sizeof a->allocator;
  a->allocator.user = a;
  a->allocator.allocate = allocate;
  a->allocator.release = release;
}

void tpti_test_allocator_fail_at(tpti_test_allocator *a, size_t n) {
  atomic_store(&a->calls, 0);
  atomic_store(&a->fail_at, n);
}

size_t tpti_test_allocator_live(tpti_test_allocator *a) {
  ck_assert_uint_eq(atomic_load(&a->misuses), 0);
  return atomic_load(&a->live);
}
