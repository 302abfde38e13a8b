/* A line as token ids, cut into rows, and rows put together as a batch. */
#ifndef ROWS_H
#define ROWS_H

#include "typeahead.h"

enum {
  ROWS = 8,      /* of a batch, at most */
  ROW_MOST = 255 /* tokens of a row, where the model's view is longer */
};

typedef struct tokens {
  int32_t ids[LINE_MOST + 32]; /* mark, line, mark */
  size_t count;
  size_t row; /* a row predicts so many tokens, and the next one begins with its last */
} tokens;

typedef struct batch {
  const int32_t *from[ROWS];
  size_t length[ROWS], count, longest;
} batch;

/* mark: the token that begins and ends a line.
 *   returns   ARGUMENT: the tokenizer cannot read the line */
tpt_status rows_read(tokens *t, const tpt_tokenizer *tokenizer, int32_t mark, size_t row,
                     const char *line);

size_t rows_count(const tokens *t);

/* The ids of a row: one more than `length`, the tokens that it predicts. */
const int32_t *rows_at(const tokens *t, size_t index, size_t *length);

/* Adds a row, whose ids stay where they are. */
void rows_add(batch *b, const tokens *t, size_t index);

/* [count, longest] of each; what is beyond a row's end has target -1. */
void rows_fill(const batch *b, int32_t *inputs, int32_t *targets);

#endif
