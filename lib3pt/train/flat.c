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

typedef struct copying {
  float *to;
  const float *from;
  size_t count;
} copying;

static void copy_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const copying *c = argument;
  size_t at = item * TPTI_FLAT_BLOCK;
  memcpy(c->to + at, c->from + at, tpti_flat_size(c->count, item) * sizeof(float));
}

void tpti_flat_copy(tpti_run *run, float *to, const float *from, size_t count) {
  copying c = {to, from, count};
  tpti_parallel(run, tpti_flat_blocks(count), copy_block, &c);
}
