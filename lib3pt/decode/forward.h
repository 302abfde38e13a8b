/* The network's forward pass over a few rows with a key/value cache. */
#ifndef TPTI_DECODE_FORWARD_H
#define TPTI_DECODE_FORWARD_H

#include "decode/sequence.h"

/* Rows that go through the network together: consecutive positions of one sequence (a prompt), or
 * one row for each of several sequences. */
typedef struct tpti_batch {
  size_t count;
  const int32_t *tokens;
  tpti_sequence **sequences; /* [1], or [count] */
  bool many;                 /* a sequence for each row */
  size_t ahead;              /* rows of this prompt that went through before it */
  size_t total;              /* rows of the whole call, for progress */
} tpti_batch;

/* Leaves what the head reads in work->n [count, D], and keys and values in the caches. */
void tpti_decode_forward(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                         const tpti_batch *rows);

/* logits [count, V] of rows [first, first + count) of the last forward; alone: with the bits that
 * each row has alone. */
void tpti_decode_head(tpti_run *run, const tpti_network *net, const tpti_decode_work *work,
                      size_t first, size_t count, bool alone, float *logits);

#endif
