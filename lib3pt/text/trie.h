/* A tree of bytes that finds the longest of many texts at one place. Used by added tokens. */
#ifndef TPTI_TEXT_TRIE_H
#define TPTI_TEXT_TRIE_H

#include "text/added.h"

void tpti_trie_init(tpti_trie *trie, const tpti_memory *memory);

/* Where the text is there already, the first value stays. false: no memory. */
bool tpti_trie_insert(tpti_trie *trie, const char *text, size_t length, uint32_t value);

/* The longest text that begins at text[0]: its length, 0 where none does. */
size_t tpti_trie_longest(const tpti_trie *trie, const char *text, size_t length, uint32_t *value);

#endif
