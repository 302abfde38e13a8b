/* The text of each token, and which is the likeliest among those that agree with what was typed. */
#ifndef WORDS_H
#define WORDS_H

#include "typeahead.h"

typedef struct words {
  size_t count;
  char *texts;    /* one after the other, each ends with NUL */
  size_t *begin;  /* [count] in texts */
  char *new_word; /* [count] does its text begin with something else than a letter or digit? */
} words;

typedef struct choice {
  int32_t id;      /* -1: no token agrees */
  double share;    /* its probability among those that agree */
  double new_word; /* share of those that end the word before them */
} choice;

/* mark: the token that begins and ends a line. */
void words_make(words *w, const tpt_tokenizer *tokenizer, int32_t mark);
void words_free(words *w);

static inline const char *words_text(const words *w, int32_t id) { return w->texts + w->begin[id]; }

/* typed: a token agrees when one of its text and this begins with the other; "": all agree. One
 * that covers less of it weighs less. */
choice words_choose(const words *w, const float *logits, const char *typed);

#endif
