/* A growing table of texts, open-addressed. */
#include "text/count.h"

#include <string.h>

#include "base/hash.h"

void tpti_counts_init(tpti_counts *counts, const tpti_memory *memory) {
  *counts = (tpti_counts){0};
  tpti_buffer_init(&counts->text, memory);
  tpti_buffer_init(&counts->entries, memory);
  tpti_buffer_init(&counts->slots, memory);
}

void tpti_counts_free(tpti_counts *counts) {
  tpti_buffer_free(&counts->text);
  tpti_buffer_free(&counts->entries);
  tpti_buffer_free(&counts->slots);
}

tpti_counted *tpti_counts_at(const tpti_counts *counts, size_t index) {
  return (tpti_counted *)(void *)counts->entries.data + index;
}

const char *tpti_counts_text(const tpti_counts *counts, size_t index, size_t *length) {
  const tpti_counted *entry = tpti_counts_at(counts, index);
  *length = entry->length;
  return tpti_buffer_at(&counts->text, entry->offset);
}

/* The slot that holds the text, or the free one where it would go. Slots are index + 1. */
static size_t *slot_of(const tpti_counts *counts, const char *text, size_t length) {
  size_t *slots = (size_t *)(void *)counts->slots.data;
  size_t at = (size_t)tpti_hash(0, text, length) & counts->mask;
  for (; slots[at]; at = (at + 1) & counts->mask) {
    size_t known;
    const char *there = tpti_counts_text(counts, slots[at] - 1, &known);
    if (known == length && memcmp(there, text, length) == 0) break;
  }
  return slots + at;
}

static bool rebuild(tpti_counts *counts) {
  counts->mask = tpti_table_mask(2 * counts->count + 512);
  size_t bytes = (counts->mask + 1) * sizeof(size_t);
  tpti_buffer_free(&counts->slots);
  if (!tpti_buffer_reserve(&counts->slots, bytes)) return false;
  tpti_clear(counts->run, counts->slots.data, bytes);
  for (size_t i = 0; i < counts->count && tpti_tick_some(counts->run, i); i++) {
    size_t length;
    const char *text = tpti_counts_text(counts, i, &length);
    *slot_of(counts, text, length) = i + 1;
  }
  return true;
}

bool tpti_counts_add(tpti_counts *counts, const char *text, size_t length, size_t *index) {
  if (2 * counts->count >= counts->mask && !rebuild(counts)) return false;
  size_t *slot = slot_of(counts, text, length);
  if (!*slot) {
    tpti_counted entry = {.offset = counts->text.used, .length = length};
    if (!tpti_append(counts->run, &counts->text, text, length) ||
        !tpti_append(counts->run, &counts->entries, &entry, sizeof entry))
      return false;
    *slot = ++counts->count;
  }
  *index = *slot - 1;
  tpti_counts_at(counts, *index)->seen++;
  return true;
}
