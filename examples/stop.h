/* Ctrl-C and termination signals: the first is ours, and ends a training where it can be saved; a
 * second one ends the program at once. */
#ifndef EXAMPLES_STOP_H
#define EXAMPLES_STOP_H

#include "call.h"

enum { STOPPED = 130 }; /* what a shell calls a program that Ctrl-C ended */

static volatile sig_atomic_t interrupted;
static int saving; /* a save is finished, whatever was pressed */

static inline void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

static inline int32_t progress(void *user, const void *handle, double done) {
  (void)user, (void)handle, (void)done;
  return interrupted && !saving;
}

static inline void catch_signals(tpt_context *context) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  check(tpt_context_set_progress(context, progress, NULL, NULL));
}

#endif
