/* An allocator that counts, fails on demand, and notices misuse: every block lies between guard
 * bytes, is filled with NaNs at first, and must come back with its own size and alignment.
 *
 *   tpti_test_allocator a;
 *   tpti_test_allocator_init(&a);
 *   ... &a.memory to functions inside, &a.allocator to tpt_context_set_allocator ...
 *   ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
 *
 * An allocation-failure sweep raises `fail_at` until the call succeeds:
 *
 *   for (size_t n = 1;; n++) {
 *     tpti_test_allocator_fail_at(&a, n);
 *     if (call() == TPT_OK) break;
 *     ... nothing may have changed, nothing may have been kept ...
 *   }
 */
#ifndef TPTI_TESTS_SUPPORT_ALLOCATOR_H
#define TPTI_TESTS_SUPPORT_ALLOCATOR_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/memory.h"

typedef struct tpti_test_allocator {
  tpti_memory memory;
  tpt_allocator allocator; /* the same functions, as the public interface takes them */
  atomic_size_t calls;     /* of allocate, since the last fail_at */
  atomic_size_t fail_at;   /* this call and all after it fail; 0: none */
  atomic_size_t blocks;    /* held now */
  atomic_size_t live;      /* bytes held now */
  atomic_size_t peak;      /* the most bytes held at one time */
  atomic_size_t total;     /* calls of allocate in all */
  atomic_size_t misuses; /* releases with another size or alignment, or with a guard overwritten */
} tpti_test_allocator;

void tpti_test_allocator_init(tpti_test_allocator *a);

/* Counts from now: the n-th call fails, and those after it; 0: none fails. */
void tpti_test_allocator_fail_at(tpti_test_allocator *a, size_t n);

/* Bytes held now; fails the running test where a misuse was seen. */
size_t tpti_test_allocator_live(tpti_test_allocator *a);

#endif
