/* The optimizer's step: norm, clipping, and AdamW in blocks of the flat arrays. */
#include "train/adamw.h"

#include <math.h>

#include "kernel/kernel.h"
#include "train/clip.h"
#include "train/schedule.h"

void tpti_adamw_layout(tpti_adamw *adamw, const tpti_params *params, tpti_plan *plan) {
  *adamw = (tpti_adamw){.params = params, .lr_override = (double)NAN};
  adamw->m = tpti_place(plan, params->count, sizeof(float));
  adamw->v = tpti_place(plan, params->count, sizeof(float));
  adamw->partial = tpti_place(plan, tpti_flat_blocks(params->count), sizeof(double));
}

double tpti_adamw_lr(const tpti_adamw *adamw, const tpti_recipe *recipe) {
  if (!isnan(adamw->lr_override)) return adamw->lr_override;
  return recipe->lr * tpti_schedule_share(recipe, adamw->steps);
}

/* The angles' rate: theta_lr on the same schedule, or in the same ratio to an override. */
static double theta_lr(const tpti_adamw *adamw, const tpti_recipe *recipe) {
  if (isnan(adamw->lr_override))
    return recipe->theta_lr * tpti_schedule_share(recipe, adamw->steps);
  return recipe->lr > 0.0 ? adamw->lr_override * (recipe->theta_lr / recipe->lr) : 0.0;
}

/* Constants of one step for the four classes of tensors: [is theta][decays]. */
typedef struct update {
  const tpti_kernels *kernels;
  const tpti_adamw *adamw;
  const float *gradients;
  float *weights;
  bool matrices_only;
  tpti_adamw_step step[2][2];
} update;

static void set_constants(update *u, const tpti_recipe *r, double scale) {
  const tpti_adamw *a = u->adamw;
  double t = (double)(a->steps + 1);
  double rates[2] = {tpti_adamw_lr(a, r), theta_lr(a, r)};
  for (int theta = 0; theta < 2; theta++) {
    for (int decays = 0; decays < 2; decays++) {
      u->step[theta][decays] =
          (tpti_adamw_step){.gradient_scale = scale,
                            .beta1 = r->beta1,
                            .beta2 = r->beta2,
                            .lr = rates[theta],
                            .decay = decays ? rates[theta] * r->weight_decay : 0.0,
                            .eps = r->eps,
                            .bias1 = 1.0 / (1.0 - pow(r->beta1, t)),
                            .bias2 = 1.0 / (1.0 - pow(r->beta2, t))};
    }
  }
}

/* The last tensor that begins at or before `offset`. */
static const tpti_tensor *tensor_at(const tpti_params *p, size_t offset) {
  size_t low = 0, high = p->tensor_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (p->tensors[middle].offset <= offset)
      low = middle;
    else
      high = middle;
  }
  return &p->tensors[low];
}

static void update_block(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const update *u = argument;
  const tpti_params *p = u->adamw->params;
  size_t at = item * TPTI_FLAT_BLOCK, end = at + tpti_flat_size(p->count, item);
  for (const tpti_tensor *t = tensor_at(p, at); at < end; t++) {
    size_t stop = t->offset + t->count < end ? t->offset + t->count : end;
    bool decays = !u->matrices_only || t->ndim == 2;
    u->kernels->adamw(u->weights + at, u->adamw->m + at, u->adamw->v + at, u->gradients + at,
                      stop - at, &u->step[t->start == TPTI_START_THETA][decays]);
    at = stop;
  }
}

/* Names the first tensor whose gradient is not finite, so that the user sees where it began. */
static tpt_status fail_not_finite(const update *u) {
  const tpti_params *p = u->adamw->params;
  const tpti_tensor *t = p->tensors;
  while (isfinite(u->kernels->sum_squares(u->gradients + t->offset, t->count))) t++;
  return tpti_fail(TPT_E_NUMERIC, "the gradient of %s is not finite; the weights are unchanged",
                   t->name);
}

tpt_status tpti_adamw_step_all(tpti_run *run, tpti_adamw *adamw, const tpti_recipe *recipe,
                               float *weights, const float *gradients, double *norm) {
  size_t count = adamw->params->count;
  double mean = 1.0 / (double)recipe->grad_accum;
  update u = {.kernels = run->kernels,
              .adamw = adamw,
              .gradients = gradients,
              .weights = weights,
              .matrices_only = recipe->decay == TPTI_DECAY_MATRICES};
  double value = mean * tpti_global_norm(run, gradients, count, adamw->partial);
  if (!isfinite(value)) return fail_not_finite(&u);
  set_constants(&u, recipe, mean * tpti_clip_factor(value, recipe->clip));
  tpti_parallel(run, tpti_flat_blocks(count), update_block, &u);
  adamw->steps++;
  *norm = value;
  return TPT_OK;
}
