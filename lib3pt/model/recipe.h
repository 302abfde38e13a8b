/* The training settings of a description: plain numbers that spec/ fills and checks, and train/
 * obeys. */
#ifndef TPTI_MODEL_RECIPE_H
#define TPTI_MODEL_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/precision.h"

typedef enum tpti_decay { TPTI_DECAY_ALL, TPTI_DECAY_MATRICES } tpti_decay;

typedef enum tpti_recompute { TPTI_RECOMPUTE_NONE, TPTI_RECOMPUTE_BLOCK } tpti_recompute;

typedef struct tpti_recipe {
  size_t seq_len, batch, grad_accum;
  uint64_t steps, warmup;
  double lr, lr_floor, theta_lr, beta1, beta2, eps, weight_decay, clip;
  tpti_decay decay;
  int32_t ignore_index;
  double aux_coef;
  tpti_precision precision;
  tpti_recompute recompute;
  uint64_t seed, eval_every, checkpoint_every; /* for the example programs */
} tpti_recipe;

#endif
