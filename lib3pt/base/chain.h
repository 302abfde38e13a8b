/* Work in stages that follow each other so fast that a thread is not worth sending to sleep between
 * them: one token through a network is some hundred stages of 5 to 500 us, and waking a thread
 * costs 10 to 40. All stages are one tpti_parallel; an item waits until those of the stages before
 * it are done, and before it sleeps it does what can be done early: `fetch` what it will read. */
#ifndef TPTI_BASE_CHAIN_H
#define TPTI_BASE_CHAIN_H

#include "base/threads.h"

typedef struct tpti_chain {
  size_t items; /* of all stages, stage after stage */
  /* The first item of the stage that `item` is of: it begins when all below that are done. */
  size_t (*stage)(const void *argument, size_t item);
  /* What `item` can do before: it writes nothing. May be done in vain. */
  void (*fetch)(const void *argument, size_t item);
  tpti_task task;
  void *argument;
} tpti_chain;

/* Does all items, as tpti_parallel does; where the run is stopped, the first of them. */
void tpti_chain_run(tpti_run *run, const tpti_chain *chain);

#endif
