/* Short stretches by qsort, then merged two by two. */
#include "text/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"

enum { STRETCH = 1 << 11 };

typedef struct sorter {
  tpti_run *run;
  size_t size;
  int (*compare)(const void *, const void *);
} sorter;

/* from[0, middle) and from[middle, count), each in order. */
static tpt_status merge(const sorter *s, const char *from, size_t middle, size_t count, char *to) {
  size_t left = 0, right = middle, size = s->size;
  bool in_order =
      middle == count || s->compare(from + (middle - 1) * size, from + middle * size) <= 0;
  for (size_t i = 0; !in_order && left < middle && right < count; i++, to += size) {
    if (!tpti_tick_some(s->run, i)) return tpti_tick(s->run);
    bool first = s->compare(from + left * size, from + right * size) <= 0;
    memcpy(to, from + (first ? left++ : right++) * size, size);
  }
  memcpy(to, from + left * size, (middle - left) * size);
  memcpy(to + (middle - left) * size, from + right * size, (count - right) * size);
  return tpti_tick(s->run);
}

static tpt_status merge_pairs(const sorter *s, const char *from, size_t count, size_t width,
                              char *to) {
  tpt_status status = TPT_OK;
  for (size_t i = 0, length; i < count && !status; i += length) {
    length = tpti_least(2 * width, count - i);
    status = merge(s, from + i * s->size, tpti_least(width, length), length, to + i * s->size);
  }
  return status;
}

static tpt_status merge_all(const sorter *s, tpti_items items, char *other) {
  char *from = items.at, *to = other;
  tpt_status status = TPT_OK;
  for (size_t width = STRETCH; width < items.count && !status; width *= 2) {
    status = merge_pairs(s, from, items.count, width, to);
    char *swap = from;
    from = to;
    to = swap;
  }
  if (from == other) memcpy(items.at, other, items.count * items.size);
  return status;
}

tpt_status tpti_sort(const tpti_memory *memory, tpti_run *run, tpti_items items,
                     int (*compare)(const void *, const void *)) {
  const sorter s = {.run = run, .size = items.size, .compare = compare};
  tpt_status status = TPT_OK;
  for (size_t i = 0; i < items.count && !status; i += STRETCH) {
    qsort((char *)items.at + i * items.size, tpti_least(STRETCH, items.count - i), items.size,
          compare);
    status = items.count > STRETCH ? tpti_tick(run) : TPT_OK;
  }
  if (status || items.count <= STRETCH) return status;
  size_t bytes = items.count * items.size; /* they lie in memory: no overflow */
  char *other = tpti_take(memory, bytes);
  if (!other) return tpti_fail_memory(bytes);
  status = merge_all(&s, items, other);
  tpti_give(memory, other, bytes);
  return status;
}
