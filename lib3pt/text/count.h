/* Distinct texts in the order of their first appearance, and how often each was seen. */
#ifndef TPTI_TEXT_COUNT_H
#define TPTI_TEXT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "text/tick.h"

typedef struct tpti_counted {
  size_t offset, length; /* of the text in the table's */
  uint64_t seen;
} tpti_counted;

typedef struct tpti_counts {
  tpti_buffer text, entries, slots;
  size_t count, mask;
  tpti_run *run; /* asked in long loops, which it may end: look at it then; NULL after init */
} tpti_counts;

void tpti_counts_init(tpti_counts *counts, const tpti_memory *memory);
void tpti_counts_free(tpti_counts *counts);

/* One more of this text; *index is its place, the number of texts before where it is new. */
bool tpti_counts_add(tpti_counts *counts, const char *text, size_t length, size_t *index);

tpti_counted *tpti_counts_at(const tpti_counts *counts, size_t index);
const char *tpti_counts_text(const tpti_counts *counts, size_t index, size_t *length);

#endif
