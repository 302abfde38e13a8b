/* Added tokens: texts that become one id wherever they stand, before the model sees anything. */
#ifndef TPTI_TEXT_ADDED_H
#define TPTI_TEXT_ADDED_H

#include "text/step.h"

/* Bounds of what a file may ask for: looking one up is a walk along the list. */
enum { TPTI_MAX_ADDED = 1 << 14, TPTI_MAX_ADDED_LENGTH = 1 << 12 };

typedef struct tpti_added_token {
  size_t offset, length;               /* of its content in the table's text */
  size_t spoken_offset, spoken_length; /* of what a decoder is given for it */
  uint32_t id;
  bool single_word, left, right, normalized, special; /* left, right: takes white space there */
} tpti_added_token;

/* The texts to look for as a tree of bytes. */
typedef struct tpti_trie {
  tpti_buffer nodes;
  int32_t first[256]; /* the node of a first byte, -1 where none begins so */
} tpti_trie;

typedef struct tpti_added {
  tpti_buffer text, tokens; /* tpti_added_token, in the order of the file */
  size_t count;
  uint32_t lowest, highest;    /* ids */
  tpti_trie plain, normalized; /* looked for in the text as it is; in the normalized text */
  tpti_regex *word;            /* one word character; NULL where no token is a single word */
} tpti_added;

void tpti_added_init(tpti_added *added, const tpti_memory *memory);
void tpti_added_free(tpti_added *added);

bool tpti_added_add(tpti_added *added, const char *text, tpti_added_token token);

/* Builds what is needed to look for them. */
tpt_status tpti_added_seal(tpti_added *added, const tpti_steps *normalizer);

const tpti_added_token *tpti_added_at(const tpti_added *added, size_t index);
const char *tpti_added_text(const tpti_added *added, const tpti_added_token *token);

/* What a decoder is given: since version 0.23 of the package the normalized content, where the
 * token is a normalized one. */
const char *tpti_added_spoken(const tpti_added *added, const tpti_added_token *token);

const tpti_added_token *tpti_added_find(const tpti_added *added, const char *text, size_t length);
/* The last one of the file with this id, or NULL. */
const tpti_added_token *tpti_added_token_of(const tpti_added *added, uint32_t id);

/* Calls back for every piece of the text in turn: an added token, or (token NULL) what lies
 * between. without_special: special ones are text. */
typedef tpt_status (*tpti_added_fn)(void *user, const tpti_added_token *token, size_t start,
                                    size_t end);
tpt_status tpti_added_scan(const tpti_added *added, const tpti_trie *trie, const char *text,
                           size_t length, bool without_special, tpti_run *run, tpti_added_fn piece,
                           void *user);

#endif
