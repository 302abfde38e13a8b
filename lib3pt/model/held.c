/* Parameters in smaller forms (held.h). */
#include "model/held.h"

#include <math.h>
#include <string.h>

/* ---- places ---- */

/* Numbers of a network that its places are counted by. */
typedef struct counts {
  size_t embedding;                /* V D: the first matrix, and the last has as many */
  size_t block, block_vectors;     /* of one block: what its matrices have, and the rest */
  size_t wide_scales, deep_scales; /* of a row of D, of F */
  size_t learned;                  /* of the DC profile */
} counts;

static counts counts_of(const tpti_params *p, const tpti_dims *d) {
  return (counts){.embedding = d->V * d->D,
                  .block = p->n1, /* a block's matrices come first */
                  .block_vectors = p->block_stride - p->n1,
                  .wide_scales = tpti_scales(d->D),
                  .deep_scales = tpti_scales(d->F),
                  .learned = p->dc_profile == SIZE_MAX ? 0 : d->max_seq_len};
}

/* Scales of one block: all its maps but the last read rows of D. */
static size_t block_scales(const counts *c, const tpti_params *p, const tpti_dims *d) {
  return p->down / d->D * c->wide_scales + d->D * c->deep_scales;
}

void tpti_held_layout(tpti_held *held, tpti_form form, const tpti_params *p, const tpti_dims *d,
                      tpti_plan *plan) {
  const counts c = counts_of(p, d);
  *held = (tpti_held){.form = form};
  if (form == TPTI_FORM_F32) {
    held->matrices = tpti_place(plan, p->count, sizeof(float));
    return;
  }
  held->matrices = tpti_place(plan, 2 * c.embedding + d->L * c.block, tpti_form_bytes(form));
  if (form == TPTI_FORM_INT8)
    held->scales = tpti_place(plan, 2 * d->V * c.wide_scales + d->L * block_scales(&c, p, d),
                              sizeof *held->scales);
  held->vectors =
      tpti_place(plan, c.learned + d->L * c.block_vectors + d->D, sizeof *held->vectors);
}

/* Where the matrix at `offset` begins among the matrices, and its scales among theirs. */
static void find_matrix(const tpti_params *p, const tpti_dims *d, size_t offset, size_t *at,
                        size_t *scale) {
  const counts c = counts_of(p, d);
  size_t block = block_scales(&c, p, d), first = d->V * c.wide_scales;
  if (offset < c.embedding) {
    *at = offset;
    *scale = offset / d->D * c.wide_scales;
  } else if (offset >= p->head) {
    *at = c.embedding + d->L * c.block + (offset - p->head);
    *scale = first + d->L * block + (offset - p->head) / d->D * c.wide_scales;
  } else {
    size_t l = (offset - p->block_first) / p->block_stride;
    size_t within = (offset - p->block_first) % p->block_stride;
    *at = c.embedding + l * c.block + within;
    *scale = first + l * block + within / d->D * c.wide_scales;
  }
}

tpti_matrix tpti_held_matrix(const tpti_held *held, const tpti_params *p, const tpti_dims *d,
                             size_t offset) {
  size_t at = offset, scale = 0;
  if (held->form != TPTI_FORM_F32) find_matrix(p, d, offset, &at, &scale);
  return (tpti_matrix){.form = held->form,
                       .values = (const char *)held->matrices + at * tpti_form_bytes(held->form),
                       .scales = held->scales ? held->scales + scale : NULL};
}

float *tpti_held_vector(const tpti_held *held, const tpti_params *p, const tpti_dims *d,
                        size_t offset) {
  const counts c = counts_of(p, d);
  if (held->form == TPTI_FORM_F32) return (float *)held->matrices + offset;
  if (offset < p->block_first) return held->vectors + (offset - c.embedding);
  if (offset >= p->norm_f)
    return held->vectors + c.learned + d->L * c.block_vectors + (offset - p->norm_f);
  size_t l = (offset - p->block_first) / p->block_stride;
  size_t within = (offset - p->block_first) % p->block_stride;
  return held->vectors + c.learned + l * c.block_vectors + (within - c.block);
}

/* ---- rounding ---- */

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40); /* quiet: rounding could lose it */
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The scale of a block; not finite where one of the values is not. */
static float scale_of(const float *values, size_t count) {
  float most = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) return NAN;
    if (fabsf(values[i]) > most) most = fabsf(values[i]);
  }
  return most / 127;
}

/* The nearest whole number, ties to even; a subnormal scale may leave it beyond the range. */
static int8_t to_int8(float value, float scale) {
  if (!(scale > 0)) return scale == 0 ? 0 : 1; /* 1: NaN stays */
  float q = nearbyintf(value / scale);
  return (int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
}

static void store_int8(int8_t *out, float *scales, const float *values, size_t count) {
  for (size_t i = 0; i < count; i += TPTI_SCALE_BLOCK) {
    size_t n = count - i < TPTI_SCALE_BLOCK ? count - i : TPTI_SCALE_BLOCK;
    float scale = scales[i / TPTI_SCALE_BLOCK] = scale_of(values + i, n);
    for (size_t j = i; j < i + n; j++) out[j] = to_int8(values[j], scale);
  }
}

void tpti_held_store(const tpti_matrix *m, size_t columns, size_t row, size_t first,
                     const float *values, size_t count) {
  size_t at = row * columns + first;
  void *out = (char *)(uintptr_t)m->values + at * tpti_form_bytes(m->form);
  switch (m->form) {
  case TPTI_FORM_F32:
    memcpy(out, values, count * sizeof *values);
    break;
  case TPTI_FORM_BF16:
    for (size_t i = 0; i < count; i++) ((uint16_t *)out)[i] = to_bf16(values[i]);
    break;
  case TPTI_FORM_INT8:
    store_int8(
        out, (float *)(uintptr_t)m->scales + row * tpti_scales(columns) + first / TPTI_SCALE_BLOCK,
        values, count);
    break;
  }
}
