#include "shim.h"

#include <stdlib.h>

#include "_cgo_export.h"

/* Progress and log functions are called on the thread that is inside a call: so they find it. */
static _Thread_local uintptr_t current;

uintptr_t tptgo_enter(uintptr_t call) {
  uintptr_t former = current;
  current = call;
  return former;
}

static int32_t progress(void *user, const void *handle, double done) {
  return tptgoProgress((uintptr_t)user, current, (uintptr_t)handle, done);
}

static void log_message(void *user, int32_t level, const char *text) {
  tptgoLog((uintptr_t)user, current, level, (char *)text);
}

static void done(void *user) { tptgoDone((uintptr_t)user); }

static void *allocate(void *user, size_t bytes, size_t alignment) {
  return tptgoAllocate((uintptr_t)user, current, bytes, alignment);
}

static void release(void *user, void *memory, size_t bytes, size_t alignment) {
  tptgoRelease((uintptr_t)user, current, memory, bytes, alignment);
}

tpt_status tptgo_set_progress(tpt_context *context, uintptr_t user) {
  return tpt_context_set_progress(context, progress, (void *)user, done);
}

tpt_status tptgo_set_log(tpt_context *context, uintptr_t user, int32_t on) {
  return tpt_context_set_log(context, on ? log_message : NULL, (void *)user, NULL);
}

tpt_status tptgo_set_allocator(tpt_context *context, uintptr_t user) {
  tpt_allocator a = {
      .size = sizeof a, .user = (void *)user, .allocate = allocate, .release = release};
  return tpt_context_set_allocator(context, &a);
}

tpt_status tptgo_model_load_memory(tpt_context *context, const uint8_t *data, size_t size,
                                   const tpt_config *config, tpt_model **model) {
  return tpt_model_load_memory(context, data, size, config, model);
}

tpt_status tptgo_model_save_memory(const tpt_model *model, uint8_t *data, size_t capacity,
                                   size_t *size) {
  return tpt_model_save_memory(model, data, capacity, size);
}

tpt_status tptgo_checkpoint_save(const tpt_trainer *trainer, const tpt_optimizer *optimizer,
                                 const char *path, const uint8_t *user, size_t size) {
  return tpt_checkpoint_save(trainer, optimizer, path, user, size);
}

tpt_status tptgo_checkpoint_load(tpt_trainer *trainer, tpt_optimizer *optimizer, const char *path,
                                 uint8_t *user, size_t capacity, size_t *size) {
  return tpt_checkpoint_load(trainer, optimizer, path, user, capacity, size);
}

void *tptgo_allocate(size_t bytes, size_t alignment) {
  void *memory;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

void tptgo_free(void *memory) { free(memory); }
