/* What the first bytes of a file or text look like: for the message of a reader that was given
 * something else. Nothing is decided by it. */
#ifndef TPTI_IO_LOOKS_H
#define TPTI_IO_LOOKS_H

#include <stddef.h>

#include "base/error.h"

/* Bytes that are looked at: a tokenizer.json names its parts, and a description its sections, well
 * before. */
enum { TPTI_LOOK_BYTES = 4096 };

/* What a reader wants. */
typedef enum tpti_want {
  TPTI_WANT_DESCRIPTION,
  TPTI_WANT_TOKENIZER,
  TPTI_WANT_SAFETENSORS,
  TPTI_WANT_TOKENS,
  TPTI_WANT_TEXT
} tpti_want;

/* "a safetensors file", "text", and so on. */
const char *tpti_looks_like(const void *head, size_t size);

/* Adds to this thread's message what was wanted and what this looks like, unless it may be what was
 * wanted. `size` may be that of the whole. The status is returned. */
tpt_status tpti_fail_looks(tpt_status status, tpti_want wanted, const void *head, size_t size);

#endif
