/* A run of bytes that doubles when it is full. */
#include "base/buffer.h"

#include <string.h>

#include "base/text.h"

enum { FIRST_CAPACITY = 256 }; /* most keys and lines fit */

void tpti_buffer_init(tpti_buffer *buffer, const tpti_memory *memory) {
  *buffer = (tpti_buffer){.memory = memory};
}

void tpti_buffer_free(tpti_buffer *buffer) {
  tpti_give(buffer->memory, buffer->data, buffer->capacity);
  tpti_buffer_init(buffer, buffer->memory);
}

static bool grow(tpti_buffer *buffer, size_t needed) {
  size_t capacity = FIRST_CAPACITY, doubled;
  if (tpti_mul(&doubled, buffer->capacity, 2) && doubled > capacity) capacity = doubled;
  if (capacity < needed) capacity = needed;
  char *data = tpti_take(buffer->memory, capacity);
  if (!data) return false;
  if (buffer->used) memcpy(data, buffer->data, buffer->used);
  tpti_give(buffer->memory, buffer->data, buffer->capacity);
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

void *tpti_buffer_reserve(tpti_buffer *buffer, size_t bytes) {
  size_t needed;
  bool room = tpti_add(&needed, buffer->used, bytes) && !buffer->failed;
  if (room && (needed > buffer->capacity || !buffer->data)) room = grow(buffer, needed);
  if (!room) buffer->failed = true;
  return room ? buffer->data + buffer->used : NULL;
}

bool tpti_buffer_append(tpti_buffer *buffer, const void *data, size_t bytes) {
  void *place = tpti_buffer_reserve(buffer, bytes);
  if (!place) return false;
  if (bytes) memcpy(place, data, bytes);
  buffer->used += bytes;
  return true;
}

static int measure(const char *format, va_list args) {
  va_list copy;
  va_copy(copy, args);
  int length = tpti_vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  return length;
}

bool tpti_buffer_printf(tpti_buffer *buffer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = measure(format, args);
  char *place = length < 0 ? NULL : tpti_buffer_reserve(buffer, (size_t)length + 1);
  if (place) {
    tpti_vsnprintf(place, (size_t)length + 1, format, args);
    buffer->used += (size_t)length;
  }
  va_end(args);
  if (!place) buffer->failed = true;
  return place != NULL;
}
