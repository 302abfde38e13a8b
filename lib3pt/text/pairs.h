/* What training knows of every pair of adjacent symbols: how often it stands in the text, and
 * where. Counts change as symbols merge; the commonest pair comes from a heap whose entries are put
 * right when they come out. */
#ifndef TPTI_TEXT_PAIRS_H
#define TPTI_TEXT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "text/tick.h"

typedef struct tpti_pair {
  uint32_t left, right;
  int64_t count;
  uint32_t first, last; /* nodes of its places; TPTI_NO_NODE where there is none */
  bool raised;          /* its count grew since the heap was told */
  bool merged;          /* it was popped before */
} tpti_pair;

#define TPTI_NO_NODE UINT32_MAX

typedef struct tpti_pairs {
  tpti_buffer pairs, slots, nodes, heap, raised;
  size_t count, mask;
  uint32_t free_node; /* nodes of merged pairs are used again */
  tpti_run *run;      /* asked in long loops, which it may end: look at it then; NULL after init */
} tpti_pairs;

void tpti_pairs_init(tpti_pairs *pairs, const tpti_memory *memory);
void tpti_pairs_free(tpti_pairs *pairs);

/* Room for so many places. false: no memory. */
bool tpti_pairs_reserve(tpti_pairs *pairs, size_t places);

/* `times` more of the pair at this place; TPTI_NO_NODE: fewer, wherever. false: no memory. */
bool tpti_pairs_add(tpti_pairs *pairs, uint32_t left, uint32_t right, int64_t times,
                    uint32_t place);

/* The pair stands nowhere any more. */
void tpti_pairs_forget(tpti_pairs *pairs, uint32_t left, uint32_t right);

/* Tells the heap what has grown. */
bool tpti_pairs_settle(tpti_pairs *pairs);

/* Takes the commonest pair out; of equals the one of the smaller left id, then right id. Appends
 * its places (uint32_t; some are no longer of this pair) and forgets them. false: none is left. */
bool tpti_pairs_pop(tpti_pairs *pairs, tpti_pair *pair, tpti_buffer *places);

#endif
