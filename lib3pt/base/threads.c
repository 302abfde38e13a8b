/* The pool: workers that sleep on a semaphore each.
 *
 * A use of the pool posts the semaphores of as many workers as there are further items; all take
 * items from one counter. When the caller finds the counter used up it takes back the posts that no
 * worker has seen yet (sem_trywait), so that it never waits for a thread the system has not got
 * round to run, and waits for the others' answers. Semaphores are also what ThreadSanitizer and
 * helgrind understand. */
#include "base/threads.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/error.h"

enum {
  STACK_BYTES = 512 << 10,    /* the deepest callee, BLIS, keeps its panels elsewhere */
  TICK_NANOSECONDS = 5000000, /* between two calls of a progress function */
  NO_PROCESS = -1             /* in `home`: a child is just rebuilding */
};

typedef struct worker {
  sem_t go;
  pthread_t thread;
  tpti_pool *pool;
  void *scratch;
} worker;

/* What the threads of one use work on. */
typedef struct job {
  tpti_task task;
  void *argument;
  size_t items;
  atomic_size_t next;
  fenv_t environment; /* the caller's rounding and denormals: the same bits on every thread */
} job;

struct tpti_pool {
  tpti_memory memory;
  pthread_mutex_t busy; /* of all below, except where atomic; held through a use */
  sem_t done;           /* one post a worker that has seen no more items */
  atomic_int home;      /* the process whose threads the workers are */
  atomic_int usable;    /* threads a use may have; 0: not asked yet */
  bool started, quit;
  size_t running;  /* workers with a thread */
  size_t prepared; /* workers with a scratch: running ones, or a parent's */
  size_t capacity; /* of the table, workers */
  worker *workers;
  job job;
};

/* ---- workers ---- */

static void do_items(job *work, void *scratch) {
  for (;;) {
    size_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
    if (item >= work->items) return;
    work->task(work->argument, item, scratch);
  }
}

static void wait_for(sem_t *semaphore) {
  while (sem_wait(semaphore) != 0 && errno == EINTR) continue;
}

static void *work_until_quit(void *argument) {
  worker *self = argument;
  tpti_pool *pool = self->pool;
  for (;;) {
    wait_for(&self->go);
    if (pool->quit) return NULL;
    fesetenv(&pool->job.environment);
    do_items(&pool->job, self->scratch);
    sem_post(&pool->done);
  }
}

/* ---- start and end ---- */

static bool start_worker(tpti_pool *pool, worker *w, const pthread_attr_t *attributes) {
  if (pool->running == pool->prepared) {
    w->scratch = tpti_take(&pool->memory, TPTI_SCRATCH);
    if (!w->scratch) return false;
    pool->prepared++;
  }
  w->pool = pool;
  sem_init(&w->go, 0, 0);
  if (pthread_create(&w->thread, attributes, work_until_quit, w) != 0) return false;
  pool->running++;
  return true;
}

/* As many of `count` as the system gives. Signals are for the host's own threads. */
static void start_workers(tpti_pool *pool, size_t count) {
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->running < count)
    if (!start_worker(pool, pool->workers + pool->running, &attributes)) break;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

static void start(tpti_pool *pool) {
  size_t count = (size_t)tpti_pool_threads(pool) - 1;
  pool->started = true;
  pool->quit = false;
  if (!pool->workers) {
    pool->workers = tpti_take(&pool->memory, count * sizeof *pool->workers);
    pool->capacity = pool->workers ? count : 0;
  }
  start_workers(pool, pool->capacity < count ? pool->capacity : count);
  /* an exchange, here and below: helgrind takes a plain store for a race */
  atomic_exchange(&pool->usable, (int)pool->running + 1);
}

static void end_workers(tpti_pool *pool) {
  bool ours = atomic_load(&pool->home) == (int)getpid();
  pool->quit = true;
  for (size_t i = 0; ours && i < pool->running; i++) sem_post(&pool->workers[i].go);
  for (size_t i = 0; ours && i < pool->running; i++) {
    pthread_join(pool->workers[i].thread, NULL);
    sem_destroy(&pool->workers[i].go);
  }
  for (size_t i = 0; i < pool->prepared; i++)
    tpti_give(&pool->memory, pool->workers[i].scratch, TPTI_SCRATCH);
  tpti_give(&pool->memory, pool->workers, pool->capacity * sizeof *pool->workers);
  pool->workers = NULL;
  pool->running = pool->prepared = pool->capacity = 0;
  pool->started = false;
}

/* ---- taking the pool ---- */

/* In a child the workers are not there, and a lock may be held for ever: make new ones, in the
 * parent's memory. One thread does that; others meanwhile run alone. */
static bool rebuild(tpti_pool *pool, int home) {
  if (home == NO_PROCESS) return false;
  if (!atomic_compare_exchange_strong(&pool->home, &home, NO_PROCESS)) return false;
  pthread_mutex_init(&pool->busy, NULL);
  sem_init(&pool->done, 0, 0);
  pool->running = 0;
  pool->started = false;
  atomic_exchange(&pool->home, (int)getpid());
  return true;
}

static bool acquire(tpti_pool *pool) {
  int home = atomic_load(&pool->home);
  if (home != (int)getpid() && !rebuild(pool, home)) return false;
  if (pthread_mutex_trylock(&pool->busy) != 0) return false;
  if (!pool->started) start(pool);
  return true;
}

/* ---- a use ---- */

static void run_alone(tpti_run *run, size_t items, tpti_task task, void *argument) {
  for (size_t item = 0; item < items && tpti_run_tick(run); item++)
    task(argument, item, run->scratch);
}

/* The calling thread's share. */
static void do_items_and_tick(tpti_run *run, job *work) {
  while (tpti_run_tick(run)) {
    size_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
    if (item >= work->items) return;
    work->task(work->argument, item, run->scratch);
  }
  atomic_exchange(&work->next, work->items); /* stopped: nobody takes another one */
}

static void run_together(tpti_run *run, size_t helpers) {
  tpti_pool *pool = run->pool;
  size_t answers = 0;
  for (size_t i = 0; i < helpers; i++) sem_post(&pool->workers[i].go);
  do_items_and_tick(run, &pool->job);
  for (size_t i = 0; i < helpers; i++)
    if (sem_trywait(&pool->workers[i].go) != 0) answers++;
  while (answers--) wait_for(&pool->done);
}

void tpti_parallel(tpti_run *run, size_t items, tpti_task task, void *argument) {
  tpti_pool *pool = run->pool;
  if (items < 2 || !pool || tpti_pool_threads(pool) == 1 || run->stopped || !acquire(pool)) {
    run_alone(run, items, task, argument);
    return;
  }
  pool->job.task = task;
  pool->job.argument = argument;
  pool->job.items = items;
  atomic_exchange(&pool->job.next, 0);
  fegetenv(&pool->job.environment);
  run_together(run, pool->running < items ? pool->running : items - 1);
  pthread_mutex_unlock(&pool->busy);
}

enum { PAGE = 4096, TOUCHED = 1 << 20 };

typedef struct touching {
  char *memory;
  size_t bytes;
} touching;

static void touch_pages(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const touching *t = argument;
  size_t from = item * TOUCHED, end = t->bytes - from < TOUCHED ? t->bytes : from + TOUCHED;
  for (size_t at = from; at < end; at += PAGE) t->memory[at] = 0;
}

void tpti_touch(tpti_run *run, void *memory, size_t bytes) {
  touching t = {memory, bytes};
  tpti_parallel(run, bytes / TOUCHED + (bytes % TOUCHED != 0), touch_pages, &t);
}

/* ---- the pool as an object ---- */

tpti_pool *tpti_pool_create(const tpti_memory *memory) {
  tpti_pool *pool = tpti_take(memory, sizeof *pool);
  if (!pool) return NULL;
  memset(pool, 0, sizeof *pool);
  pool->memory = *memory;
  pthread_mutex_init(&pool->busy, NULL);
  sem_init(&pool->done, 0, 0);
  atomic_init(&pool->home, (int)getpid());
  atomic_init(&pool->usable, 0);
  atomic_init(&pool->job.next, 0);
  return pool;
}

void tpti_pool_destroy(tpti_pool *pool) {
  if (!pool) return;
  tpti_memory memory = pool->memory;
  end_workers(pool);
  sem_destroy(&pool->done);
  pthread_mutex_destroy(&pool->busy);
  tpti_give(&memory, pool, sizeof *pool);
}

void tpti_pool_set_threads(tpti_pool *pool, int32_t threads) {
  if (threads > 0 && threads == tpti_pool_threads(pool)) return;
  end_workers(pool);
  atomic_exchange(&pool->usable, threads);
}

int32_t tpti_pool_threads(const tpti_pool *pool) {
  int known = atomic_load_explicit(&pool->usable, memory_order_relaxed);
  if (known > 0) return known;
  int count = tpti_cpu_count();
  atomic_exchange(&((tpti_pool *)pool)->usable, count);
  return count;
}

size_t tpti_pool_bytes(int32_t threads) {
  size_t workers = (size_t)(threads > 0 ? threads : tpti_cpu_count()) - 1;
  return sizeof(tpti_pool) + workers * (sizeof(worker) + TPTI_SCRATCH);
}

/* ---- a run ---- */

int64_t tpti_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool tpti_run_tick(tpti_run *run) {
  if (run->stopped) return false;
  if (run->cancel && atomic_load_explicit(run->cancel, memory_order_relaxed))
    run->stopped = run->cancelled = true;
  if (run->stopped || !run->progress) return !run->stopped;
  int64_t now = tpti_now();
  if (now - run->last_tick < TICK_NANOSECONDS) return true;
  run->stopped = run->progress(run->progress_user, run->handle, run->done) != 0;
  run->last_tick = tpti_now(); /* after it: its own time does not count */
  return !run->stopped;
}

tpti_run tpti_run_begin_item(const tpti_run *run, void *scratch) {
  tpti_run item = {.kernels = run->kernels, .precision = run->precision, .scratch = scratch};
  if (scratch != run->scratch) return item; /* a helper: what changes in `run` is not its to read */
  item.progress = run->progress, item.progress_user = run->progress_user;
  item.handle = run->handle, item.cancel = run->cancel;
  item.done = run->done, item.last_tick = run->last_tick;
  item.stopped = run->stopped, item.cancelled = run->cancelled;
  return item;
}

void tpti_run_end_item(tpti_run *run, const tpti_run *item) {
  if (item->scratch != run->scratch) return;
  run->last_tick = item->last_tick;
  run->stopped = item->stopped, run->cancelled = item->cancelled;
}

tpt_status tpti_run_status(const tpti_run *run) {
  if (!run->stopped) return TPT_OK;
  return tpti_fail(TPT_E_CANCELLED, "the call was ended by %s",
                   run->cancelled ? "tpt_context_cancel" : "the progress function");
}
