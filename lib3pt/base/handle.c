/* The head that all opaque handles share. */
#include "base/handle.h"

#include <string.h>

static const char *kind_name(tpti_kind kind) {
  static const char *const names[] = {"a context",    "a config",  "a model",   "a trainer",
                                      "an optimizer", "a decoder", "a dataset", "a tokenizer"};
  return names[kind - TPTI_CONTEXT];
}

void tpti_handle_init(tpti_handle *handle, tpti_kind kind) {
  handle->kind = kind;
  atomic_init(&handle->holders, 1);
  pthread_mutex_init(&handle->guard, NULL);
  handle->text[0] = '\0';
}

void tpti_handle_hold(tpti_handle *handle) {
  atomic_fetch_add_explicit(&handle->holders, 1, memory_order_relaxed);
}

bool tpti_handle_release(tpti_handle *handle) {
  if (atomic_fetch_sub_explicit(&handle->holders, 1, memory_order_acq_rel) > 1) return false;
  pthread_mutex_destroy(&handle->guard);
  /* volatile: the block is about to be freed, and the compiler would drop the mark */
  *(volatile tpti_kind *)&handle->kind = TPTI_DEAD;
  return true;
}

bool tpti_handle_is(const void *handle, tpti_kind kind, const char *name) {
  if (!handle) {
    tpti_fail(TPT_E_ARGUMENT, "%s is NULL", name);
    return false;
  }
  if (((const tpti_handle *)handle)->kind == kind) return true;
  tpti_fail(TPT_E_ARGUMENT, "%s is not %s (or was destroyed)", name, kind_name(kind));
  return false;
}

bool tpti_handle_is_any(const void *handle) {
  if (!handle) return tpti_fail(TPT_E_ARGUMENT, "handle is NULL"), false;
  tpti_kind kind = ((const tpti_handle *)handle)->kind;
  if (kind >= TPTI_CONTEXT && kind <= TPTI_TOKENIZER) return true;
  tpti_fail(TPT_E_ARGUMENT, "handle is not a handle of this library (or was destroyed)");
  return false;
}

tpt_status tpti_handle_keep(const void *handle, tpt_status status) {
  if (status == TPT_OK) return status;
  tpti_handle *head = (tpti_handle *)handle; /* guarded, hence free to change in a const call */
  pthread_mutex_lock(&head->guard);
  strcpy(head->text, tpti_error_text());
  pthread_mutex_unlock(&head->guard);
  return status;
}

void tpti_handle_last(const void *handle, char text[TPTI_ERROR_TEXT]) {
  tpti_handle *head = (tpti_handle *)handle;
  pthread_mutex_lock(&head->guard);
  strcpy(text, head->text);
  pthread_mutex_unlock(&head->guard);
}
