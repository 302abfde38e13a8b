/* Attention's inner loops on AMX tiles (op/attention_amx.h): operands of products are rounded to
 * bf16, all else is float32.
 *
 * Operands are packed as tiles of 16 lines of 32 numbers along which a product sums; whatever is
 * missing up to the next multiple of 32 is 0. Scores stand on end, a row for a key and a column for
 * a query, so that a vector holds 16 queries: maximum and sum need no turn within vectors, and the
 * probabilities are operands as they come. */
#ifndef TPTI_KERNEL_ATTENTION_AMX_H
#define TPTI_KERNEL_ATTENTION_AMX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A strip of queries or keys, and of channels: two tiles. */
enum {
  TPTI_SCORE_LINES = 16,                               /* of a tile */
  TPTI_SCORE_ROW = 32,                                 /* bf16 of a line */
  TPTI_SCORE_TILE = TPTI_SCORE_LINES * TPTI_SCORE_ROW, /* bf16 */
  TPTI_SCORE_STRIP = 2 * TPTI_SCORE_LINES,
  TPTI_SCORE_CHUNK = 64 /* keys */
};

/* x [rows, cols], rows `stride` floats apart. */
typedef struct tpti_score_source {
  const float *x;
  size_t stride, rows, cols;
} tpti_score_source;

/* c (+)= a b^T of m x n x k tiles, m and n even. Tile (i, p) of a is a + (i a_row + p) tiles, and
 * (j, p) of b likewise; c is [16 m, 16 n] floats. */
typedef struct tpti_score_product {
  float *c;
  const uint16_t *a, *b;
  size_t c_row, a_row, b_row, m, n, k;
  bool add;
} tpti_score_product;

/* The sums of a strip's queries so far: the largest score, what the exponentials add up to, and y
 * [E, 32]. -inf, 0 and NULL before the first key. */
typedef struct tpti_score_state {
  float *max, *sum, *y;
  size_t E; /* a multiple of 32 */
} tpti_score_state;

/* The scores of up to TPTI_SCORE_CHUNK keys, a multiple of 32: row i of s [keys, 32] is seen by
 * columns i - lead and on; factor is that of the exponent, log2(e) / sqrt(E). */
typedef struct tpti_score_chunk {
  const float *s;
  const uint16_t *soon[2]; /* operands [keys, E] to be brought near meanwhile */
  size_t keys;
  ptrdiff_t lead;
  float factor;
} tpti_score_chunk;

/* A strip of keys against a strip of queries: s and dp [32, 32]. Queries below `queries` count. */
typedef struct tpti_score_square {
  const float *s, *dp;
  const float *lse, *delta; /* [32] */
  size_t queries;
  ptrdiff_t lead;
  float factor, scale;
  uint16_t *p, *ds; /* two lines of tiles, line_step tiles apart, the keys; they sum over queries */
  uint16_t *turned; /* two lines, turned_step apart, the queries; ds, to sum over keys */
  size_t line_step, turned_step;
} tpti_score_square;

/* Column c of turned is this query: the cheap way of pairing two rows leaves them so. */
static inline size_t tpti_score_query(size_t c) { return (c & 3) | (c & 12) << 1 | (c & 16) >> 2; }

typedef struct tpti_scores {
  /* Around all other calls: takes this thread's tiles, and gives them back. */
  void (*begin)(void), (*end)(void);
  /* Tiles whose lines are the rows of x; line tile i begins i step tiles after out. `pairs`: as the
   * right operand of a product wants them, else as the left. */
  void (*pack_rows)(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs);
  /* The same of its columns. */
  void (*pack_columns)(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs);
  void (*product)(const tpti_score_product *g);
  /* p = exp(s - max), two lines of tiles, TPTI_SCORE_CHUNK / 32 apart, the queries; they sum over
   * keys. max, sum and y run on, and the caller adds p v. */
  void (*softmax)(uint16_t *p, const tpti_score_state *to, const tpti_score_chunk *chunk);
  /* When all keys are through: y [queries, E] and, if not NULL, lse [32] from their sums. */
  void (*finish)(float *y, size_t y_stride, float *lse, const tpti_score_state *from,
                 size_t queries, size_t E, float factor);
  /* s, dp -> p, ds = scale p (dp - delta), both 0 where a key is not seen. */
  void (*gradient)(const tpti_score_square *g);
  /* out [queries, E] (+)= in [E, 32], whose columns are those of a square's turned. */
  void (*turn)(float *out, size_t stride, const float *in, size_t queries, size_t E, bool add);
} tpti_scores;

/* NULL: this build has none. They may be called once tpti_amx_permit() has said yes. */
const tpti_scores *tpti_scores_amx(void);

#endif
