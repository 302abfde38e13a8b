/* What stands behind the opaque handles, and how a public function is written:
 *
 *   tpt_status tpt_decoder_rewind(tpt_decoder *decoder, size_t position) {
 *     return TPTI_CALL(decoder, TPTI_DECODER, rewind_to(decoder, position));
 *   }
 *
 * TPTI_CALL checks the handle, does the work, and keeps a failure's text in the handle. The work
 * checks its other arguments with TPTI_NEED and tpti_fail(TPT_E_ARGUMENT, ...). api/ does no
 * arithmetic. */
#ifndef TPTI_API_API_H
#define TPTI_API_API_H

#include "base/handle.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "spec/spec.h"

/* Every call that may ask a context's allocator ends here; handle: whose failure it is, or NULL. */
static inline tpt_status tpti_call_end(const void *handle, tpt_status status) {
  tpti_forget_refusal();
  return handle ? tpti_handle_keep(handle, status) : status;
}

#define TPTI_CALL(handle, kind, work)                                                              \
  (tpti_handle_is(handle, kind, #handle) ? tpti_call_end(handle, work) : TPT_E_ARGUMENT)

/* As TPTI_CALL for what makes a handle: *result is NULL first, and stays so after a failure. */
#define TPTI_MAKE(handle, kind, result, work)                                                      \
  (!(result) ? tpti_keep_if(handle, kind, tpti_fail(TPT_E_ARGUMENT, "%s is NULL", #result))        \
             : (*(result) = NULL, TPTI_CALL(handle, kind, work)))

/* As TPTI_MAKE, from a context that may be NULL. */
#define TPTI_MAKE_IN(context, result, work)                                                        \
  (!(result)                                                                                       \
       ? tpti_keep_if(context, TPTI_CONTEXT, tpti_fail(TPT_E_ARGUMENT, "%s is NULL", #result))     \
   : (*(result) = NULL, (context) && !tpti_handle_is(context, TPTI_CONTEXT, #context))             \
       ? TPT_E_ARGUMENT                                                                            \
       : tpti_keep_if(context, TPTI_CONTEXT, work))

/* In the work: leave with TPT_E_ARGUMENT where a pointer is NULL. */
#define TPTI_NEED(pointer)                                                                         \
  do {                                                                                             \
    if (!(pointer)) return tpti_fail(TPT_E_ARGUMENT, "%s is NULL", #pointer);                      \
  } while (0)

/* Keeps a failure in the handle where there is a right one. */
static inline tpt_status tpti_keep_if(const void *handle, tpti_kind kind, tpt_status status) {
  const tpti_handle *head = handle;
  return tpti_call_end(head && head->kind == kind ? head : NULL, status);
}

struct tpt_context {
  tpti_handle head;
  tpti_memory memory; /* in force for everything made from this context */
  tpti_pool *pool;
  const struct tpti_kernels *kernels;
  int32_t threads; /* as asked; 0: the library decides */
  atomic_int cancel;
  tpt_log_fn log;
  void *log_user;
  tpt_done_fn log_done;
  tpt_progress_fn progress;
  void *progress_user;
  tpt_done_fn progress_done;
};

struct tpt_config {
  tpti_handle head;
  tpti_spec spec;
};

/* `context` held once more, or where it is NULL a new one with the defaults. */
tpt_status tpti_context_hold(tpt_context *context, tpt_context **held);
void tpti_context_release(tpt_context *context); /* NULL is accepted */

/* A run for one call: handle is what progress is told; scratch and pack are the handle's own or
 * NULL. */
tpti_run tpti_context_run(tpt_context *context, const void *handle, void *scratch, void *pack);

/* Before the first product of a handle: warms BLIS and sees whether it multiplies rightly. */
tpt_status tpti_check_products(tpti_run *run);

/* To the log, where there is one. Only on the thread inside a call, no lock held. */
void tpti_log(const tpt_context *context, int32_t level, const char *format, ...) TPTI_PRINTF(3, 4);

/* A new description that takes over `spec`. NULL and nothing taken: no memory. */
tpt_config *tpti_config_wrap(tpti_spec *spec);

/* A struct given to the library: its size is at least `least`, and what follows ours_size is 0. */
tpt_status tpti_struct(const void *given, size_t ours_size, size_t least, const char *name);

/* Can a result of that size be written? For calls that work long before they write it. */
tpt_status tpti_result_size(const void *result, size_t least, const char *name);

/* Results with a size field: checks it, writes min(size, ours) and clears the rest of the caller's.
 * Structs begin with size_t size; `least` is the size in version 1.0.0. */
tpt_status tpti_result(void *result, const void *ours, size_t ours_size, size_t least,
                       const char *name);

#endif
