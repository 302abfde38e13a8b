/* The activation plan of a trainer: what forward keeps for backward, and the work space of both. */
#ifndef TPTI_MODEL_ACTS_H
#define TPTI_MODEL_ACTS_H

#include "model/network.h"
#include "model/recipe.h"

/* Of one block; M rows. With `recompute: block` all blocks share everything but `out`, and hold the
 * rows of one group. */
typedef struct tpti_block_acts {
  float *rstd1, *rstd2; /* [M, N] of the two norms */
  float *qkv;           /* [M, D + 2 K E] after RoPE */
  double *lse;          /* [M, H] of attention */
  float *y;             /* [M, D] heads side by side, before o */
  float *attended;      /* [M, D] stream after attention is added */
  float *rotated;       /* [M, D] after the rotation; the same array where there is none */
  float *gate_up;       /* [M, 2 F]; backward turns it into its gradient */
  float *out;           /* [M, D] stream after the block */
} tpti_block_acts;

/* The matrices of the block now in progress, packed for both directions (op/linear.h). */
typedef struct tpti_packed {
  void *qkv, *o, *gate_up, *down;
} tpti_packed;

typedef struct tpti_acts {
  size_t room;              /* the most rows: batch x seq_len of the recipe */
  size_t group;             /* the most rows that go through a block together */
  size_t tile;              /* rows of a group that one thread takes through several operations */
  size_t chunk;             /* rows of logits at a time */
  tpti_precision precision; /* of the recipe: what space is held for */
  bool recompute;           /* blocks share their insides */
  tpti_block_acts *blocks;
  float *cosine, *sine;      /* [L, D / 2] of the rotations */
  float *embedding;          /* [M, D] stream after DC injection */
  float *rstd_f;             /* [M, N] */
  float *final;              /* [M, D] what the head reads */
  double *row_loss;          /* [M] */
  float *dh;                 /* [M, D] gradient of the stream */
  float *sums;               /* [M] of the zero-sum penalty; then means of the DC backward */
  int32_t *tokens, *targets; /* [M] of the last forward, of its loss */
  /* Work space of G rows, those of a group. */
  float *n;             /* [G, D] a norm's output */
  float *act;           /* [G, F] SwiGLU */
  float *wide;          /* [G, max(F, D + 2 K E)] gradient of act, then of qkv */
  float *attention;     /* work of attention's backward */
  float *dattended;     /* [G, D] gradient of the stream before the feed-forward half */
  float *dn;            /* [max(G, chunk), D] gradient of a norm's output, then of y */
  float *gain_partial;  /* [row_blocks(max(G, chunk)), D] sums over rows */
  float *theta_partial; /* [row_blocks(G), D / 2] */
  float *logits;        /* [chunk, V] */
  tpti_packed forward,
      input;            /* the same memory, one after the other, where nothing is recomputed */
  void *scratch, *pack; /* of the run: the calling thread's, and the operands of products */
} tpti_acts;

/* Lays out the activations of a trainer of this recipe. */
void tpti_acts_layout(tpti_acts *acts, const tpti_dims *dims, const tpti_recipe *recipe,
                      tpti_plan *plan);

/* Sequences of T positions that go through a block together: at least one, acts->group rows at
 * most. */
size_t tpti_acts_sequences(size_t T);

#endif
