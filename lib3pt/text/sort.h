/* Sorting so many things that the caller should hear of it. */
#ifndef TPTI_TEXT_SORT_H
#define TPTI_TEXT_SORT_H

#include "base/memory.h"
#include "text/tick.h"

typedef struct tpti_items {
  void *at;
  size_t count, size; /* size: bytes of one */
} tpti_items;

/* compare as qsort's. After a failure the items stand in any order, and some may be missing. */
tpt_status tpti_sort(const tpti_memory *memory, tpti_run *run, tpti_items items,
                     int (*compare)(const void *, const void *));

#endif
