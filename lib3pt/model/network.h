/* The network: dims, parameters, and the tables that do not train (RoPE, a fixed DC profile). */
#ifndef TPTI_MODEL_NETWORK_H
#define TPTI_MODEL_NETWORK_H

#include "base/threads.h"
#include "model/held.h"
#include "model/params.h"

typedef struct tpti_network {
  tpti_dims dims; /* lists borrowed from the description */
  tpti_params params;
  float *weights; /* [params.count]; NULL of a converted network */
  tpti_held held; /* where they are, in any form */
  float *profile; /* r(p), p < max_seq_len; NULL: none. Among the weights where learned */
  float *rope_cosine, *rope_sine; /* [max_seq_len, E / 2] */
} tpti_network;

/* One block as it is read. */
typedef struct tpti_block_view {
  tpti_matrix qkv, o, gate_up, down;
  const float *n1, *n2; /* [D] gains */
  const float *theta;   /* [P / 2], NULL without rotation */
} tpti_block_view;

/* Lays tables and weights out in `plan`; params and dims of `net` are set either way. With matrices
 * in a form that is not float32 it is a network to decode and evaluate with. */
void tpti_network_layout(tpti_network *net, const tpti_dims *dims, tpti_form form, tpti_plan *plan);

/* TPT_OK where the weights are floats, else TPT_E_UNSUPPORTED. */
tpt_status tpti_network_need_floats(const tpti_network *net);

/* Fills the tables of a placed network, as far as the run is not stopped; the weights are left to
 * init or a file. */
void tpti_network_tables(tpti_run *run, tpti_network *net);

/* sqrt(D) or 1: what the embedding is multiplied by. */
float tpti_network_embedding_scale(const tpti_network *net);

/* cosine, sine [L, D / 2] of every block's rotation for the weights as they are now; nothing
 * without rotation. */
void tpti_network_rotations(const tpti_network *net, float *cosine, float *sine);

/* Parameters in whatever form they are held: a block's, and those at an offset of params. */
tpti_block_view tpti_network_block(const tpti_network *net, size_t layer);
tpti_matrix tpti_network_matrix(const tpti_network *net, size_t offset);
float *tpti_network_vector(const tpti_network *net, size_t offset);

/* Writes into `folded`, a placed network of any form whose dims say rotation none (or residual, as
 * this one's), weights with the same logits: rotations and gains absorbed. The weights of `net` are
 * floats. turn [D] is scratch. (fold.c) */
void tpti_network_fold(tpti_run *run, const tpti_network *net, tpti_network *folded, double *turn);

#endif
