/* Stages: a count of items done, and threads that wait for it. Items are taken in their order, so
 * whatever an item waits for has been taken by a thread that is at work on it, or waits for less:
 * the chain cannot stand still, with any number of threads. */
#include "base/chain.h"

#include <pthread.h>

typedef struct state {
  const tpti_chain *chain;
  atomic_size_t done;   /* items */
  atomic_size_t wanted; /* the least that somebody sleeps for, or SIZE_MAX; set under the lock */
  pthread_mutex_t lock;
  pthread_cond_t reached;
} state;

static bool may_begin(state *s, size_t first) { return atomic_load(&s->done) >= first; }

/* Whoever sleeps says so before it looks at the count, and whoever counts looks for sleepers after
 * it: one of the two sees the other. */
static void sleep_until(state *s, size_t first) {
  pthread_mutex_lock(&s->lock);
  for (;;) {
    if (first < atomic_load(&s->wanted)) atomic_exchange(&s->wanted, first);
    if (may_begin(s, first)) break;
    pthread_cond_wait(&s->reached, &s->lock);
  }
  pthread_mutex_unlock(&s->lock);
}

static void count_one(state *s) {
  size_t done = atomic_fetch_add(&s->done, 1) + 1;
  if (done < atomic_load(&s->wanted)) return;
  pthread_mutex_lock(&s->lock);
  atomic_exchange(&s->wanted, SIZE_MAX); /* who still has to wait says so again */
  pthread_mutex_unlock(&s->lock);
  pthread_cond_broadcast(&s->reached);
}

/* Until the item may begin, or nothing is left to fetch. */
static void fetch_until(state *s, size_t item, size_t first) {
  const tpti_chain *c = s->chain;
  size_t piece = 0;
  while (!may_begin(s, first))
    if (!c->fetch(c->argument, item, piece++)) return;
}

static void do_item(void *argument, size_t item, void *scratch) {
  state *s = argument;
  const tpti_chain *c = s->chain;
  size_t first = c->stage(c->argument, item);
  fetch_until(s, item, first);
  if (!may_begin(s, first)) sleep_until(s, first);
  c->task(c->argument, item, scratch);
  count_one(s);
}

void tpti_chain_run(tpti_run *run, const tpti_chain *chain) {
  state s = {
      .chain = chain, .lock = PTHREAD_MUTEX_INITIALIZER, .reached = PTHREAD_COND_INITIALIZER};
  atomic_init(&s.done, 0);
  atomic_init(&s.wanted, SIZE_MAX);
  tpti_parallel(run, chain->items, do_item, &s);
  pthread_cond_destroy(&s.reached);
  pthread_mutex_destroy(&s.lock);
}
