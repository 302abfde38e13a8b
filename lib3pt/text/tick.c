/* Telling and asking in the middle of work on text. */
#include "text/tick.h"

tpt_status tpti_tick(tpti_run *run) {
  return !run || tpti_run_tick(run) ? TPT_OK : tpti_run_status(run);
}

void tpti_advance(tpti_run *run, double fraction) {
  if (!run) return;
  double done = run->from + (run->to - run->from) * fraction;
  if (!(run->done >= done)) run->done = done; /* NaN: nothing was told yet */
}
