/* The parameters: one flat float32 array and one table that says what lies where. The order is that
 * of the published PyTorch code's state_dict, without gaps; gradients and both moments have the
 * same layout. */
#ifndef TPTI_MODEL_PARAMS_H
#define TPTI_MODEL_PARAMS_H

#include <stdint.h>

#include "base/threads.h"
#include "model/dims.h"

enum {
  TPTI_NAME = 72
}; /* bytes of a tensor's name with its NUL: "blocks.<20 digits>.n1.norms.<20>.weight" */

typedef enum tpti_start {
  TPTI_START_NORMAL,  /* N(0, 1) */
  TPTI_START_UNIFORM, /* U(-1/sqrt(in), 1/sqrt(in)) */
  TPTI_START_ONE,
  TPTI_START_THETA, /* the layer's angle of the schedule */
  TPTI_START_HORN   /* 1 / (p + 1) */
} tpti_start;

typedef struct tpti_tensor {
  char name[TPTI_NAME];
  size_t ndim, shape[2]; /* shape[1] is 1 where ndim is 1 */
  size_t offset, count;  /* in floats */
  size_t layer;          /* of a block's tensor, else 0 */
  tpti_start start;
} tpti_tensor;

/* Offsets in floats; those of block l are block_first + l block_stride further. */
typedef struct tpti_params {
  tpti_tensor *tensors; /* [tensor_count], NULL while only counting */
  size_t *slots;        /* [slot_count]: index of a tensor + 1, hashed by its name; 0 is free */
  size_t slot_count;    /* a power of 2 */
  size_t tensor_count, count;
  size_t token_emb, dc_profile, norm_f, head; /* dc_profile: SIZE_MAX where it is not learned */
  size_t block_first, block_stride;
  size_t qkv, o, gate_up, down, n1, n2,
      theta; /* within a block; theta is SIZE_MAX without rotation */
} tpti_params;

/* What one block's tensors are in `base`: weights, or gradients. */
typedef struct tpti_block_params {
  float *qkv;     /* [D + 2 K E, D]: q, k, v */
  float *o;       /* [D, D] */
  float *gate_up; /* [2 F, D] */
  float *down;    /* [D, F] */
  float *n1, *n2; /* [D] gains */
  float *theta;   /* [P / 2], NULL without rotation */
} tpti_block_params;

/* Lays the table out in `plan` (counting or placing) and fills `params`. The dims have been
 * checked. Counting costs the same for every number of blocks and phases. */
void tpti_params_layout(tpti_params *params, const tpti_dims *dims, tpti_plan *plan);

tpti_block_params tpti_params_block(const tpti_params *params, float *base, size_t layer);

/* NULL where there is no such tensor. */
const tpti_tensor *tpti_params_find(const tpti_params *params, const char *name);

/* Angle that layer l starts at. */
double tpti_params_start_angle(const tpti_dims *dims, size_t layer);

/* Random weights, a function of seed alone: each block of a tensor has a stream of its own. */
void tpti_params_init(tpti_run *run, const tpti_params *params, const tpti_dims *dims,
                      uint64_t seed, float *weights);

#endif
