/* Telling and asking in the middle of work on text. */
#include "text/tick.h"

#include <string.h>

#include "base/size.h"

tpt_status tpti_tick(tpti_run *run) {
  return !run || tpti_run_tick(run) ? TPT_OK : tpti_run_status(run);
}

void tpti_advance(tpti_run *run, double fraction) {
  if (!run) return;
  double done = run->from + (run->to - run->from) * fraction;
  if (!(run->done >= done)) run->done = done; /* NaN: nothing was told yet */
}

/* Bytes of fresh memory that are written between two ticks: some milliseconds at worst. */
enum { PIECE = 1 << 21 };

void tpti_clear(tpti_run *run, void *memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += PIECE) {
    memset((char *)memory + at, 0, tpti_least(PIECE, bytes - at));
    if (run) tpti_run_tick(run);
  }
}

static bool grow(tpti_run *run, tpti_buffer *buffer) {
  tpti_buffer larger;
  size_t bytes;
  tpti_buffer_init(&larger, buffer->memory);
  if (!tpti_mul(&bytes, buffer->capacity, 2) || !tpti_buffer_reserve(&larger, bytes))
    return !(buffer->failed = true);
  while (larger.used < buffer->used) {
    bytes = tpti_least(PIECE, buffer->used - larger.used);
    tpti_buffer_append(&larger, buffer->data + larger.used, bytes);
    tpti_run_tick(run);
  }
  tpti_buffer_free(buffer);
  *buffer = larger;
  return true;
}

bool tpti_append(tpti_run *run, tpti_buffer *buffer, const void *data, size_t bytes) {
  bool longer = run && buffer->used >= PIECE && bytes > buffer->capacity - buffer->used;
  if (longer && !buffer->failed && !grow(run, buffer)) return false;
  return tpti_buffer_append(buffer, data, bytes);
}
