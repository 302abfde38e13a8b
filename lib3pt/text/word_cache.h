/* The short words of one text that were encoded already: prose repeats itself. It lives as long as
 * one call, so that threads share nothing. */
#ifndef TPTI_TEXT_WORD_CACHE_H
#define TPTI_TEXT_WORD_CACHE_H

#include "text/bpe.h"

/* An entry is one cache line. Longer words are rare and cost what they cost. */
enum { TPTI_CACHE_WORD = 30, TPTI_CACHE_IDS = 8 };

typedef struct tpti_cached_word {
  uint8_t length, count;
  char word[TPTI_CACHE_WORD];
  int32_t ids[TPTI_CACHE_IDS];
} tpti_cached_word;

typedef struct tpti_word_cache {
  tpti_buffer entries; /* empty: every word is encoded anew */
} tpti_word_cache;

/* text_length: of the text to come; a cache for a short one would cost more than it saves. false:
 * no memory. */
bool tpti_word_cache_start(tpti_word_cache *cache, const tpti_memory *memory, size_t text_length);
void tpti_word_cache_end(tpti_word_cache *cache);

/* tpti_bpe_encode, with the cache. */
tpt_status tpti_word_cache_encode(tpti_word_cache *cache, const tpti_bpe *bpe,
                                  const tpti_vocab *vocab, tpti_bpe_work *work, const char *word,
                                  size_t length, tpti_ids *out);

#endif
