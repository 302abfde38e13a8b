/* The table of parameters: names, shapes and offsets in the published code's order. */
#include "model/params.h"

#include <stdio.h>
#include <string.h>

/* A table in the making: without tensors it only counts. */
typedef struct builder {
  tpti_params *params;
  size_t layer;
} builder;

/* Adds one tensor after the last; its offset is the result. cols 0: one dimension. */
static size_t add(builder *b, tpti_start start, size_t rows, size_t cols, const char *name) {
  tpti_params *p = b->params;
  size_t offset = p->count, count = cols ? rows * cols : rows;
  if (p->tensors) {
    tpti_tensor *t = &p->tensors[p->tensor_count];
    *t = (tpti_tensor){.ndim = cols ? 2 : 1,
                       .shape = {rows, cols ? cols : 1},
                       .offset = offset,
                       .count = count,
                       .layer = b->layer,
                       .start = start};
    snprintf(t->name, sizeof t->name, "%s", name);
  }
  p->tensor_count++;
  p->count += count;
  return offset;
}

static size_t add_in_block(builder *b, tpti_start start, size_t rows, size_t cols,
                           const char *name) {
  char full[TPTI_NAME];
  snprintf(full, sizeof full, "blocks.%zu.%s", b->layer, name);
  return add(b, start, rows, cols, full);
}

/* The N gains of a norm, [P] each: together one gain [D]. */
static size_t add_norm(builder *b, const tpti_dims *d, const char *prefix) {
  size_t first = b->params->count;
  if (!b->params->tensors) {
    b->params->tensor_count += d->N;
    b->params->count += d->D;
    return first;
  }
  for (size_t i = 0; i < d->N; i++) {
    char name[TPTI_NAME];
    snprintf(name, sizeof name, "%s.norms.%zu.weight", prefix, i);
    add(b, TPTI_START_ONE, tpti_dims_P(d), 0, name);
  }
  return first;
}

static size_t add_block_norm(builder *b, const tpti_dims *d, const char *norm) {
  char prefix[TPTI_NAME / 2];
  snprintf(prefix, sizeof prefix, "blocks.%zu.%s", b->layer, norm);
  return add_norm(b, d, prefix);
}

static void add_block(builder *b, const tpti_dims *d) {
  tpti_params *p = b->params;
  size_t first = p->count, KE = d->K * tpti_dims_E(d);
  p->qkv = add_in_block(b, TPTI_START_UNIFORM, d->D, d->D, "attn.q.weight") - first;
  add_in_block(b, TPTI_START_UNIFORM, KE, d->D, "attn.k.weight");
  add_in_block(b, TPTI_START_UNIFORM, KE, d->D, "attn.v.weight");
  p->o = add_in_block(b, TPTI_START_UNIFORM, d->D, d->D, "attn.o.weight") - first;
  p->gate_up = add_in_block(b, TPTI_START_UNIFORM, d->F, d->D, "ff.gate.weight") - first;
  add_in_block(b, TPTI_START_UNIFORM, d->F, d->D, "ff.up.weight");
  p->down = add_in_block(b, TPTI_START_UNIFORM, d->D, d->F, "ff.down.weight") - first;
  p->n1 = add_block_norm(b, d, "n1") - first;
  p->n2 = add_block_norm(b, d, "n2") - first;
  p->theta = SIZE_MAX;
  if (d->rotation != TPTI_ROTATION_NONE)
    p->theta = add_in_block(b, TPTI_START_THETA, tpti_dims_P(d) / 2, 0, "pr.theta") - first;
  p->block_stride = p->count - first;
}

static void add_blocks(builder *b, const tpti_dims *d) {
  tpti_params *p = b->params;
  size_t before = p->tensor_count;
  add_block(b, d);
  if (p->tensors) {
    for (b->layer = 1; b->layer < d->L; b->layer++) add_block(b, d);
    b->layer = 0;
  } else {
    p->tensor_count += (d->L - 1) * (p->tensor_count - before);
    p->count += (d->L - 1) * p->block_stride;
  }
}

static void build(tpti_params *params, const tpti_dims *d) {
  builder b = {.params = params};
  params->tensor_count = params->count = 0;
  params->token_emb = add(&b, TPTI_START_NORMAL, d->V, d->D, "embedding.token_emb.weight");
  params->dc_profile = SIZE_MAX;
  if (d->dc == TPTI_DC_LEARNED)
    params->dc_profile = add(&b, TPTI_START_HORN, d->max_seq_len, 0, "embedding.dc_profile");
  params->block_first = params->count;
  add_blocks(&b, d);
  params->norm_f = add_norm(&b, d, "norm_f");
  params->head = add(&b, TPTI_START_UNIFORM, d->V, d->D, "head.weight");
}

/* ---- by name ---- */

/* The slot of the tensor of that name, or the free one that ends the search. FNV-1a; the slots are
 * at least twice the tensors, and as the tensors alone are put in, no name makes a search long. */
static size_t *slot_of(const tpti_params *p, const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
  for (size_t at = (size_t)(hash ^ hash >> 32);; at++) {
    size_t *slot = &p->slots[at & (p->slot_count - 1)];
    if (!*slot || !strcmp(p->tensors[*slot - 1].name, name)) return slot;
  }
}

static void fill_slots(tpti_params *p) {
  memset(p->slots, 0, p->slot_count * sizeof *p->slots);
  for (size_t i = 0; i < p->tensor_count; i++) *slot_of(p, p->tensors[i].name) = i + 1;
}

void tpti_params_layout(tpti_params *params, const tpti_dims *dims, tpti_plan *plan) {
  *params = (tpti_params){.slot_count = 2};
  build(params, dims);
  while (params->slot_count / 2 < params->tensor_count) params->slot_count *= 2;
  params->tensors = tpti_place(plan, params->tensor_count, sizeof *params->tensors);
  params->slots = tpti_place(plan, params->slot_count, sizeof *params->slots);
  if (!params->tensors) return;
  build(params, dims);
  fill_slots(params);
}

tpti_block_params tpti_params_block(const tpti_params *p, float *base, size_t layer) {
  float *block = base + p->block_first + layer * p->block_stride;
  return (tpti_block_params){.qkv = block + p->qkv,
                             .o = block + p->o,
                             .gate_up = block + p->gate_up,
                             .down = block + p->down,
                             .n1 = block + p->n1,
                             .n2 = block + p->n2,
                             .theta = p->theta == SIZE_MAX ? NULL : block + p->theta};
}

const tpti_tensor *tpti_params_find(const tpti_params *params, const char *name) {
  size_t slot = *slot_of(params, name);
  return slot ? &params->tensors[slot - 1] : NULL;
}
