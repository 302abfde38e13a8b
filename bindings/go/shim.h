/* What cgo needs between Go and lib3pt: user pointers as numbers, the call that a thread is in. */
#ifndef SHIM_H
#define SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "3pt/3pt.h"

/* The Go call that this thread is in from now on, a cgo.Handle or 0; returns the former one. */
uintptr_t tptgo_enter(uintptr_t call);

/* user: a cgo.Handle. The progress function's done gives it back. */
tpt_status tptgo_set_progress(tpt_context *context, uintptr_t user);
tpt_status tptgo_set_log(tpt_context *context, uintptr_t user, int32_t on);
tpt_status tptgo_set_allocator(tpt_context *context, uintptr_t user);

/* Bytes of Go's as what they are: of a void pointer cgo would look through all that lies around them. */
tpt_status tptgo_model_load_memory(tpt_context *context, const uint8_t *data, size_t size,
                                   const tpt_config *config, tpt_model **model);
tpt_status tptgo_model_save_memory(const tpt_model *model, uint8_t *data, size_t capacity,
                                   size_t *size);
tpt_status tptgo_checkpoint_save(const tpt_trainer *trainer, const tpt_optimizer *optimizer,
                                 const char *path, const uint8_t *user, size_t size);
tpt_status tptgo_checkpoint_load(tpt_trainer *trainer, tpt_optimizer *optimizer, const char *path,
                                 uint8_t *user, size_t capacity, size_t *size);

/* The C library's memory. */
void *tptgo_allocate(size_t bytes, size_t alignment);
void tptgo_free(void *memory);

#endif
