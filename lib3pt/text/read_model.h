/* The member "model" of tokenizer.json. */
#ifndef TPTI_TEXT_READ_MODEL_H
#define TPTI_TEXT_READ_MODEL_H

#include "text/parts.h"
#include "text/tokenizer.h"

/* Vocabulary, merges and options; the vocabulary is sealed. */
tpt_status tpti_read_model(tpti_tokenizer *tokenizer, tpti_run *run, const tpti_part *model);

#endif
