/* Suggestions, decoded on a thread of their own from a snapshot of the model. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include "typeahead.h"

enum { SUGGESTION_MOST = 200 }; /* bytes of a suggestion, its NUL among them */

typedef struct suggester suggester;

/* Starts the thread. The tokenizer outlives it.
 *   model   to begin with; copied
 *   mark    the token that begins and ends a line
 *   wake    called on the thread when there is an answer */
suggester *suggest_start(tpt_model *model, const tpt_tokenizer *tokenizer, int32_t mark,
                         void (*wake)(void));
void suggest_end(suggester *s);

/* The weights have changed: the next suggestions are theirs. Between two training steps. */
void suggest_learned(suggester *s, tpt_model *model);

/* What is wanted now: how this text goes on. Ends the work for an earlier one; does not wait. */
void suggest_ask(suggester *s, const char *text);

/* The answer to what was asked last; "" where the model is not sure enough.
 *   text      result [SUGGESTION_MOST], where there is a new one
 *   returns   is there a new one? */
int suggest_answer(suggester *s, char *text);

#endif
