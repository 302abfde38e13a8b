/* The learner on a thread of its own: a queue of lines goes in, a status comes out. */
#ifndef WORKER_H
#define WORKER_H

#include "learn.h"
#include "suggest.h"

enum { STATUS_MOST = 1024 };

typedef struct worker worker;

/* Starts the thread, which alone uses the learner until worker_end.
 *   wake    called on it when worker_status has something new */
worker *worker_start(learner *l, suggester *s, void (*wake)(void));

/* A line to be learned, and to be forgotten by the caller. Does not wait. */
void worker_add(worker *w, const char *line);

/* text    result [STATUS_MOST]: of the last line scored, before it why nothing can be saved
 * returns how many lines are still to be learned */
size_t worker_status(worker *w, char *text);

/* Leaves out the rest of the steps and lines. */
void worker_hurry(worker *w);

/* Ends the thread; what is not learned yet is left out. */
void worker_end(worker *w);

#endif
