/* The chain: an item begins when all stages before its own are done, with any number of threads. */
#include "base/chain.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "support/runner.h"

enum { STAGES = 40, MOST_WIDTH = 9, ITEMS = STAGES * MOST_WIDTH };

/* Items at which a run is stopped, in turn: some stages come behind the last of them. */
enum { STOPS = 100 };

/* Stages of 1 to MOST_WIDTH items; each item writes the number of items that were done. */
typedef struct work {
  size_t first[STAGES + 1], stage_of[ITEMS];
  atomic_size_t done, fetched, early, late;
  atomic_int seen[ITEMS];
  size_t slow;          /* rounds of an idle loop an item takes */
  size_t pieces[ITEMS]; /* asked for; by the thread that does the item */
  int plain[ITEMS];     /* written by an item, read by those of later stages without a lock */
  /* Where the run is stopped: by the calling thread, which alone may touch it, at its first item
   * from `stop_at` on; or by whichever thread does `stop_at`, with a cancel. */
  size_t stop_at;
  tpti_run *stop; /* NULL: not by the calling thread */
  pthread_t caller;
  atomic_int *cancel; /* NULL: not with a cancel */
  atomic_bool stopped;
} work;

static size_t first_of(const work *w, size_t item) { return w->first[w->stage_of[item]]; }

/* A thread that was told to stop takes no more items. */
static void look_for_stop(work *w, size_t item) {
  if (!pthread_equal(pthread_self(), w->caller)) return;
  if (w->stop->stopped) atomic_fetch_add(&w->late, 1);
  if (item < w->stop_at) return;
  w->stop->stopped = true;
  atomic_store(&w->stopped, true);
}

static size_t stage(const void *argument, size_t item) {
  work *w = (work *)(uintptr_t)argument;
  if (w->stop) look_for_stop(w, item);
  return first_of(w, item);
}

/* An item has item % 5 pieces, each of them once and in its order; none is asked for after its end,
 * nor when the item has been done. */
static bool fetch(const void *argument, size_t item, size_t piece) {
  work *w = (work *)(uintptr_t)argument;
  if (piece != w->pieces[item]++ || piece > item % 5 || w->plain[item])
    atomic_fetch_add(&w->late, 1);
  atomic_fetch_add(&w->fetched, 1);
  return piece < item % 5;
}

static void do_item(void *argument, size_t item, void *scratch) {
  work *w = argument;
  volatile size_t idle = 0;
  size_t first = first_of(w, item);
  (void)scratch;
  /* Or the calling thread might find nothing left to stop at. */
  while (w->stop && item >= w->stop_at && !atomic_load(&w->stopped)) sched_yield();
  if (atomic_load(&w->done) < first) atomic_fetch_add(&w->early, 1);
  for (size_t i = 0; i < first; i++)
    if (!w->plain[i]) atomic_fetch_add(&w->early, 1);
  while (idle < w->slow) idle++;
  w->plain[item] = 1;
  atomic_fetch_add(&w->seen[item], 1);
  atomic_fetch_add(&w->done, 1);
  if (w->cancel && item == w->stop_at) atomic_store(w->cancel, 1);
}

static size_t prepare(work *w, size_t seed) {
  size_t items = 0;
  memset(w, 0, sizeof *w);
  for (size_t s = 0; s < STAGES; s++) {
    size_t width = (s * 7 + seed) % 3 == 0 ? 1 : (s * 5 + seed) % MOST_WIDTH + 1;
    w->first[s] = items;
    while (width--) w->stage_of[items++] = s;
  }
  return items;
}

static tpti_chain chain_of(work *w, size_t items) {
  return (tpti_chain){items, stage, fetch, do_item, w};
}

START_TEST(stages_follow_each_other) {
  static const int32_t threads[] = {1, 2, 3, 7, 40};
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  static work w;
  tpti_pool_set_threads(pool, threads[_i]);
  for (size_t round = 0; round < 200; round++) {
    size_t items = prepare(&w, round);
    tpti_run run = {.pool = pool, .last_tick = tpti_now()};
    w.slow = round % 4 * 50;
    tpti_chain chain = chain_of(&w, items);
    tpti_chain_run(&run, &chain);
    ck_assert_uint_eq(atomic_load(&w.early), 0);
    ck_assert_uint_eq(atomic_load(&w.late), 0);
    ck_assert_uint_eq(atomic_load(&w.done), items);
    for (size_t i = 0; i < items; i++) ck_assert_int_eq(atomic_load(&w.seen[i]), 1);
    if (threads[_i] == 1) ck_assert_uint_eq(atomic_load(&w.fetched), 0);
  }
  tpti_pool_destroy(pool);
}
END_TEST

/* No item began early, and those that were done are the first of the chain; how many. */
static size_t done_in_order(work *w, size_t items) {
  size_t done = atomic_load(&w->done);
  ck_assert_uint_eq(atomic_load(&w->early), 0);
  ck_assert_uint_eq(atomic_load(&w->late), 0);
  for (size_t i = 0; i < items; i++) ck_assert_int_eq(atomic_load(&w->seen[i]), i < done);
  return done;
}

/* Wherever it is stopped it ends: the calling thread goes no further, others may do what is left.
 */
START_TEST(a_stopped_chain_ends) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  static work w;
  tpti_pool_set_threads(pool, 1 + _i);
  for (size_t at = 0; at < STOPS; at++) {
    size_t items = prepare(&w, at);
    tpti_run run = {.pool = pool, .last_tick = tpti_now()};
    w.stop = &run;
    w.stop_at = at;
    w.caller = pthread_self();
    tpti_chain chain = chain_of(&w, items);
    tpti_chain_run(&run, &chain);
    size_t done = done_in_order(&w, items);
    ck_assert(atomic_load(&w.stopped) && run.stopped);
    ck_assert_uint_gt(done, at);
    if (_i == 0) ck_assert_uint_eq(done, at + 1);
  }
  tpti_pool_destroy(pool);
}
END_TEST

START_TEST(a_chain_stopped_before_does_nothing) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  static work w;
  tpti_pool_set_threads(pool, 1 + _i);
  size_t items = prepare(&w, 0);
  tpti_run run = {.pool = pool, .last_tick = tpti_now(), .stopped = true};
  tpti_chain chain = chain_of(&w, items);
  tpti_chain_run(&run, &chain);
  ck_assert_uint_eq(done_in_order(&w, items), 0);
  tpti_pool_destroy(pool);
}
END_TEST

/* As a cancel from another thread does. Stages follow the one of `at`, so that the calling thread
 * looks again after it. */
START_TEST(a_cancelled_chain_ends) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  static work w;
  tpti_pool_set_threads(pool, 1 + _i);
  for (size_t at = 0; at < STOPS; at++) {
    size_t items = prepare(&w, at);
    atomic_int cancel = 0;
    tpti_run run = {.pool = pool, .last_tick = tpti_now(), .cancel = &cancel};
    tpti_chain chain = chain_of(&w, items);
    w.cancel = &cancel;
    w.stop_at = at;
    tpti_chain_run(&run, &chain);
    size_t done = done_in_order(&w, items);
    ck_assert_int_eq(tpti_run_status(&run), TPT_E_CANCELLED);
    ck_assert_uint_gt(done, at);
    if (_i == 0) ck_assert_uint_eq(done, at + 1);
  }
  tpti_pool_destroy(pool);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/chain");
  TCase *tests = tcase_create("chain");
  tcase_add_loop_test(tests, stages_follow_each_other, 0, 5);
  tcase_add_loop_test(tests, a_stopped_chain_ends, 0, 3);
  tcase_add_loop_test(tests, a_chain_stopped_before_does_nothing, 0, 3);
  tcase_add_loop_test(tests, a_cancelled_chain_ends, 0, 3);
  suite_add_tcase(s, tests);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
