/* The merges of a byte-pair model and their index by pair. */
#include "text/bpe.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"

void tpti_bpe_init(tpti_bpe *bpe, const tpti_memory *memory) {
  *bpe = (tpti_bpe){.unknown_id = -1};
  tpti_buffer_init(&bpe->merges, memory);
  tpti_buffer_init(&bpe->places, memory);
  tpti_buffer_init(&bpe->unknown, memory);
  tpti_buffer_init(&bpe->prefix, memory);
  tpti_buffer_init(&bpe->suffix, memory);
}

void tpti_bpe_free(tpti_bpe *bpe) {
  tpti_buffer_free(&bpe->merges);
  tpti_buffer_free(&bpe->places);
  tpti_buffer_free(&bpe->unknown);
  tpti_buffer_free(&bpe->prefix);
  tpti_buffer_free(&bpe->suffix);
}

bool tpti_bpe_add(tpti_bpe *bpe, tpti_merge merge) {
  if (!tpti_buffer_append(&bpe->merges, &merge, sizeof merge)) return false;
  bpe->count++;
  return true;
}

const tpti_merge *tpti_bpe_at(const tpti_bpe *bpe, size_t rank) {
  return (const tpti_merge *)(const void *)bpe->merges.data + rank;
}

static size_t hash_pair(uint32_t left, uint32_t right) {
  uint64_t hash = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
  return (size_t)(hash ^ hash >> 32);
}

/* The place that holds the pair, or the free one where it would go. */
static uint32_t *place_of(const tpti_bpe *bpe, uint32_t left, uint32_t right) {
  uint32_t *places = (uint32_t *)(void *)bpe->places.data;
  size_t at = hash_pair(left, right) & bpe->mask;
  for (; places[at]; at = (at + 1) & bpe->mask) {
    const tpti_merge *merge = tpti_bpe_at(bpe, places[at] - 1);
    if (merge->left == left && merge->right == right) break;
  }
  return places + at;
}

const tpti_merge *tpti_bpe_find(const tpti_bpe *bpe, uint32_t left, uint32_t right) {
  if (bpe->count == 0) return NULL;
  uint32_t rank = *place_of(bpe, left, right);
  return rank ? tpti_bpe_at(bpe, rank - 1) : NULL;
}

static tpt_status index_merges(tpti_bpe *bpe) {
  bpe->mask = tpti_table_mask(bpe->count);
  size_t bytes = (bpe->mask + 1) * sizeof(uint32_t);
  tpti_buffer_free(&bpe->places);
  if (!tpti_buffer_reserve(&bpe->places, bytes)) return tpti_fail_memory(bytes);
  memset(bpe->places.data, 0, bytes);
  for (size_t i = 0; i < bpe->count; i++) {
    const tpti_merge *merge = tpti_bpe_at(bpe, i);
    *place_of(bpe, merge->left, merge->right) = (uint32_t)i + 1;
  }
  return TPT_OK;
}

static int64_t id_or_none(const tpti_vocab *vocab, const char *text, size_t length) {
  uint32_t id;
  return tpti_vocab_find(vocab, text, length, &id) ? (int64_t)id : -1;
}

tpt_status tpti_bpe_seal(tpti_bpe *bpe, const tpti_vocab *vocab) {
  static const char hex[] = "0123456789ABCDEF";
  for (unsigned i = 0; i < 256; i++) {
    const char name[6] = {'<', '0', 'x', hex[i >> 4], hex[i & 15], '>'};
    bpe->bytes[i] = id_or_none(vocab, name, sizeof name);
  }
  for (uint32_t c = 0; c < TPTI_CHARS; c++) {
    char text[4];
    bpe->chars[c] = id_or_none(vocab, text, tpti_utf8_write(c, text));
  }
  bpe->unknown_id = bpe->has_unknown ? id_or_none(vocab, bpe->unknown.data, bpe->unknown.used) : -1;
  return index_merges(bpe);
}

void tpti_bpe_work_init(tpti_bpe_work *work, const tpti_memory *memory) {
  work->run = NULL;
  tpti_buffer_init(&work->symbols, memory);
  tpti_buffer_init(&work->heap, memory);
  tpti_buffer_init(&work->text, memory);
}

void tpti_bpe_work_free(tpti_bpe_work *work) {
  tpti_buffer_free(&work->symbols);
  tpti_buffer_free(&work->heap);
  tpti_buffer_free(&work->text);
}
