/* The pool: every item once, whatever the number of threads, hosts, forks and refusals. */
#include "base/threads.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/fork.h"
#include "support/runner.h"

enum { ITEMS = 300 };

/* ThreadSanitizer ends a child that starts threads unless it is told not to. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

typedef struct work {
  atomic_int seen[ITEMS];
  atomic_int elsewhere; /* items on another thread than the caller's */
  pthread_t caller;
  size_t slow; /* rounds of an idle loop an item takes */
} work;

static void do_item(void *argument, size_t item, void *scratch) {
  work *w = argument;
  volatile size_t spin = 0;
  while (spin < w->slow) spin++;
  if (scratch) memset(scratch, (int)item, 4096);
  atomic_fetch_add(&w->seen[item], 1);
  if (!pthread_equal(pthread_self(), w->caller)) atomic_fetch_add(&w->elsewhere, 1);
}

static tpti_run run_on(tpti_pool *pool) {
  return (tpti_run){.pool = pool, .last_tick = tpti_now()};
}

/* Does `items` items and checks that each was done once; how many on other threads. */
static int use(tpti_pool *pool, size_t items, size_t slow) {
  work w = {.caller = pthread_self(), .slow = slow};
  tpti_run run = run_on(pool);
  tpti_parallel(&run, items, do_item, &w);
  size_t right = 0;
  while (right < ITEMS && atomic_load(&w.seen[right]) == (right < items)) right++;
  ck_assert_uint_eq(right, ITEMS);
  ck_assert_int_eq(tpti_run_status(&run), TPT_OK);
  return atomic_load(&w.elsewhere);
}

START_TEST(every_item_is_done_once) {
  static const int32_t threads[] = {1, 2, 3, 7, 64};
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
    tpti_pool_set_threads(pool, threads[i]);
    ck_assert_int_eq(tpti_pool_threads(pool), threads[i]);
    for (size_t items = 0; items <= ITEMS; items = items * 3 + 1) use(pool, items, 0);
    for (int round = 0; round < 100; round++) use(pool, 2 + (size_t)round % 5, 10);
  }
  use(NULL, ITEMS, 0);
  tpti_pool_destroy(pool);
}
END_TEST

START_TEST(one_item_or_one_thread_starts_nothing) {
  tpti_test_allocator a;
  tpti_test_allocator_init(&a);
  tpti_pool *pool = tpti_pool_create(&a.memory);
  tpti_pool_set_threads(pool, 3);
  ck_assert_int_eq(use(pool, 1, 0), 0);
  ck_assert_uint_eq(atomic_load(&a.total), 1);
  tpti_pool_set_threads(pool, 1);
  ck_assert_int_eq(use(pool, ITEMS, 0), 0);
  ck_assert_uint_eq(atomic_load(&a.total), 1);
  tpti_pool_destroy(pool);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(the_bytes_are_as_foretold) {
  for (int32_t threads = 1; threads <= 5; threads++) {
    tpti_test_allocator a;
    tpti_test_allocator_init(&a);
    tpti_pool *pool = tpti_pool_create(&a.memory);
    tpti_pool_set_threads(pool, threads);
    use(pool, ITEMS, 0);
    size_t calls = atomic_load(&a.total);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), tpti_pool_bytes(threads));
    use(pool, ITEMS, 0);
    ck_assert_uint_eq(atomic_load(&a.total), calls);
    tpti_pool_set_threads(pool, 0);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), tpti_pool_bytes(1));
    tpti_pool_destroy(pool);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
}
END_TEST

START_TEST(a_refusal_makes_fewer_threads) {
  for (size_t n = 1; n <= 6; n++) {
    tpti_test_allocator a;
    tpti_test_allocator_init(&a);
    tpti_test_allocator_fail_at(&a, n);
    tpti_pool *pool = tpti_pool_create(&a.memory);
    ck_assert_int_eq(pool == NULL, n == 1);
    if (!pool) continue;
    tpti_pool_set_threads(pool, 4);
    use(pool, ITEMS, 0);
    use(pool, ITEMS, 0);
    int32_t wanted = n < 4 ? 1 : (int32_t)n - 2; /* pool, table, then a scratch a worker */
    ck_assert_int_eq(tpti_pool_threads(pool), wanted);
    tpti_pool_set_threads(pool, 2);
    tpti_test_allocator_fail_at(&a, 0);
    use(pool, ITEMS, 0);
    ck_assert_int_eq(tpti_pool_threads(pool), 2);
    tpti_pool_destroy(pool);
    ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
  }
}
END_TEST

static void use_pool_within(void *argument, size_t item, void *scratch) {
  (void)item;
  (void)scratch;
  use(argument, 20, 0);
}

START_TEST(a_use_within_a_use_runs_alone) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  tpti_pool_set_threads(pool, 3);
  tpti_run run = run_on(pool);
  tpti_parallel(&run, 10, use_pool_within, pool);
  tpti_pool_destroy(pool);
}
END_TEST

static void *use_often(void *argument) {
  for (int i = 0; i < 60; i++) use(argument, 1 + (size_t)i % 40, 100);
  return NULL;
}

START_TEST(hosts_share_a_pool) {
  pthread_t hosts[4];
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  tpti_pool_set_threads(pool, 3);
  for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&hosts[i], NULL, use_often, pool), 0);
  for (int i = 0; i < 4; i++) pthread_join(hosts[i], NULL);
  tpti_pool_destroy(pool);
}
END_TEST

/* In the child: 0 when it could use the pool with threads of its own, and give it back. */
static int child_uses(tpti_pool *pool) {
  int others = 0;
  for (int i = 0; i < 200 && others == 0; i++) others = use(pool, ITEMS, 20000);
  tpti_pool_destroy(pool);
  return others > 0 ? 0 : 1;
}

START_TEST(both_sides_of_a_fork_work) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  tpti_pool_set_threads(pool, 3);
  for (int before = 0; before < 2; before++) {
    int status = -1;
    if (before) use(pool, ITEMS, 0);
    pid_t child = tpti_test_fork();
    if (child == 0) _exit(child_uses(pool));
    use(pool, ITEMS, 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  tpti_pool_destroy(pool);
}
END_TEST

START_TEST(a_child_may_destroy_at_once) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  tpti_pool_set_threads(pool, 3);
  use(pool, ITEMS, 0);
  int status = -1;
  pid_t child = tpti_test_fork();
  if (child == 0) {
    tpti_pool_destroy(pool);
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  tpti_pool_destroy(pool);
}
END_TEST

typedef struct watch {
  atomic_int cancel, done;
  int calls, stop_at;
  const void *handle;
  double told;
} watch;

static void cancel_at_40(void *argument, size_t item, void *scratch) {
  watch *w = argument;
  (void)scratch;
  atomic_fetch_add(&w->done, 1);
  if (item == 40) atomic_store(&w->cancel, 1);
}

START_TEST(a_cancelled_run_stops_and_stays_stopped) {
  for (int32_t threads = 1; threads <= 3; threads += 2) {
    watch w = {0};
    tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
    tpti_pool_set_threads(pool, threads);
    tpti_run run = run_on(pool);
    run.cancel = &w.cancel;
    tpti_parallel(&run, 100000000, cancel_at_40, &w);
    int done = atomic_load(&w.done);
    ck_assert(done > 40 && done < 100000000);
    tpti_parallel(&run, 5, cancel_at_40, &w);
    ck_assert_int_eq(atomic_load(&w.done), done);
    ck_assert(!tpti_run_tick(&run));
    ck_assert_int_eq(tpti_run_status(&run), TPT_E_CANCELLED);
    tpti_pool_destroy(pool);
  }
}
END_TEST

static int32_t watch_progress(void *user, const void *handle, double done) {
  watch *w = user;
  w->handle = handle;
  w->told = done;
  return ++w->calls == w->stop_at;
}

/* The clock is given, not waited for: last_tick lies before or after the time of a call. */
START_TEST(progress_is_called_when_it_is_time) {
  watch w = {.stop_at = 2};
  tpti_run run = {.progress = watch_progress, .progress_user = &w, .handle = &w, .done = 0.25};
  run.last_tick = tpti_now() + INT64_C(3600000000000);
  ck_assert(tpti_run_tick(&run) && w.calls == 0);
  run.last_tick = tpti_now() - INT64_C(6000000);
  ck_assert(tpti_run_tick(&run) && w.calls == 1);
  ck_assert(w.handle == &w && w.told == 0.25);
  run.last_tick = 0;
  work items = {.caller = pthread_self()};
  tpti_parallel(&run, ITEMS, do_item, &items);
  ck_assert_int_eq(w.calls, 2);
  ck_assert_int_eq(atomic_load(&items.seen[0]), 0);
  ck_assert_int_eq(tpti_run_status(&run), TPT_E_CANCELLED);
  ck_assert(!tpti_run_tick(&run) && w.calls == 2);
}
END_TEST

static int32_t use_pool_in_progress(void *user, const void *handle, double done) {
  (void)handle;
  (void)done;
  use(user, ITEMS, 0);
  return 0;
}

START_TEST(a_progress_function_may_use_the_pool) {
  tpti_pool *pool = tpti_pool_create(&tpti_memory_default);
  tpti_pool_set_threads(pool, 3);
  tpti_run run = {.pool = pool, .progress = use_pool_in_progress, .progress_user = pool};
  work w = {.caller = pthread_self()};
  tpti_parallel(&run, ITEMS, do_item, &w);
  for (size_t i = 0; i < ITEMS; i++) ck_assert_int_eq(atomic_load(&w.seen[i]), 1);
  tpti_pool_destroy(pool);
}
END_TEST

/* Items that wait for each other: each of three threads has one of the first three. */
typedef struct meeting {
  pthread_barrier_t barrier;
  pthread_t caller;
  atomic_int late, wrong_rounding, open_to_signals, cancel;
  atomic_size_t done;
  void *scratch[3];
} meeting;

static bool meet(meeting *m, size_t item) {
  if (item < 3) pthread_barrier_wait(&m->barrier);
  return pthread_equal(pthread_self(), m->caller) != 0;
}

/* With a run of three threads that does `items`. */
static void hold_meeting(meeting *m, size_t items, tpti_task task, tpti_run run) {
  pthread_barrier_init(&m->barrier, NULL, 3);
  m->caller = pthread_self();
  run.pool = tpti_pool_create(&tpti_memory_default);
  run.cancel = &m->cancel;
  tpti_pool_set_threads(run.pool, 3);
  tpti_parallel(&run, items, task, m);
  ck_assert_int_eq(tpti_run_status(&run) != TPT_OK, atomic_load(&m->cancel) != 0);
  tpti_pool_destroy(run.pool);
  pthread_barrier_destroy(&m->barrier);
}

static void be_late(void *argument, size_t item, void *scratch) {
  meeting *m = argument;
  m->scratch[item] = scratch;
  if (!meet(m, item)) usleep(20000);
  atomic_fetch_add(&m->late, 1);
}

START_TEST(the_caller_waits_for_the_last) {
  meeting m = {0};
  char mine;
  hold_meeting(&m, 3, be_late, (tpti_run){.scratch = &mine});
  ck_assert_int_eq(atomic_load(&m.late), 3);
  int callers = 0;
  for (size_t i = 0; i < 3; i++) {
    ck_assert_ptr_ne(m.scratch[i], m.scratch[(i + 1) % 3]);
    callers += m.scratch[i] == &mine;
    ck_assert(m.scratch[i] == &mine || (size_t)m.scratch[i] % TPTI_ALIGNMENT == 0);
  }
  ck_assert_int_eq(callers, 1);
}
END_TEST

static void look_at_thread(void *argument, size_t item, void *scratch) {
  meeting *m = argument;
  sigset_t blocked;
  (void)scratch;
  bool caller = meet(m, item);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (fegetround() != FE_UPWARD) atomic_fetch_add(&m->wrong_rounding, 1);
  if (!caller && !sigismember(&blocked, SIGTERM)) atomic_fetch_add(&m->open_to_signals, 1);
}

static void only_meet(void *argument, size_t item, void *scratch) {
  meet(argument, item);
  (void)scratch;
}

START_TEST(workers_round_as_the_caller_and_take_no_signals) {
  meeting m = {.caller = pthread_self()};
  sigset_t mine;
  tpti_run run = run_on(tpti_pool_create(&tpti_memory_default));
  tpti_pool_set_threads(run.pool, 3);
  pthread_barrier_init(&m.barrier, NULL, 3);
  tpti_parallel(&run, 3, only_meet, &m); /* the threads start with the old rounding */
  fesetround(FE_UPWARD);
  tpti_parallel(&run, 3, look_at_thread, &m);
  fesetround(FE_TONEAREST);
  ck_assert_int_eq(atomic_load(&m.wrong_rounding), 0);
  ck_assert_int_eq(atomic_load(&m.open_to_signals), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &mine);
  ck_assert(!sigismember(&mine, SIGTERM));
  tpti_pool_destroy(run.pool);
  pthread_barrier_destroy(&m.barrier);
}
END_TEST

enum { MANY = 30000000 };

static void cancel_in_meeting(void *argument, size_t item, void *scratch) {
  meeting *m = argument;
  (void)scratch;
  if (meet(m, item)) atomic_store(&m->cancel, 1);
  atomic_fetch_add(&m->done, 1);
}

START_TEST(a_cancel_stops_the_workers_too) {
  meeting m = {0};
  hold_meeting(&m, MANY, cancel_in_meeting, (tpti_run){0});
  ck_assert_uint_ge(atomic_load(&m.done), 3);
  ck_assert_uint_lt(atomic_load(&m.done), MANY);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/threads");
  TCase *c = tcase_create("threads");
  tcase_add_test(c, every_item_is_done_once);
  tcase_add_test(c, one_item_or_one_thread_starts_nothing);
  tcase_add_test(c, the_bytes_are_as_foretold);
  tcase_add_test(c, a_refusal_makes_fewer_threads);
  tcase_add_test(c, a_use_within_a_use_runs_alone);
  tcase_add_test(c, hosts_share_a_pool);
  tcase_add_test(c, both_sides_of_a_fork_work);
  tcase_add_test(c, a_child_may_destroy_at_once);
  tcase_add_test(c, a_cancelled_run_stops_and_stays_stopped);
  tcase_add_test(c, progress_is_called_when_it_is_time);
  tcase_add_test(c, a_progress_function_may_use_the_pool);
  tcase_add_test(c, the_caller_waits_for_the_last);
  tcase_add_test(c, a_cancel_stops_the_workers_too);
  tcase_add_test(c, workers_round_as_the_caller_and_take_no_signals);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
