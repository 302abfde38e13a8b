/* Ctrl-C, termination signals and a terminal that was closed: the first is ours, and ends a
 * training where it can be saved; a second Ctrl-C or termination ends the program at once. */
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

/* A closed terminal sends SIGHUP from the system and from the shell: it never ends the save. Under
 * nohup it is ignored, and stays so. What reads the output may be gone with the terminal, or by the
 * same Ctrl-C: writing to it fails then, and does not end the program. */
static inline void catch_signals(tpt_context *context) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  struct sigaction before;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_flags = SA_RESTART;
  int hung_up = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
  if (hung_up) sigaction(SIGHUP, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  check(tpt_context_set_progress(context, progress, NULL, NULL));
}

#endif
