/* The lines learned, how well each was foreseen, and the bytes in which a checkpoint keeps both. */
#ifndef MEMORY_H
#define MEMORY_H

#include "typeahead.h"

enum { LINES_KEPT = 2000 }; /* the latest, to be replayed */

/* How well a line was foreseen before it was learned. */
typedef struct score {
  double nats;     /* -ln of its probability */
  uint64_t tokens; /* its own and the one that ends it */
} score;

typedef struct memory {
  uint64_t random_state; /* of the lines that are replayed */
  score *scores;         /* of all lines */
  size_t scored;
  char *lines[LINES_KEPT];
  size_t kept;
} memory;

void memory_score(memory *m, score s);
void memory_keep(memory *m, const char *line);

/* Is it among the kept ones? */
int memory_has(const memory *m, const char *line);
void memory_free(memory *m);

/* A random number below `most`. */
size_t memory_draw(memory *m, size_t most);

/* exp(nats a token) of the lines [begin, end) together. */
double memory_perplexity(const memory *m, size_t begin, size_t end);

/* "line 12: perplexity 41.3, last 10: 55.2, first 10: 180.1"; "" before the first line. */
void memory_status(const memory *m, char *text, size_t capacity);

/* How the perplexity falls, in at most ten rows. */
void memory_table(const memory *m, FILE *to);

/* The bytes for a checkpoint: malloc's. tokenizer is its tokenizer.json. */
char *memory_pack(const memory *m, const char *tokenizer, size_t *size);

/* The other way; `bytes` is followed by a NUL.
 *   tokenizer result: where it begins in bytes; it ends with them
 *   returns   0: these are not such bytes */
int memory_unpack(memory *m, const char *bytes, size_t size, const char **tokenizer);

#endif
