/* A growable run of bytes, for texts and tables that are built (never on a hot path). A failed
 * append sets `failed` and changes nothing else, so that a row of appends needs one check at its
 * end: once failed, all later ones fail too. The bytes appended must not lie in the buffer itself.
 */
#ifndef TPTI_BASE_BUFFER_H
#define TPTI_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct tpti_buffer {
  const tpti_memory *memory;
  char *data;
  size_t used, capacity;
  bool failed;
} tpti_buffer;

void tpti_buffer_init(tpti_buffer *buffer, const tpti_memory *memory);
void tpti_buffer_free(tpti_buffer *buffer);

/* Where the bytes from `offset` on lie; of a buffer that never held any an empty text. */
static inline const char *tpti_buffer_at(const tpti_buffer *buffer, size_t offset) {
  return buffer->data ? buffer->data + offset : "";
}

/* Room for `bytes` more at data + used, not counted as used yet; NULL when it fails. */
void *tpti_buffer_reserve(tpti_buffer *buffer, size_t bytes);
bool tpti_buffer_append(tpti_buffer *buffer, const void *data, size_t bytes);
bool tpti_buffer_printf(tpti_buffer *buffer, const char *format, ...) TPTI_PRINTF(2, 3);

#endif
