/* Byte-pair encoding of one word, as the Python package `tokenizers` does it: characters become
 * tokens, then the adjacent pair of the lowest rank is merged, leftmost first, until none is left.
 */
#ifndef TPTI_TEXT_BPE_H
#define TPTI_TEXT_BPE_H

#include "text/tick.h"
#include "text/vocab.h"

/* Ids that are being written for the caller: count goes on where capacity ends. */
typedef struct tpti_ids {
  int32_t *ids;
  size_t capacity, count;
} tpti_ids;

static inline void tpti_ids_put(tpti_ids *out, uint32_t id) {
  if (out->count < out->capacity) out->ids[out->count] = (int32_t)id;
  out->count++;
}

typedef struct tpti_merge {
  uint32_t left, right, id; /* its rank is its place in the list */
} tpti_merge;

enum { TPTI_CHARS = 512 }; /* code points whose ids are kept in a plain table */

typedef struct tpti_bpe {
  tpti_buffer merges;                  /* tpti_merge by rank */
  tpti_buffer places;                  /* hash table of ranks + 1 by pair */
  size_t count, mask;                  /* merges; places - 1 */
  tpti_buffer unknown, prefix, suffix; /* unk_token, continuing_subword_prefix, end_of_word_suffix;
                                          each with a NUL in the data, not in `used` */
  bool has_unknown, fuse_unknown, byte_fallback, ignore_merges;
  int64_t unknown_id;        /* -1: not in the vocabulary */
  int64_t bytes[256];        /* ids of <0x00> to <0xFF>, -1 where there is none */
  int64_t chars[TPTI_CHARS]; /* ids of one character, -1 */
} tpti_bpe;

/* Room that one thread needs; kept from word to word. */
typedef struct tpti_bpe_work {
  tpti_buffer symbols, heap, text;
  tpti_run *run; /* asked in long words; NULL after init */
} tpti_bpe_work;

void tpti_bpe_init(tpti_bpe *bpe, const tpti_memory *memory);
void tpti_bpe_free(tpti_bpe *bpe);
bool tpti_bpe_add(tpti_bpe *bpe, tpti_merge merge);

/* Indexes the merges (of two with the same pair the later holds) and looks the vocabulary's special
 * spellings up. */
tpt_status tpti_bpe_seal(tpti_bpe *bpe, const tpti_vocab *vocab);

const tpti_merge *tpti_bpe_at(const tpti_bpe *bpe, size_t rank);

/* The merge of a pair, or NULL. */
const tpti_merge *tpti_bpe_find(const tpti_bpe *bpe, uint32_t left, uint32_t right);

void tpti_bpe_work_init(tpti_bpe_work *work, const tpti_memory *memory);
void tpti_bpe_work_free(tpti_bpe_work *work);

/* Valid UTF-8, not empty. An unknown character, where unk_token is not in the vocabulary either, is
 * TPT_E_ARGUMENT. */
tpt_status tpti_bpe_encode(const tpti_bpe *bpe, const tpti_vocab *vocab, tpti_bpe_work *work,
                           const char *word, size_t length, tpti_ids *out);

#endif
