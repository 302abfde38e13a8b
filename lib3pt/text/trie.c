/* Nodes with first child and next sibling: a few hundred texts at most, most of them short. */
#include "text/trie.h"

#include <string.h>

typedef struct node {
  int32_t child, sibling, value; /* -1: none */
  uint8_t byte;
} node;

void tpti_trie_init(tpti_trie *trie, const tpti_memory *memory) {
  tpti_buffer_init(&trie->nodes, memory);
  memset(trie->first, 0xff, sizeof trie->first); /* -1 everywhere */
}

static node *node_at(const tpti_trie *trie, int32_t index) {
  return (node *)(void *)trie->nodes.data + index;
}

static int32_t among(const tpti_trie *trie, int32_t index, uint8_t byte) {
  while (index >= 0 && node_at(trie, index)->byte != byte) index = node_at(trie, index)->sibling;
  return index;
}

/* A new node before `sibling`; -1: no memory. */
static int32_t add_node(tpti_trie *trie, uint8_t byte, int32_t sibling) {
  node made = {.child = -1, .sibling = sibling, .value = -1, .byte = byte};
  size_t index = trie->nodes.used / sizeof made;
  if (index >= INT32_MAX || !tpti_buffer_append(&trie->nodes, &made, sizeof made)) return -1;
  return (int32_t)index;
}

/* The child of `parent` (-1: the root) for a byte, made where it is missing. */
static int32_t child_of(tpti_trie *trie, int32_t parent, uint8_t byte) {
  int32_t first = parent < 0 ? trie->first[byte] : node_at(trie, parent)->child;
  int32_t found = among(trie, first, byte);
  if (found >= 0) return found;
  int32_t made = add_node(trie, byte, first);
  if (made < 0) return -1;
  if (parent < 0)
    trie->first[byte] = made;
  else
    node_at(trie, parent)->child = made;
  return made;
}

bool tpti_trie_insert(tpti_trie *trie, const char *text, size_t length, uint32_t value) {
  int32_t at = -1;
  for (size_t i = 0; i < length; i++) {
    at = child_of(trie, at, (uint8_t)text[i]);
    if (at < 0) return false;
  }
  if (node_at(trie, at)->value < 0) node_at(trie, at)->value = (int32_t)value;
  return true;
}

size_t tpti_trie_longest(const tpti_trie *trie, const char *text, size_t length, uint32_t *value) {
  size_t longest = 0;
  int32_t at = trie->first[(uint8_t)text[0]];
  for (size_t i = 1; at >= 0; i++) {
    const node *here = node_at(trie, at);
    if (here->value >= 0) {
      longest = i;
      *value = (uint32_t)here->value;
    }
    at = i < length ? among(trie, here->child, (uint8_t)text[i]) : -1;
  }
  return longest;
}
