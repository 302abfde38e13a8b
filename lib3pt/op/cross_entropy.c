/* Cross-entropy: see cross_entropy.h. */
#include "op/cross_entropy.h"

#include <assert.h>
#include <string.h>

#include "base/size.h"
#include "kernel/kernel.h"

/* Logits of one item: 256 KB, so that the two passes of the forward find a row in the second-level
 * cache, and a chunk of a few hundred rows still feeds many threads. */
enum { ITEM_LOGITS = 1 << 16 };

/* What both directions cut: R rows of V logits, each with its target. */
typedef struct chunk {
  const struct tpti_kernels *kernels;
  const int32_t *targets;
  int32_t ignore_index;
  size_t R, V;
} chunk;

static size_t rows_of_item(size_t V) { return V >= ITEM_LOGITS ? 1 : ITEM_LOGITS / V; }

static size_t items_of(const chunk *c) {
  size_t rows = rows_of_item(c->V);
  return tpti_ceil_div(c->R, rows);
}

static size_t end_of(const chunk *c, size_t item) {
  size_t end = (item + 1) * rows_of_item(c->V);
  return end < c->R ? end : c->R;
}

typedef struct forward_work {
  chunk chunk;
  double *loss;
  const float *logits;
} forward_work;

static void forward_row(const forward_work *w, size_t r) {
  const chunk *c = &w->chunk;
  const float *z = w->logits + r * c->V;
  int32_t target = c->targets[r];
  assert(target == c->ignore_index || (target >= 0 && (size_t)target < c->V));
  w->loss[r] = 0;
  if (target == c->ignore_index) return;
  w->loss[r] = c->kernels->logsumexp(z, c->V) - (double)z[target];
}

static void forward_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const forward_work *w = argument;
  const chunk *c = &w->chunk;
  for (size_t r = item * rows_of_item(c->V); r < end_of(c, item); r++) forward_row(w, r);
}

void tpti_cross_entropy_forward(tpti_run *run, double *loss, const float *logits,
                                const int32_t *targets, int32_t ignore_index, size_t R, size_t V) {
  assert(V > 0);
  forward_work work = {{run->kernels, targets, ignore_index, R, V}, loss, logits};
  tpti_parallel(run, items_of(&work.chunk), forward_rows, &work);
}

static void clear_row(float *z, size_t V) { memset(z, 0, V * sizeof *z); }

typedef struct both_work {
  chunk chunk;
  double *loss;
  float *logits;
  float weight;
} both_work;

static void both_row(const both_work *w, size_t r) {
  const chunk *c = &w->chunk;
  float *z = w->logits + r * c->V;
  int32_t target = c->targets[r];
  assert(target == c->ignore_index || (target >= 0 && (size_t)target < c->V));
  w->loss[r] = 0;
  if (target == c->ignore_index) {
    clear_row(z, c->V);
    return;
  }
  double z_target = (double)z[target];
  w->loss[r] = c->kernels->softmax_row(z, w->weight, c->V) - z_target;
  z[target] -= w->weight;
}

static void both_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const both_work *w = argument;
  const chunk *c = &w->chunk;
  for (size_t r = item * rows_of_item(c->V); r < end_of(c, item); r++) both_row(w, r);
}

void tpti_cross_entropy_both(tpti_run *run, double *loss, float *logits, const int32_t *targets,
                             int32_t ignore_index, float weight, size_t R, size_t V) {
  assert(V > 0);
  both_work work = {{run->kernels, targets, ignore_index, R, V}, loss, logits, weight};
  tpti_parallel(run, items_of(&work.chunk), both_rows, &work);
}
