/* Work in stages that follow each other so fast that a thread is not worth sending to sleep between
 * them: one token through a network is some hundred stages of 5 to 500 us, and waking a thread
 * costs 10 to 40. All stages are one tpti_parallel; an item waits until those of the stages before
 * it are done. A thread that waits does what can be done early, and sleeps only when nothing of
 * that is left: it fetches what will be read, piece by piece, and looks after each. */
#ifndef TPTI_BASE_CHAIN_H
#define TPTI_BASE_CHAIN_H

#include "base/threads.h"

typedef struct tpti_chain {
  size_t items; /* of all stages, stage after stage */
  /* The first item of the stage that `item` is of: it begins when all below that are done. */
  size_t (*stage)(const void *argument, size_t item);
  /* A piece, 0 and on, of what `item` can do before, some hundred nanoseconds long: it writes
   * nothing and may be done in vain. false: there is no such piece. */
  bool (*fetch)(const void *argument, size_t item, size_t piece);
  tpti_task task;
  void *argument;
} tpti_chain;

/* Does all items, as tpti_parallel does; where the run is stopped, the first of them. */
void tpti_chain_run(tpti_run *run, const tpti_chain *chain);

#endif
