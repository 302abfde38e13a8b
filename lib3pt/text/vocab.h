/* Tokens and their ids, both ways. Built by adding, then sealed; ids may have gaps. */
#ifndef TPTI_TEXT_VOCAB_H
#define TPTI_TEXT_VOCAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { TPTI_MAX_ID = INT32_MAX };

typedef struct tpti_token {
  size_t offset; /* of its first byte in the vocabulary's text */
  uint32_t length, id;
} tpti_token;

typedef struct tpti_vocab {
  tpti_buffer text, tokens; /* tpti_token, by rising id once sealed */
  tpti_buffer slots;        /* uint32_t: index of a token + 1, hashed by its text; 0 is free */
  size_t count, mask;
} tpti_vocab;

void tpti_vocab_init(tpti_vocab *vocab, const tpti_memory *memory);
void tpti_vocab_free(tpti_vocab *vocab);

/* A token whose text is not there yet. false: no memory. */
bool tpti_vocab_add(tpti_vocab *vocab, const char *text, size_t length, uint32_t id);

/* Sorts and indexes; again after more were added. An id given twice is TPT_E_FORMAT. */
tpt_status tpti_vocab_seal(tpti_vocab *vocab);

bool tpti_vocab_find(const tpti_vocab *vocab, const char *text, size_t length, uint32_t *id);
const tpti_token *tpti_vocab_at(const tpti_vocab *vocab, size_t index);   /* by rising id */
const tpti_token *tpti_vocab_token(const tpti_vocab *vocab, uint32_t id); /* NULL: a gap */
const char *tpti_vocab_text(const tpti_vocab *vocab, const tpti_token *token);

#endif
