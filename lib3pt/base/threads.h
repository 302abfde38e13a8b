/* Threads: a pool that sleeps between uses, and `tpti_parallel`, the one way to use it.
 *
 * A run is one public call in progress: whom to ask for threads, where to report progress, whether
 * to stop. Operations return nothing: once a run is stopped, every further tpti_parallel does
 * nothing, and the caller of the operations asks tpti_run_status at the end. */
#ifndef TPTI_BASE_THREADS_H
#define TPTI_BASE_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/precision.h"

/* Scratch bytes that each thread has for itself while it works: the packed panels of a product or
 * the tiles of attention. 1 MiB is the second-level cache of the machines in view, of which packed
 * panels should fill about half. */
enum { TPTI_SCRATCH = 1 << 20, TPTI_MAX_THREADS = 256 };

typedef struct tpti_pool tpti_pool;
struct tpti_kernels;

/* A pool without threads; they start at the first use. NULL: no memory. */
tpti_pool *tpti_pool_create(const tpti_memory *memory);
void tpti_pool_destroy(tpti_pool *pool);

/* 0: tpti_cpu_count(). Running threads end if the number changes. */
void tpti_pool_set_threads(tpti_pool *pool, int32_t threads);
int32_t tpti_pool_threads(const tpti_pool *pool);

/* Bytes a pool of `threads` takes from its allocator, itself included. */
size_t tpti_pool_bytes(int32_t threads);

/* CLOCK_MONOTONIC in nanoseconds: last_tick of a run that starts now. */
int64_t tpti_now(void);

typedef struct tpti_run {
  tpti_pool *pool;                    /* NULL: this thread alone */
  const struct tpti_kernels *kernels; /* the inner loops for this processor */
  tpti_precision precision;           /* of products; one that tpti_precision_here gave */
  void *scratch;                      /* TPTI_SCRATCH bytes for the calling thread */
  void *pack; /* the packed operand of a product, shared by its threads (op/linear.h) */
  tpt_progress_fn progress; /* may be NULL */
  void *progress_user;
  const void *handle;       /* what progress is told */
  const atomic_int *cancel; /* may be NULL */
  double done;              /* 0 to 1, or NaN: not known; kept by whoever knows */
  double from, to;          /* what part of the call the work now being done is */
  int64_t last_tick;        /* nanoseconds */
  bool stopped;
  bool cancelled; /* it was stopped by `cancel`, not by progress */
} tpti_run;

/* One piece of work: item in 0..items-1; scratch is this thread's TPTI_SCRATCH bytes. */
typedef void (*tpti_task)(void *argument, size_t item, void *scratch);

/* Does all items, on as many threads as are free; returns when all are done. Items must be cut by
 * shape alone and write to different places, so that the bits do not depend on the threads.
 * Progress is called and cancellation seen between items of the calling thread. Items are begun in
 * their order and always finished: where the run is stopped, some first ones have been done. */
void tpti_parallel(tpti_run *run, size_t items, tpti_task task, void *argument);

/* Writes a 0 into each page of memory that is about to be overwritten. The system makes the pages
 * of fresh memory at their first use, in a bad case some 3 ms each 1 MiB: here progress is called
 * between them, while one item of a product could touch them all. */
void tpti_touch(tpti_run *run, void *memory, size_t bytes);

/* The work from here on is this part of the call; then how far that work is, 0 to 1. */
static inline void tpti_run_span(tpti_run *run, double from, double to) {
  run->from = from;
  run->to = to;
}
static inline void tpti_run_at(tpti_run *run, double fraction) {
  run->done = run->from + (run->to - run->from) * fraction;
}

/* Between pieces of serial work: calls progress when its time has come. true: go on. */
bool tpti_run_tick(tpti_run *run);

/* The same between pieces of a long item, of which `scratch` was given; true on other threads than
 * the calling one. */
static inline bool tpti_run_tick_item(tpti_run *run, const void *scratch) {
  return scratch != run->scratch || tpti_run_tick(run);
}

/* A run for the inside of one item, on this thread alone: whole operations can be called in it. On
 * the calling thread progress goes on and a stop reaches `run` at its end. */
tpti_run tpti_run_begin_item(const tpti_run *run, void *scratch);
void tpti_run_end_item(tpti_run *run, const tpti_run *item);

/* TPT_OK, or TPT_E_CANCELLED with its message. */
tpt_status tpti_run_status(const tpti_run *run);

#endif
