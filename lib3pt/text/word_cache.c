/* A direct-mapped table: a word has one place, and the last one there stays. */
#include "text/word_cache.h"

#include <string.h>

#include "base/hash.h"

/* 8,192 lines are half a megabyte, within a second-level cache, and hold nine in ten words of
 * prose. Where the text is much shorter than that, clearing them costs more than they save. */
enum { ENTRIES = 1 << 13, SHORTEST_TEXT = 1 << 15 };

bool tpti_word_cache_start(tpti_word_cache *cache, const tpti_memory *memory, size_t text_length) {
  const size_t bytes = ENTRIES * sizeof(tpti_cached_word);
  tpti_buffer_init(&cache->entries, memory);
  if (text_length < SHORTEST_TEXT) return true;
  char *entries = tpti_buffer_reserve(&cache->entries, bytes);
  if (!entries) return false;
  memset(entries, 0, bytes); /* length 0: free */
  cache->entries.used = bytes;
  return true;
}

void tpti_word_cache_end(tpti_word_cache *cache) { tpti_buffer_free(&cache->entries); }

static void put_all(const int32_t *ids, size_t count, tpti_ids *out) {
  for (size_t i = 0; i < count; i++) tpti_ids_put(out, (uint32_t)ids[i]);
}

static void keep(tpti_cached_word *entry, const char *word, size_t length, const tpti_ids *ids) {
  if (ids->count > TPTI_CACHE_IDS) return;
  entry->length = (uint8_t)length;
  entry->count = (uint8_t)ids->count;
  memcpy(entry->word, word, length);
  memcpy(entry->ids, ids->ids, ids->count * sizeof *ids->ids);
}

tpt_status tpti_word_cache_encode(tpti_word_cache *cache, const tpti_bpe *bpe,
                                  const tpti_vocab *vocab, tpti_bpe_work *work, const char *word,
                                  size_t length, tpti_ids *out) {
  if (cache->entries.used == 0 || length > TPTI_CACHE_WORD)
    return tpti_bpe_encode(bpe, vocab, work, word, length, out);
  tpti_cached_word *entry = (tpti_cached_word *)(void *)cache->entries.data;
  entry += tpti_hash(0, word, length) & (ENTRIES - 1);
  if (entry->length == length && memcmp(entry->word, word, length) == 0) {
    put_all(entry->ids, entry->count, out);
    return TPT_OK;
  }
  int32_t ids[TPTI_CACHE_WORD];
  tpti_ids made = {.ids = ids, .capacity = TPTI_CACHE_WORD};
  tpt_status status = tpti_bpe_encode(bpe, vocab, work, word, length, &made);
  if (status) return status;
  /* Fewer ids than bytes, but for the bytes of a prefix or suffix that the vocabulary has not. */
  if (made.count > TPTI_CACHE_WORD) return tpti_bpe_encode(bpe, vocab, work, word, length, out);
  put_all(ids, made.count, out);
  keep(entry, word, length, &made);
  return TPT_OK;
}
