/* Attention over a sequence's cache: see attend.h. */
#include "decode/attend.h"

#include <string.h>

#include "kernel/kernel.h"
#include "op/attention.h"
#include "op/rows.h"

typedef struct attend {
  const tpti_attend *a;
  const tpti_kernels *kernels;
  size_t E, KE, qkv, group; /* group: queries of a key/value head */
} attend;

/* Where the heads' keys or values at a position lie in the cache. */
static float *cached(const attend *w, float *of, size_t position) {
  const tpti_attend *a = w->a;
  return of + (a->layer * a->sequence->room + position) * w->KE + a->head * w->E;
}

static float *queries(const attend *w, size_t row) {
  return w->a->qkv + row * w->qkv + w->a->head * w->group * w->E;
}

static float *keys(const attend *w, size_t row) {
  return w->a->qkv + row * w->qkv + w->a->net->dims.D + w->a->head * w->E;
}

/* Turns q and k by the row's position, and puts k and v into the cache. */
static void store_row(const attend *w, size_t row) {
  const tpti_attend *a = w->a;
  size_t half = w->E / 2, position = a->first + row, floats = a->heads * w->E;
  const float *cosine = a->net->rope_cosine + position * half;
  const float *sine = a->net->rope_sine + position * half;
  float *k = keys(w, row);
  w->kernels->rope(queries(w, row), cosine, sine, a->heads * w->group, half, false);
  w->kernels->rope(k, cosine, sine, a->heads, half, false);
  memcpy(cached(w, a->sequence->keys, position), k, floats * sizeof *k);
  memcpy(cached(w, a->sequence->values, position), k + w->KE, floats * sizeof *k);
}

static void store_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const attend *w = argument;
  tpti_rows rows = tpti_rows_of(item, w->a->count);
  for (size_t r = rows.first; r < rows.first + rows.count; r++) store_row(w, r);
}

void tpti_decode_attend(tpti_run *run, const tpti_attend *a) {
  const tpti_dims *d = &a->net->dims;
  const tpti_sequence *s = a->sequence;
  size_t E = tpti_dims_E(d), KE = d->K * E;
  attend w = {a, run->kernels, E, KE, tpti_dims_qkv(d), d->H / d->K};
  const tpti_attention shape = {.B = 1,
                                .T = a->count,
                                .first = a->first,
                                .H = a->heads * w.group,
                                .K = a->heads,
                                .E = E,
                                .q_stride = w.qkv,
                                .kv_stride = KE,
                                .y_stride = d->D,
                                .kv_batch_stride = s->room * KE};
  tpti_parallel(run, tpti_row_blocks(a->count), store_rows, &w);
  tpti_attention_forward(run, a->y + a->head * w.group * E, NULL, queries(&w, 0),
                         cached(&w, s->keys, 0), cached(&w, s->values, 0), &shape);
}
