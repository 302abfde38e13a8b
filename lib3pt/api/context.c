/* The context: threads, allocator, log, progress, and what the other files here share. */
#include "api/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "kernel/gemm.h"
#include "kernel/kernel.h"

/* ---- life ---- */

static tpt_status create(tpt_context **result) {
  tpt_context *context = calloc(1, sizeof *context); /* its own allocator is set later */
  if (!context) return tpti_fail_memory(sizeof *context);
  context->memory = tpti_memory_default;
  context->pool = tpti_pool_create(&context->memory);
  if (!context->pool) {
    free(context);
    return tpti_fail_memory(tpti_pool_bytes(1));
  }
  tpti_handle_init(&context->head, TPTI_CONTEXT);
  atomic_init(&context->cancel, 0);
  context->kernels = tpti_kernels_choose(tpti_cpu_flags());
  *result = context;
  return TPT_OK;
}

tpt_status tpt_context_create(tpt_context **context) {
  TPTI_NEED(context);
  *context = NULL;
  return create(context);
}

tpt_status tpti_context_hold(tpt_context *context, tpt_context **held) {
  if (!context) return create(held);
  if (!tpti_handle_is(context, TPTI_CONTEXT, "context")) return TPT_E_ARGUMENT;
  tpti_handle_hold(&context->head);
  *held = context;
  return TPT_OK;
}

static void call_done(tpt_done_fn done, void *user) {
  if (done) done(user);
}

void tpti_context_release(tpt_context *context) {
  if (!context || !tpti_handle_release(&context->head)) return;
  tpti_pool_destroy(context->pool);
  call_done(context->log_done, context->log_user);
  call_done(context->progress_done, context->progress_user);
  free(context);
}

void tpt_context_destroy(tpt_context *context) {
  if (context && tpti_handle_is(context, TPTI_CONTEXT, "context")) tpti_context_release(context);
}

/* ---- settings ---- */

static tpt_status set_threads(tpt_context *context, int32_t threads) {
  if (threads < 0 || threads > TPTI_MAX_THREADS)
    return tpti_fail(TPT_E_ARGUMENT, "threads is %d; 0 to %d are allowed", threads,
                     TPTI_MAX_THREADS);
  context->threads = threads;
  tpti_pool_set_threads(context->pool, threads);
  return TPT_OK;
}

tpt_status tpt_context_set_threads(tpt_context *context, int32_t threads) {
  return TPTI_CALL(context, TPTI_CONTEXT, set_threads(context, threads));
}

static tpt_status get_threads(const tpt_context *context, int32_t *threads) {
  TPTI_NEED(threads);
  *threads = tpti_pool_threads(context->pool);
  return TPT_OK;
}

tpt_status tpt_context_threads(const tpt_context *context, int32_t *threads) {
  return TPTI_CALL(context, TPTI_CONTEXT, get_threads(context, threads));
}

static tpt_status check_allocator(const tpt_allocator *allocator) {
  TPTI_NEED(allocator);
  tpt_status status = tpti_struct(allocator, sizeof *allocator, sizeof *allocator, "allocator");
  if (status) return status;
  TPTI_NEED(allocator->allocate);
  TPTI_NEED(allocator->release);
  return TPT_OK;
}

static tpt_status set_allocator(tpt_context *context, const tpt_allocator *allocator) {
  tpt_status status = check_allocator(allocator);
  if (status) return status;
  if (atomic_load(&context->head.holders) > 1)
    return tpti_fail(TPT_E_STATE, "the allocator must be set before anything is made from the "
                                  "context; something made from it is alive");
  tpti_memory memory = {allocator->user, allocator->allocate, allocator->release};
  tpti_pool *pool = tpti_pool_create(&memory);
  if (!pool) return tpti_fail_memory(tpti_pool_bytes(1));
  tpti_pool_set_threads(pool, context->threads);
  tpti_pool_destroy(context->pool); /* what it took goes back where it came from */
  context->pool = pool;
  context->memory = memory;
  return TPT_OK;
}

tpt_status tpt_context_set_allocator(tpt_context *context, const tpt_allocator *allocator) {
  return TPTI_CALL(context, TPTI_CONTEXT, set_allocator(context, allocator));
}

tpt_status tpt_context_set_log(tpt_context *context, tpt_log_fn log, void *user, tpt_done_fn done) {
  if (!tpti_handle_is(context, TPTI_CONTEXT, "context")) return TPT_E_ARGUMENT;
  tpt_done_fn old_done = context->log_done;
  void *old_user = context->log_user;
  context->log = log;
  context->log_user = user;
  context->log_done = done;
  call_done(old_done, old_user);
  return TPT_OK;
}

tpt_status tpt_context_set_progress(tpt_context *context, tpt_progress_fn progress, void *user,
                                    tpt_done_fn done) {
  if (!tpti_handle_is(context, TPTI_CONTEXT, "context")) return TPT_E_ARGUMENT;
  tpt_done_fn old_done = context->progress_done;
  void *old_user = context->progress_user;
  context->progress = progress;
  context->progress_user = user;
  context->progress_done = done;
  call_done(old_done, old_user);
  return TPT_OK;
}

/* Fit for a signal handler where the context is alive: no lock, no memory, no message. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "tpt_context_cancel takes no lock");

tpt_status tpt_context_cancel(tpt_context *context, int32_t on) {
  if (!tpti_handle_is(context, TPTI_CONTEXT, "context")) return TPT_E_ARGUMENT;
  atomic_exchange(&context->cancel, on != 0);
  return TPT_OK;
}

/* ---- shared by api/ ---- */

tpti_run tpti_context_run(tpt_context *context, const void *handle, void *scratch, void *pack) {
  return (tpti_run){
      .pool = context->pool,
      .kernels = context->kernels,
      .scratch = scratch,
      .pack = pack,
      .progress = context->progress,
      .progress_user = context->progress_user,
      .handle = handle,
      .cancel = &context->cancel,
      .last_tick = context->progress ? tpti_now() : 0,
      .done = (double)NAN,
      .to = 1.0,
  };
}

tpt_status tpti_check_products(tpti_run *run) {
  if (tpti_gemm_warm(run)) return TPT_OK;
  return tpti_fail(TPT_E_INTERNAL, "BLIS multiplies wrongly on this processor: another BLIS is "
                                   "needed, or another one of its kernels (BLIS_ARCH_TYPE)");
}

void tpti_log(const tpt_context *context, int32_t level, const char *format, ...) {
  char text[TPTI_ERROR_TEXT];
  if (!context->log) return;
  va_list args;
  va_start(args, format);
  tpti_message(text, format, args);
  va_end(args);
  context->log(context->log_user, level, text);
}

/* A size beyond this was never set: no struct of ours comes near it, and to believe it would read
 * or clear foreign memory. */
enum { LARGEST_STRUCT = 1 << 16 };

static tpt_status check_size(size_t size, size_t least, const char *name) {
  if (size >= least && size <= LARGEST_STRUCT) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "%s.size is %zu; it must be the size of the struct, %zu or more",
                   name, size, least);
}

tpt_status tpti_struct(const void *given, size_t ours_size, size_t least, const char *name) {
  size_t size;
  memcpy(&size, given, sizeof size);
  tpt_status status = check_size(size, least, name);
  for (size_t i = ours_size; !status && i < size; i++)
    if (((const char *)given)[i] != 0)
      status = tpti_fail(TPT_E_ARGUMENT,
                         "%s has fields that this version does not know (from byte %zu on), not 0",
                         name, ours_size);
  return status;
}

tpt_status tpti_result_size(const void *result, size_t least, const char *name) {
  size_t size;
  if (!result) return tpti_fail(TPT_E_ARGUMENT, "%s is NULL", name);
  memcpy(&size, result, sizeof size);
  return check_size(size, least, name);
}

tpt_status tpti_result(void *result, const void *ours, size_t ours_size, size_t least,
                       const char *name) {
  size_t size;
  tpt_status status = tpti_result_size(result, least, name);
  if (status) return status;
  memcpy(&size, result, sizeof size);
  size_t written = size < ours_size ? size : ours_size;
  memcpy((char *)result + sizeof size, (const char *)ours + sizeof size, written - sizeof size);
  memset((char *)result + written, 0, size - written);
  return TPT_OK;
}
