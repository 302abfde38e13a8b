/* The token table: texts end to end, tokens sorted by id, an open-addressed index by text. */
#include "text/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/size.h"
#include "base/text.h"

void tpti_vocab_init(tpti_vocab *vocab, const tpti_memory *memory) {
  *vocab = (tpti_vocab){0};
  tpti_buffer_init(&vocab->text, memory);
  tpti_buffer_init(&vocab->tokens, memory);
  tpti_buffer_init(&vocab->slots, memory);
}

void tpti_vocab_free(tpti_vocab *vocab) {
  tpti_buffer_free(&vocab->text);
  tpti_buffer_free(&vocab->tokens);
  tpti_buffer_free(&vocab->slots);
  vocab->count = vocab->mask = 0;
}

bool tpti_vocab_add(tpti_vocab *vocab, const char *text, size_t length, uint32_t id) {
  tpti_token token = {.offset = vocab->text.used, .length = (uint32_t)length, .id = id};
  if (!tpti_buffer_append(&vocab->text, text, length) ||
      !tpti_buffer_append(&vocab->tokens, &token, sizeof token))
    return false;
  vocab->count++;
  return true;
}

const tpti_token *tpti_vocab_at(const tpti_vocab *vocab, size_t index) {
  return (const tpti_token *)(const void *)vocab->tokens.data + index;
}

const char *tpti_vocab_text(const tpti_vocab *vocab, const tpti_token *token) {
  return tpti_buffer_at(&vocab->text, token->offset);
}

static int by_id(const void *a, const void *b) {
  uint32_t left = ((const tpti_token *)a)->id, right = ((const tpti_token *)b)->id;
  return (left > right) - (left < right);
}

static bool same_text(const tpti_vocab *vocab, const tpti_token *token, const char *text,
                      size_t length) {
  return token->length == length && memcmp(tpti_vocab_text(vocab, token), text, length) == 0;
}

/* The slot that holds the text, or the free one where it would go. */
static uint32_t *slot_of(const tpti_vocab *vocab, const char *text, size_t length) {
  uint32_t *slots = (uint32_t *)(void *)vocab->slots.data;
  size_t at = (size_t)tpti_hash(0, text, length) & vocab->mask;
  while (slots[at] && !same_text(vocab, tpti_vocab_at(vocab, slots[at] - 1), text, length))
    at = (at + 1) & vocab->mask;
  return slots + at;
}

static tpt_status index_tokens(tpti_vocab *vocab) {
  vocab->mask = tpti_table_mask(vocab->count);
  size_t bytes = (vocab->mask + 1) * sizeof(uint32_t);
  tpti_buffer_free(&vocab->slots);
  if (!tpti_buffer_reserve(&vocab->slots, bytes)) return tpti_fail_memory(bytes);
  memset(vocab->slots.data, 0, bytes);
  for (size_t i = 0; i < vocab->count; i++) {
    const tpti_token *token = tpti_vocab_at(vocab, i);
    *slot_of(vocab, tpti_vocab_text(vocab, token), token->length) = (uint32_t)i + 1;
  }
  return TPT_OK;
}

/* Bytes of a token in a message. */
static int shown(const tpti_vocab *vocab, const tpti_token *token) {
  return (int)tpti_utf8_cut(tpti_vocab_text(vocab, token), tpti_least(token->length, 60));
}

tpt_status tpti_vocab_seal(tpti_vocab *vocab) {
  if (vocab->count == 0) return TPT_OK;
  qsort(vocab->tokens.data, vocab->count, sizeof(tpti_token), by_id);
  for (size_t i = 1; i < vocab->count; i++) {
    const tpti_token *one = tpti_vocab_at(vocab, i - 1), *two = one + 1;
    if (one->id == two->id)
      return tpti_fail(TPT_E_FORMAT, "model.vocab: id %u is given to both \"%.*s\" and \"%.*s\"",
                       one->id, shown(vocab, one), tpti_vocab_text(vocab, one), shown(vocab, two),
                       tpti_vocab_text(vocab, two));
  }
  return index_tokens(vocab);
}

bool tpti_vocab_find(const tpti_vocab *vocab, const char *text, size_t length, uint32_t *id) {
  if (vocab->count == 0) return false;
  uint32_t index = *slot_of(vocab, text, length);
  if (index) *id = tpti_vocab_at(vocab, index - 1)->id;
  return index != 0;
}

const tpti_token *tpti_vocab_token(const tpti_vocab *vocab, uint32_t id) {
  if (vocab->count == 0) return NULL;
  /* Without gaps before it a token stands at its id. */
  if (id < vocab->count && tpti_vocab_at(vocab, id)->id == id) return tpti_vocab_at(vocab, id);
  tpti_token key = {.id = id};
  return bsearch(&key, vocab->tokens.data, vocab->count, sizeof key, by_id);
}
