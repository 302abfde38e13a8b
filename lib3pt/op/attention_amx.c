/* When attention goes on AMX tiles, and what its forward and backward there share
 * (op/attention_amx.h). */
#include "op/attention_amx.h"

enum {
  STRIP = TPTI_SCORE_STRIP,
  CHUNK = TPTI_SCORE_CHUNK,
  SHORTEST = 16, /* queries; fewer leave most of a strip empty */
  LINE = 16      /* floats of a cache line */
};

const tpti_scores *tpti_attention_amx_choose(const tpti_run *run, const tpti_attention *a) {
  bool fits = a->T >= SHORTEST && a->E <= TPTI_ATTENTION_AMX_WIDEST;
  return run->precision == TPTI_PRECISION_BF16 && fits ? tpti_scores_amx() : NULL;
}

/* Channels with those that are 0 up to a whole tile. */
static size_t padded(const tpti_attention *a) { return tpti_attention_amx_depth(a) * STRIP; }

size_t tpti_attention_amx_span(const tpti_attention *a) {
  size_t fit = TPTI_ATTENTION_AMX_KEYS / padded(a) / CHUNK * CHUNK;
  return tpti_least(TPTI_ATTENTION_AMX_MOST, fit) / STRIP;
}

tpti_attention_cut tpti_attention_amx_cut(const tpti_attention *a) {
  size_t fit = TPTI_ATTENTION_AMX_QUERIES / TPTI_ATTENTION_AMX_BLOCK / padded(a);
  return tpti_attention_cut_of(a, TPTI_ATTENTION_AMX_BLOCK, 1,
                               tpti_least(TPTI_ATTENTION_AMX_HEADS, fit));
}

void tpti_attention_amx_fetch(const float *x, size_t stride, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++)
    for (size_t e = 0; e < E; e += LINE) __builtin_prefetch(x + i * stride + e);
}

void tpti_attention_amx_fetch_written(const float *x, size_t stride, size_t rows, size_t E) {
  for (size_t i = 0; i < rows; i++)
    for (size_t e = 0; e < E; e += LINE) __builtin_prefetch(x + i * stride + e, 1);
}
