/* Memory: the allocator of a context, overflow-checked sizes, and plans: one function lays an
 * object out, first only to count (base NULL), then to place. */
#ifndef TPTI_BASE_MEMORY_H
#define TPTI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <3pt/3pt.h>

enum { TPTI_ALIGNMENT = 64 }; /* a cache line, and the widest vector */

/* The allocator in force; tpti_memory_default uses the C library. */
typedef struct tpti_memory {
  void *user;
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
} tpti_memory;

extern const tpti_memory tpti_memory_default;

/* `bytes` aligned to TPTI_ALIGNMENT, not cleared; NULL where the allocator refuses, forgets the
 * alignment, or bytes is 0. */
void *tpti_take(const tpti_memory *memory, size_t bytes);

/* What tpti_take was refused last on this thread. */
typedef struct tpti_refusal {
  size_t bytes;    /* 0: nothing since this was asked last */
  bool misaligned; /* the block began at no multiple of TPTI_ALIGNMENT */
} tpti_refusal;
tpti_refusal tpti_last_refusal(void); /* and forgets it */
void tpti_forget_refusal(void);       /* at a call's end: one that was survived is not told later */

/* Gives back what tpti_take gave, with the same `bytes`; NULL is accepted. */
void tpti_give(const tpti_memory *memory, void *block, size_t bytes);

/* Pages that a block of tpti_take gets from now on: big ones, where the system has them and the
 * block is large, or small ones. A new block gets big ones. Nothing happens to a host's memory. */
void tpti_pages(const tpti_memory *memory, void *block, size_t bytes, bool big);

/* false on overflow (then *result is SIZE_MAX). */
bool tpti_add(size_t *result, size_t a, size_t b);
bool tpti_mul(size_t *result, size_t a, size_t b);

/* A plan. Start with {0} to count; then take plan.used bytes, and lay out again with base set and
 * used 0. */
typedef struct tpti_plan {
  char *base;
  size_t used;
  bool overflow; /* sticky: the sizes do not fit size_t */
} tpti_plan;

/* The place of count elements of `size` bytes, aligned to TPTI_ALIGNMENT; NULL while counting. */
void *tpti_place(tpti_plan *plan, size_t count, size_t size);

#endif
