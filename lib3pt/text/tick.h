/* How long work on text tells where it is and learns that it is to end. A run may be NULL: then
 * nobody asks. */
#ifndef TPTI_TEXT_TICK_H
#define TPTI_TEXT_TICK_H

#include "base/buffer.h"
#include "base/threads.h"

enum { TPTI_TICK_ITEMS = 1 << 9 }; /* a character, a symbol, a heap entry: 5 ms at worst */

/* TPT_E_CANCELLED where the run was stopped. */
tpt_status tpti_tick(tpti_run *run);

/* How much of the run's span is done, 0 to 1; never less than was told before. */
void tpti_advance(tpti_run *run, double fraction);

/* tpti_buffer_append, which asks while a long buffer is copied to a larger place. */
bool tpti_append(tpti_run *run, tpti_buffer *buffer, const void *data, size_t bytes);

/* memset to 0, all of it wherever the run is stopped. */
void tpti_clear(tpti_run *run, void *memory, size_t bytes);

/* Before item `i` of `count`: now and then tells and asks. false: stopped, and stays so. */
static inline bool tpti_tick_item(tpti_run *run, size_t i, size_t count) {
  if ((i + 1) % TPTI_TICK_ITEMS || !run) return true;
  tpti_advance(run, (double)i / (double)count);
  return tpti_run_tick(run);
}

/* The same where nobody knows how many there are. */
static inline bool tpti_tick_some(tpti_run *run, size_t i) {
  return (i + 1) % TPTI_TICK_ITEMS || !run || tpti_run_tick(run);
}

#endif
