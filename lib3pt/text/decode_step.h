/* The steps of a decoder, on lists of strings. */
#ifndef TPTI_TEXT_DECODE_STEP_H
#define TPTI_TEXT_DECODE_STEP_H

#include "text/step.h"
#include "text/tick.h"

/* Strings end to end; ends[i] (size_t) is where string i ends. */
typedef struct tpti_strings {
  tpti_buffer text, ends;
} tpti_strings;

void tpti_strings_init(tpti_strings *list, const tpti_memory *memory);
void tpti_strings_free(tpti_strings *list);
void tpti_strings_end(tpti_strings *list); /* what was appended since the last is one string */
size_t tpti_strings_count(const tpti_strings *list);
const char *tpti_strings_at(const tpti_strings *list, size_t index, size_t *length);

typedef struct tpti_decode_mode {
  bool hold;       /* an incomplete character at the end is left out */
  bool middle;     /* other tokens, not empty, stand before the first */
  bool raw;        /* bad UTF-8 stays as it is */
  tpti_run *run;   /* asked in between; may be NULL */
  double from, to; /* what part of the call this is */
} tpti_decode_mode;

/* All steps, from one list into the other and back; the result is in `list`. */
tpt_status tpti_decode_steps(const tpti_steps *steps, const tpti_matchers *matchers,
                             tpti_decode_mode mode, tpti_strings *list, tpti_strings *other);

/* The byte that a token like <0x0A> means, or -1. */
int tpti_fallback_byte(const char *text, size_t length);

/* Appends the bytes as UTF-8: each longest beginning of a character that goes wrong becomes one
 * U+FFFD, as the Unicode standard recommends and Rust does. */
tpt_status tpti_lossy_append(tpti_run *run, tpti_buffer *out, const char *bytes, size_t length);

/* How many bytes at the end begin a character and could still be completed: 0 to 3. */
size_t tpti_incomplete_bytes(const char *bytes, size_t length);

#endif
