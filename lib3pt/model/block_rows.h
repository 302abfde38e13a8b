/* What of a block an operation sees: its weights, and the rows that go through it together. A group
 * is some sequences at a time; a tile is the rows of a group that one thread takes through a chain
 * of operations. */
#ifndef TPTI_MODEL_BLOCK_ROWS_H
#define TPTI_MODEL_BLOCK_ROWS_H

#include "model/block.h"
#include "op/linear.h"

/* The block's matrices, packed or not, and its vectors. */
typedef struct tpti_block_weights {
  tpti_weight qkv, o, gate_up, down;
  const float *n1, *n2;
  const float *cosine, *sine; /* [D / 2] of its rotation */
} tpti_block_weights;

tpti_block_weights tpti_block_weights_of(const tpti_pass *pass, size_t l);

/* Rows [first, first + rows) of the pass: whole sequences. */
typedef struct tpti_group {
  size_t first, rows;
} tpti_group;

/* The group that begins with a row, and the one after it; rows is 0 past the last, and where the
 * run was stopped. */
tpti_group tpti_group_at(const tpti_pass *pass, size_t first);
tpti_group tpti_group_next(const tpti_pass *pass, tpti_group g);

/* A group or a tile of rows going through the block. */
typedef struct tpti_block_rows {
  tpti_run *run;
  const tpti_network *net;
  const tpti_dims *dims;
  tpti_block_weights w;
  size_t first, M; /* rows: the first one's place in the group, and how many */
  bool fresh;      /* its gradients of matrices are the first */
  size_t T, qkv;   /* positions of a sequence; width of q, k, v side by side */
  /* From the first row on: activations, the stream, its gradient, work space (acts.h). */
  tpti_block_acts at;
  const float *h;
  float *dh, *dattended, *n, *act, *dn;
  float *wide;                         /* of the whole group: rows of F, then of qkv floats */
  float *gain_partial, *theta_partial; /* from the first row's block of rows on */
} tpti_block_rows;

/* The group's rows going through block l, of which h is what enters it. */
tpti_block_rows tpti_block_group(const tpti_pass *pass, size_t l, const float *h, tpti_group g);

/* A chain of operations on the rows of a tile. */
typedef void tpti_tile_fn(const tpti_block_rows *tile);

/* Tiles of `most` rows, or less where many threads share a group; no bit depends on it. */
void tpti_by_tiles(const tpti_block_rows *group, size_t most, tpti_tile_fn *work);

#endif
