/* The pairs: a dense list, an open-addressed index, chains of places, a heap. */
#include "text/pairs.h"

#include <string.h>

#include "base/hash.h"

typedef struct node {
  uint32_t place, next;
} node;

typedef struct entry {
  int64_t count;
  uint32_t left, right;
} entry;

void tpti_pairs_init(tpti_pairs *pairs, const tpti_memory *memory) {
  *pairs = (tpti_pairs){.free_node = TPTI_NO_NODE};
  tpti_buffer_init(&pairs->pairs, memory);
  tpti_buffer_init(&pairs->slots, memory);
  tpti_buffer_init(&pairs->nodes, memory);
  tpti_buffer_init(&pairs->heap, memory);
  tpti_buffer_init(&pairs->raised, memory);
}

void tpti_pairs_free(tpti_pairs *pairs) {
  tpti_buffer_free(&pairs->pairs);
  tpti_buffer_free(&pairs->slots);
  tpti_buffer_free(&pairs->nodes);
  tpti_buffer_free(&pairs->heap);
  tpti_buffer_free(&pairs->raised);
}

/* ---- the index ---- */

static tpti_pair *pair_at(const tpti_pairs *pairs, size_t index) {
  return (tpti_pair *)(void *)pairs->pairs.data + index;
}

static uint32_t *slot_of(const tpti_pairs *pairs, uint32_t left, uint32_t right) {
  uint32_t *slots = (uint32_t *)(void *)pairs->slots.data;
  uint64_t hash = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
  size_t at = (size_t)(hash ^ hash >> 32) & pairs->mask;
  for (; slots[at]; at = (at + 1) & pairs->mask) {
    const tpti_pair *pair = pair_at(pairs, slots[at] - 1);
    if (pair->left == left && pair->right == right) break;
  }
  return slots + at;
}

static bool rebuild(tpti_pairs *pairs) {
  pairs->mask = tpti_table_mask(2 * pairs->count + 512);
  size_t bytes = (pairs->mask + 1) * sizeof(uint32_t);
  tpti_buffer_free(&pairs->slots);
  if (!tpti_buffer_reserve(&pairs->slots, bytes)) return false;
  tpti_clear(pairs->run, pairs->slots.data, bytes);
  for (size_t i = 0; i < pairs->count && tpti_tick_some(pairs->run, i); i++)
    *slot_of(pairs, pair_at(pairs, i)->left, pair_at(pairs, i)->right) = (uint32_t)i + 1;
  return true;
}

static tpti_pair *find_or_add(tpti_pairs *pairs, uint32_t left, uint32_t right) {
  if (2 * pairs->count >= pairs->mask && !rebuild(pairs)) return NULL;
  uint32_t *slot = slot_of(pairs, left, right);
  if (!*slot) {
    tpti_pair made = {.left = left, .right = right, .first = TPTI_NO_NODE, .last = TPTI_NO_NODE};
    if (pairs->count >= TPTI_NO_NODE || !tpti_append(pairs->run, &pairs->pairs, &made, sizeof made))
      return NULL;
    *slot = (uint32_t)++pairs->count;
  }
  return pair_at(pairs, *slot - 1);
}

/* ---- places ---- */

static node *node_at(const tpti_pairs *pairs, uint32_t index) {
  return (node *)(void *)pairs->nodes.data + index;
}

static uint32_t new_node(tpti_pairs *pairs, uint32_t place) {
  node made = {.place = place, .next = TPTI_NO_NODE};
  uint32_t index = pairs->free_node;
  if (index != TPTI_NO_NODE) {
    pairs->free_node = node_at(pairs, index)->next;
    *node_at(pairs, index) = made;
    return index;
  }
  size_t count = pairs->nodes.used / sizeof made;
  if (count >= TPTI_NO_NODE || !tpti_append(pairs->run, &pairs->nodes, &made, sizeof made))
    return TPTI_NO_NODE;
  return (uint32_t)count;
}

static bool add_place(tpti_pairs *pairs, tpti_pair *pair, uint32_t place) {
  uint32_t index = new_node(pairs, place);
  if (index == TPTI_NO_NODE) return false;
  if (pair->first == TPTI_NO_NODE)
    pair->first = index;
  else
    node_at(pairs, pair->last)->next = index;
  pair->last = index;
  return true;
}

static void take_places(tpti_pairs *pairs, tpti_pair *pair, tpti_buffer *places) {
  size_t seen = 0;
  for (uint32_t at = pair->first; at != TPTI_NO_NODE && tpti_tick_some(pairs->run, seen++);
       at = node_at(pairs, at)->next)
    tpti_append(pairs->run, places, &node_at(pairs, at)->place, sizeof(uint32_t));
  if (pair->first == TPTI_NO_NODE) return;
  node_at(pairs, pair->last)->next = pairs->free_node;
  pairs->free_node = pair->first;
  pair->first = pair->last = TPTI_NO_NODE;
}

bool tpti_pairs_reserve(tpti_pairs *pairs, size_t places) {
  size_t bytes;
  return tpti_mul(&bytes, places, sizeof(node)) && tpti_buffer_reserve(&pairs->nodes, bytes);
}

bool tpti_pairs_add(tpti_pairs *pairs, uint32_t left, uint32_t right, int64_t times,
                    uint32_t place) {
  tpti_pair *pair = find_or_add(pairs, left, right);
  if (!pair) return false;
  pair->count += times;
  if (place == TPTI_NO_NODE) return true;
  if (!pair->raised) {
    uint32_t index = (uint32_t)(pair - pair_at(pairs, 0));
    if (!tpti_append(pairs->run, &pairs->raised, &index, sizeof index)) return false;
    pair->raised = true;
  }
  return add_place(pairs, pair, place);
}

void tpti_pairs_forget(tpti_pairs *pairs, uint32_t left, uint32_t right) {
  pair_at(pairs, *slot_of(pairs, left, right) - 1)->count = 0;
}

/* ---- the heap ---- */

static bool comes_before(const entry *a, const entry *b) {
  if (a->count != b->count) return a->count > b->count;
  return a->left != b->left ? a->left < b->left : a->right < b->right;
}

static bool push(tpti_pairs *pairs, entry moving) {
  if (!tpti_append(pairs->run, &pairs->heap, &moving, sizeof moving)) return false;
  entry *heap = (entry *)(void *)pairs->heap.data;
  size_t at = pairs->heap.used / sizeof moving - 1;
  for (; at > 0 && comes_before(&moving, heap + (at - 1) / 2); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = moving;
  return true;
}

static entry pop(tpti_pairs *pairs) {
  entry *heap = (entry *)(void *)pairs->heap.data, top = heap[0];
  pairs->heap.used -= sizeof top;
  size_t count = pairs->heap.used / sizeof top, at = 0;
  entry moving = heap[count];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before(heap + child + 1, heap + child)) child++;
    if (!comes_before(heap + child, &moving)) break;
    heap[at] = heap[child];
  }
  heap[at] = moving;
  return top;
}

bool tpti_pairs_settle(tpti_pairs *pairs) {
  const uint32_t *raised = (const uint32_t *)(const void *)pairs->raised.data;
  bool fine = true;
  for (size_t i = 0; i < pairs->raised.used / sizeof *raised && fine; i++) {
    tpti_pair *pair = pair_at(pairs, raised[i]);
    if (!tpti_tick_some(pairs->run, i)) break;
    pair->raised = false;
    if (pair->count > 0)
      fine = push(pairs, (entry){.count = pair->count, .left = pair->left, .right = pair->right});
  }
  pairs->raised.used = 0;
  return fine;
}

bool tpti_pairs_pop(tpti_pairs *pairs, tpti_pair *pair, tpti_buffer *places) {
  for (size_t i = 0; pairs->heap.used && !pairs->heap.failed; i++) {
    if (!tpti_tick_some(pairs->run, i)) return false;
    entry top = pop(pairs);
    tpti_pair *found = pair_at(pairs, *slot_of(pairs, top.left, top.right) - 1);
    if (found->count <= 0) continue;
    if (found->count != top.count) {
      top.count = found->count;
      push(pairs, top);
      continue;
    }
    *pair = *found;
    take_places(pairs, found, places);
    found->merged = true;
    return true;
  }
  return false;
}
