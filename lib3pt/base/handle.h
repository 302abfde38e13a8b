/* The head of every opaque handle: its kind, how many hold it, and the text of its last failure. */
#ifndef TPTI_BASE_HANDLE_H
#define TPTI_BASE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef enum tpti_kind {
  TPTI_DEAD = 0, /* after the last release: a wrong use is then refused where it can be seen */
  TPTI_CONTEXT = 0x3b7001,
  TPTI_CONFIG,
  TPTI_MODEL,
  TPTI_TRAINER,
  TPTI_OPTIMIZER,
  TPTI_DECODER,
  TPTI_DATASET,
  TPTI_TOKENIZER
} tpti_kind;

typedef struct tpti_handle {
  tpti_kind kind;
  atomic_size_t holders;
  pthread_mutex_t guard; /* of the text: const calls may fail in several threads at once */
  char text[TPTI_ERROR_TEXT];
} tpti_handle;

void tpti_handle_init(tpti_handle *handle, tpti_kind kind); /* one holder */
void tpti_handle_hold(tpti_handle *handle);
/* true when that was the last holder: the caller then frees what it holds. */
bool tpti_handle_release(tpti_handle *handle);

/* false, with TPT_E_ARGUMENT in the thread's message, where handle is NULL or of another kind. */
bool tpti_handle_is(const void *handle, tpti_kind kind, const char *name);

/* The same for a handle of whatever kind. */
bool tpti_handle_is_any(const void *handle);

/* Copies the thread's message into the handle when status is a failure; returns status. */
tpt_status tpti_handle_keep(const void *handle, tpt_status status);

/* What tpti_handle_keep kept last; "" before the first failure. */
void tpti_handle_last(const void *handle, char text[TPTI_ERROR_TEXT]);

#endif
