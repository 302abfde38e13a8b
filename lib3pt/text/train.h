/* Making vocabularies from text. */
#ifndef TPTI_TEXT_TRAIN_H
#define TPTI_TEXT_TRAIN_H

#include "text/count.h"
#include "text/tokenizer.h"

/* How much of the work is done when the words are counted, by guess: where merges are trained. */
#define TPTI_COUNTED 0.5

/* The distinct words of a text, as the tokenizer's pre-tokenizer cuts them. What part of the call
 * that is, the run's span says. */
tpt_status tpti_count_words(const tpti_tokenizer *tokenizer, tpti_run *run, const char *text,
                            size_t length, tpti_counts *counts);

/* Adds tokens and merges until the vocabulary has `vocab` of them or no two symbols stand side by
 * side any more. The words are of the byte-level alphabet, whose 256 characters the vocabulary
 * has. */
tpt_status tpti_train_merges(tpti_tokenizer *tokenizer, tpti_run *run, const tpti_counts *words,
                             size_t vocab);

#endif
