/* What a trainer shows of itself: its gradients, and the activations of its last forward. */
#include <string.h>

#include "api/objects.h"
#include "train/flat.h"

/* ---- gradients ---- */

static tpt_status clear(tpt_trainer *t, tpti_run run) {
  tpti_flat_clear(&run, t->gradients, t->model->net.params.count);
  return tpti_run_status(&run);
}

/* Where no host looks on, clearing waits for the backward, which overwrites nearly all of it. */
static tpt_status blank(tpt_trainer *t) {
  tpti_run run = tpti_trainer_run(t);
  if (tpti_run_tick(&run)) t->blank = true;
  return tpti_run_status(&run);
}

static tpt_status zero_gradients(tpt_trainer *t) {
  tpt_status status = t->shown ? clear(t, tpti_trainer_run(t)) : blank(t);
  t->state.spoiled = status != TPT_OK;
  return status;
}

tpt_status tpt_trainer_zero_gradients(tpt_trainer *trainer) {
  return TPTI_CALL(trainer, TPTI_TRAINER, zero_gradients(trainer));
}

static tpt_status gradients(tpt_trainer *t, float **values, size_t *count) {
  TPTI_NEED(values);
  TPTI_NEED(count);
  tpti_run run = tpti_trainer_run(t);
  run.progress = NULL; /* to look is never cancelled */
  run.cancel = NULL;
  if (t->blank) clear(t, run);
  t->blank = false;
  t->shown = true;
  *values = t->gradients;
  *count = t->model->net.params.count;
  return TPT_OK;
}

tpt_status tpt_trainer_gradients(tpt_trainer *trainer, float **values, size_t *count) {
  return TPTI_CALL(trainer, TPTI_TRAINER, gradients(trainer, values, count));
}

static tpt_status get_gradient(const tpt_trainer *t, const char *name, float *values,
                               size_t count) {
  TPTI_NEED(name);
  TPTI_NEED(values);
  const tpti_tensor *tensor = tpti_params_find(&t->model->net.params, name);
  if (!tensor)
    return tpti_fail(TPT_E_ARGUMENT, "the model has no parameter \"%.*s\"", tpti_shown(name, 64),
                     name);
  if (count != tensor->count)
    return tpti_fail(TPT_E_ARGUMENT, "count is %zu; %s has %zu values", count, name, tensor->count);
  if (t->blank)
    memset(values, 0, count * sizeof *values);
  else
    memcpy(values, t->gradients + tensor->offset, count * sizeof *values);
  return TPT_OK;
}

tpt_status tpt_trainer_get_gradient(const tpt_trainer *trainer, const char *name, float *values,
                                    size_t count) {
  return TPTI_CALL(trainer, TPTI_TRAINER, get_gradient(trainer, name, values, count));
}

/* ---- activations ---- */

static tpt_status check_point(const tpt_trainer *t, tpt_point point, size_t layer) {
  size_t L = t->model->net.dims.L;
  if (point < TPT_POINT_EMBEDDING || point > TPT_POINT_BLOCK)
    return tpti_fail(TPT_E_ARGUMENT, "point is %d; 0 to %d is allowed", (int)point,
                     TPT_POINT_BLOCK);
  if (point == TPT_POINT_EMBEDDING && layer > 0)
    return tpti_fail(TPT_E_ARGUMENT,
                     "layer is %zu; the embedding stands before all layers: 0 is allowed", layer);
  if (layer >= L)
    return tpti_fail(TPT_E_ARGUMENT, "layer is %zu; 0 to %zu is allowed", layer, L - 1);
  if (!t->state.readable)
    return tpti_fail(TPT_E_STATE, "there was no forward or accumulate that finished");
  bool inside = point == TPT_POINT_ATTENTION || point == TPT_POINT_ROTATION;
  if (inside && t->acts.recompute)
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "train.recompute is block: activations inside a block are not "
                     "kept");
  return TPT_OK;
}

tpt_status tpti_trainer_stream(const tpt_trainer *t, tpt_point point, size_t layer,
                               const float **values) {
  tpt_status status = check_point(t, point, layer);
  if (status) return status;
  const tpti_block_acts *block = &t->acts.blocks[layer];
  const float *const streams[] = {
      [TPT_POINT_EMBEDDING] = t->acts.embedding,
      [TPT_POINT_ATTENTION] = block->attended,
      [TPT_POINT_ROTATION] = block->rotated,
      [TPT_POINT_BLOCK] = block->out,
  };
  *values = streams[point];
  return TPT_OK;
}

static tpt_status activation(const tpt_trainer *t, tpt_point point, size_t layer,
                             const float **values, size_t *count) {
  TPTI_NEED(values);
  TPTI_NEED(count);
  tpt_status status = tpti_trainer_stream(t, point, layer, values);
  if (!status) *count = t->B * t->T * t->model->net.dims.D;
  return status;
}

tpt_status tpt_trainer_activation(tpt_trainer *trainer, tpt_point point, size_t layer,
                                  const float **values, size_t *count) {
  return TPTI_CALL(trainer, TPTI_TRAINER, activation(trainer, point, layer, values, count));
}
