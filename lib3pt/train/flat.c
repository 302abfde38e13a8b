/* Passes over the flat arrays. */
#include "train/flat.h"

#include <string.h>

typedef struct clearing {
  float *values;
  size_t count;
} clearing;

static void clear_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const clearing *c = argument;
  memset(c->values + item * TPTI_FLAT_BLOCK, 0, tpti_flat_size(c->count, item) * sizeof(float));
}

void tpti_flat_clear(tpti_run *run, float *values, size_t count) {
  clearing c = {values, count};
  tpti_parallel(run, tpti_flat_blocks(count), clear_block, &c);
}

typedef struct exchange {
  float *a, *b;
  size_t count;
  atomic_size_t done; /* blocks */
} exchange;

static void exchange_block(void *argument, size_t item, void *scratch) {
  exchange *e = argument;
  size_t at = item * TPTI_FLAT_BLOCK, bytes = tpti_flat_size(e->count, item) * sizeof(float);
  memcpy(scratch, e->a + at, bytes);
  memcpy(e->a + at, e->b + at, bytes);
  memcpy(e->b + at, scratch, bytes);
  atomic_fetch_add_explicit(&e->done, 1, memory_order_relaxed);
}
_Static_assert(TPTI_FLAT_BLOCK * sizeof(float) <= TPTI_SCRATCH, "scratch");

size_t tpti_flat_exchange(tpti_run *run, float *a, float *b, size_t count) {
  exchange e = {.a = a, .b = b, .count = count};
  atomic_init(&e.done, 0);
  tpti_parallel(run, tpti_flat_blocks(count), exchange_block, &e);
  size_t done = atomic_load(&e.done) * TPTI_FLAT_BLOCK;
  return done < count ? done : count;
}
