/* Stages: a count of items done, and threads that wait for it. Items are taken in their order, so
 * whatever an item waits for has been taken by a thread that is at work on it, or waits for less:
 * the chain cannot stand still, with any number of threads. */
#include "base/chain.h"

#include <pthread.h>

typedef struct state {
  const tpti_chain *chain;
  pthread_mutex_t lock; /* of the two below */
  pthread_cond_t reached;
  size_t done, wanted; /* items done; the least that somebody sleeps for, or SIZE_MAX */
} state;

static bool may_begin(state *s, size_t first) {
  pthread_mutex_lock(&s->lock);
  bool yes = s->done >= first;
  pthread_mutex_unlock(&s->lock);
  return yes;
}

static void sleep_until(state *s, size_t first) {
  pthread_mutex_lock(&s->lock);
  while (s->done < first) {
    if (first < s->wanted) s->wanted = first;
    pthread_cond_wait(&s->reached, &s->lock);
  }
  pthread_mutex_unlock(&s->lock);
}

static void count_one(state *s) {
  pthread_mutex_lock(&s->lock);
  bool wake = ++s->done >= s->wanted;
  if (wake) s->wanted = SIZE_MAX;
  pthread_mutex_unlock(&s->lock);
  if (wake) pthread_cond_broadcast(&s->reached);
}

static void do_item(void *argument, size_t item, void *scratch) {
  state *s = argument;
  const tpti_chain *c = s->chain;
  size_t first = c->stage(c->argument, item);
  if (!may_begin(s, first)) {
    c->fetch(c->argument, item);
    sleep_until(s, first);
  }
  c->task(c->argument, item, scratch);
  count_one(s);
}

void tpti_chain_run(tpti_run *run, const tpti_chain *chain) {
  state s = {.chain = chain,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .reached = PTHREAD_COND_INITIALIZER,
             .wanted = SIZE_MAX};
  tpti_parallel(run, chain->items, do_item, &s);
  pthread_cond_destroy(&s.reached);
  pthread_mutex_destroy(&s.lock);
}
