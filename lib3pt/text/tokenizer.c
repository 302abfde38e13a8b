/* What a tokenizer holds, and the questions about single tokens. */
#include "text/tokenizer.h"

#include <string.h>

#include "base/text.h"
#include "io/looks.h"
#include "text/alphabet.h"

void tpti_tokenizer_free(tpti_tokenizer *t) {
  if (!t) return;
  tpti_vocab_free(&t->vocab);
  tpti_bpe_free(&t->bpe);
  tpti_added_free(&t->added);
  tpti_steps_free(&t->normalizer);
  tpti_steps_free(&t->pre_tokenizer);
  tpti_steps_free(&t->decoder);
  for (size_t i = 0; i < TPTI_SECTIONS; i++) tpti_buffer_free(&t->sections[i]);
  tpti_give(t->memory, t, sizeof *t);
}

static bool is_byte_alphabet(const tpti_vocab *vocab) {
  if (vocab->count != TPTI_BYTES) return false;
  for (size_t i = 0; i < TPTI_BYTES; i++) {
    char text[4];
    size_t length = tpti_utf8_write(tpti_alphabet_char((uint8_t)i), text);
    const tpti_token *token = tpti_vocab_at(vocab, i);
    if (token->id != i || token->length != length ||
        memcmp(tpti_vocab_text(vocab, token), text, length) != 0)
      return false;
  }
  return true;
}

static bool is_only(const tpti_steps *steps, tpti_step_kind kind) {
  return steps->count == 1 && steps->at[0].kind == kind;
}

/* A model without merges whose 256 tokens are the bytes in order, and nothing else in its way. */
static bool is_raw(const tpti_tokenizer *t) {
  return t->kind == TPTI_MODEL_BPE && t->bpe.count == 0 && t->added.count == 0 &&
         t->bpe.prefix.used == 0 && t->bpe.suffix.used == 0 && t->normalizer.count == 0 &&
         is_only(&t->pre_tokenizer, TPTI_STEP_BYTES) && is_only(&t->decoder, TPTI_STEP_UNBYTES) &&
         is_byte_alphabet(&t->vocab);
}

tpt_status tpti_tokenizer_seal(tpti_tokenizer *t) {
  tpt_status status = tpti_vocab_seal(&t->vocab);
  if (!status) status = tpti_bpe_seal(&t->bpe, &t->vocab);
  if (!status) t->raw_bytes = is_raw(t);
  return status;
}

tpt_status tpti_fail_token_id(const char *name, int32_t id, size_t size) {
  if (size == 0)
    return tpti_fail(TPT_E_ARGUMENT, "%s is %ld; the tokenizer has no ids", name, (long)id);
  return tpti_fail(TPT_E_ARGUMENT,
                   "%s is %ld; ids from 0 to below the tokenizer's vocabulary size (%zu) are "
                   "allowed",
                   name, (long)id, size);
}

size_t tpti_tokenizer_size(const tpti_tokenizer *t) {
  size_t size = 0;
  if (t->vocab.count) size = (size_t)tpti_vocab_at(&t->vocab, t->vocab.count - 1)->id + 1;
  for (size_t i = 0; i < t->added.count; i++) {
    size_t id = tpti_added_at(&t->added, i)->id;
    if (id >= size) size = id + 1;
  }
  return size;
}

const char *tpti_tokenizer_text(const tpti_tokenizer *t, uint32_t id, size_t *length) {
  const tpti_added_token *added = tpti_added_token_of(&t->added, id);
  if (added) {
    *length = added->length;
    return tpti_added_text(&t->added, added);
  }
  const tpti_token *token = tpti_vocab_token(&t->vocab, id);
  if (!token) return NULL;
  *length = token->length;
  return tpti_vocab_text(&t->vocab, token);
}

bool tpti_tokenizer_find(const tpti_tokenizer *t, const char *token, size_t length, uint32_t *id) {
  const tpti_added_token *added = tpti_added_find(&t->added, token, length);
  if (added) *id = added->id;
  return added || tpti_vocab_find(&t->vocab, token, length, id);
}

tpt_status tpti_check_utf8(tpti_run *run, const char *text, size_t length) {
  enum { STRIDE = 1 << 20 };
  size_t valid = 0;
  while (valid < length) {
    size_t left = length - valid;
    size_t bytes = left > STRIDE ? tpti_utf8_cut(text + valid, STRIDE) : left;
    size_t good = tpti_utf8_valid(text + valid, bytes);
    valid += good;
    if (good < bytes) break;
    tpt_status status = tpti_tick(run);
    if (status) return status;
  }
  if (valid == length) return TPT_OK;
  tpti_fail(TPT_E_ARGUMENT, "text is not UTF-8 at byte %zu (0x%02x) of %zu", valid,
            (unsigned)(uint8_t)text[valid], length);
  return tpti_fail_looks(TPT_E_ARGUMENT, TPTI_WANT_TEXT, text, length);
}
