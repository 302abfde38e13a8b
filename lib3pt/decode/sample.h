/* Choosing a token from logits: temperature, then top-k, then top-p. */
#ifndef TPTI_DECODE_SAMPLE_H
#define TPTI_DECODE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct tpti_sampler {
  double temperature; /* 0: greedy */
  size_t top_k;       /* 0: off */
  double top_p;       /* 1: off */
  uint64_t random;    /* state */
  uint32_t *order;    /* [V] work: a heap of ids */
  double *weight;     /* [V] work: exp((z - max) / temperature) */
} tpti_sampler;

void tpti_sampler_layout(tpti_sampler *sampler, size_t V, tpti_plan *plan);

/* The token, 0..V-1; TPT_E_NUMERIC where a logit is NaN or the largest is not finite. Draws one
 * random number unless greedy. Ties go to the lower id. */
tpt_status tpti_sample(tpti_sampler *sampler, const float *logits, size_t V, int32_t *token);

#endif
