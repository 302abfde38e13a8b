/* AdamW over the flat arrays (Loshchilov and Hutter 2019): one pass over weights, both moments and
 * gradients. */
#ifndef TPTI_TRAIN_ADAMW_H
#define TPTI_TRAIN_ADAMW_H

#include "base/error.h"
#include "base/threads.h"
#include "model/params.h"
#include "model/recipe.h"

typedef struct tpti_adamw {
  const tpti_params *params;
  float *m, *v;       /* [params->count] */
  double *partial;    /* of the norm */
  uint64_t steps;     /* done */
  double lr_override; /* instead of the schedule; NaN: none */
} tpti_adamw;

void tpti_adamw_layout(tpti_adamw *adamw, const tpti_params *params, tpti_plan *plan);

/* Of the next step. */
double tpti_adamw_lr(const tpti_adamw *adamw, const tpti_recipe *recipe);

/* One step with gradients / grad_accum, clipped; *norm is that before clipping. TPT_E_NUMERIC, and
 * nothing is changed, where it is not finite. */
tpt_status tpti_adamw_step_all(tpti_run *run, tpti_adamw *adamw, const tpti_recipe *recipe,
                               float *weights, const float *gradients, double *norm);

#endif
