/* The network's forward pass over some rows with a key/value cache. */
#ifndef TPTI_DECODE_FORWARD_H
#define TPTI_DECODE_FORWARD_H

#include "decode/sequence.h"

/* Up to so many rows of a prompt a product is bound by reading the weights once; above, by
 * arithmetic. */
enum { TPTI_FEW_ROWS = 4 };

/* The most rows of different sequences that go through together: their activations and a stripe of
 * weights stay in the second-level cache. */
enum { TPTI_MANY_ROWS = 64 };

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

/* A part of a prompt, operation by operation. Leaves what the head reads in work->n [count, D], and
 * keys and values in the cache. */
void tpti_decode_forward(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                         const tpti_batch *rows);

/* logits [count, V] of rows [first, first + count) of the last forward. */
void tpti_decode_head(tpti_run *run, const tpti_network *net, const tpti_decode_work *work,
                      size_t first, size_t count, float *logits);

/* Few rows, all of the network at once (few.c): TPTI_FEW_ROWS of a prompt or TPTI_MANY_ROWS
 * sequences. Logits go to the spares of the sequences: of each row where there are many, else of
 * the last. A row of many has the bits it has alone. */
void tpti_decode_few(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                     const tpti_batch *rows);

/* x [D] = the embedding of a token at a position, with DC injection, in the form it is held. */
void tpti_decode_embed(const tpti_run *run, const tpti_network *net, float *x, int32_t token,
                       size_t position);

#endif
