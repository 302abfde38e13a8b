/* Optimizers: AdamW over a trainer's model. */
#include <math.h>
#include <string.h>

#include "api/objects.h"
#include "spec/keys.h"
#include "train/flat.h"

static tpt_optimizer *layout(const tpti_params *params, tpti_plan *plan, tpti_adamw *adamw) {
  tpt_optimizer *optimizer = tpti_place(plan, 1, sizeof *optimizer);
  tpti_adamw_layout(adamw, params, plan);
  return optimizer;
}

bool tpti_optimizer_bytes(const tpti_spec *spec, size_t *bytes) {
  tpti_plan plan = {0};
  tpti_adamw adamw;
  tpti_params params = {0};
  bool fits = tpti_count_parameters(&spec->model, &params.count);
  layout(&params, &plan, &adamw);
  *bytes = plan.used;
  return fits && !plan.overflow;
}

static tpt_status place_optimizer(tpt_trainer *trainer, tpt_config *config,
                                  tpt_optimizer **optimizer) {
  const tpti_params *params = &trainer->model->net.params;
  size_t bytes;
  if (!tpti_optimizer_bytes(&config->spec, &bytes)) return tpti_fail_memory(SIZE_MAX);
  tpti_plan plan = {.base = tpti_take(&trainer->context->memory, bytes)};
  if (!plan.base) return tpti_fail_memory(bytes);
  tpti_adamw adamw;
  tpt_optimizer *made = layout(params, &plan, &adamw);
  memset(made, 0, sizeof *made);
  tpti_handle_init(&made->head, TPTI_OPTIMIZER);
  made->bytes = bytes;
  made->config = config;
  made->adamw = adamw;
  made->trainer = trainer;
  tpti_log(trainer->context, 2, "optimizer: %zu bytes", bytes);
  *optimizer = made;
  return TPT_OK;
}

/* A run that uses the trainer's scratch: a trainer and its optimizers count as one handle. */
static tpti_run run_of(const tpt_optimizer *o) {
  return tpti_context_run(o->context, o, o->trainer->acts.scratch, o->trainer->acts.pack);
}

/* Both moments start at 0. */
static tpt_status prepare(tpt_optimizer *o) {
  tpti_run run = run_of(o);
  run.handle = o->trainer; /* whom the caller knows */
  tpti_flat_clear(&run, o->adamw.m, o->adamw.params->count);
  tpti_flat_clear(&run, o->adamw.v, o->adamw.params->count);
  return tpti_run_status(&run);
}

static tpt_status create(tpt_trainer *trainer, const tpt_config *config,
                         tpt_optimizer **optimizer) {
  tpt_config *own = NULL;
  tpt_optimizer *made = NULL;
  tpt_status status = tpti_config_for(config, trainer->config, trainer->model, &own);
  if (!status) status = place_optimizer(trainer, own, &made);
  if (status) {
    tpt_config_destroy(own);
    return status;
  }
  tpti_context_hold(trainer->context, &made->context);
  tpti_handle_hold(&trainer->head);
  if ((status = prepare(made)))
    tpt_optimizer_destroy(made);
  else
    *optimizer = made;
  return status;
}

tpt_status tpt_optimizer_create(tpt_trainer *trainer, const tpt_config *config,
                                tpt_optimizer **optimizer) {
  return TPTI_MAKE(trainer, TPTI_TRAINER, optimizer, create(trainer, config, optimizer));
}

void tpt_optimizer_destroy(tpt_optimizer *optimizer) {
  if (!optimizer || !tpti_handle_is(optimizer, TPTI_OPTIMIZER, "optimizer")) return;
  if (!tpti_handle_release(&optimizer->head)) return;
  tpt_context *context = optimizer->context;
  tpt_config_destroy(optimizer->config);
  tpt_trainer_destroy(optimizer->trainer);
  tpti_give(&context->memory, optimizer, optimizer->bytes);
  tpti_context_release(context);
}

static tpt_status step(tpt_optimizer *o, double *gradient_norm) {
  tpt_trainer *t = o->trainer;
  if (t->state.spoiled)
    return tpti_fail(TPT_E_STATE, "the gradients are spoiled by a call that did not finish; call "
                                  "tpt_trainer_zero_gradients first");
  tpti_run run = run_of(o);
  run.progress = NULL; /* a step is never cut */
  run.cancel = NULL;
  if (t->blank) tpti_flat_clear(&run, t->gradients, t->model->net.params.count);
  t->blank = false;
  double norm;
  tpt_status status = tpti_adamw_step_all(&run, &o->adamw, &o->config->spec.train,
                                          t->model->net.weights, t->gradients, &norm);
  if (status) return status;
  tpti_model_changed(t->model);
  if (gradient_norm) *gradient_norm = norm;
  return TPT_OK;
}

tpt_status tpt_optimizer_step(tpt_optimizer *optimizer, double *gradient_norm) {
  return TPTI_CALL(optimizer, TPTI_OPTIMIZER, step(optimizer, gradient_norm));
}

static tpt_status set_lr(tpt_optimizer *o, double lr) {
  double most = tpti_key_find("train.lr")->high;
  if (!isnan(lr) && !(lr >= 0.0 && lr <= most))
    return tpti_fail(TPT_E_ARGUMENT, "lr is %g; 0 to %g, or NaN for the schedule, is allowed", lr,
                     most);
  o->adamw.lr_override = lr;
  return TPT_OK;
}

tpt_status tpt_optimizer_set_lr(tpt_optimizer *optimizer, double lr) {
  return TPTI_CALL(optimizer, TPTI_OPTIMIZER, set_lr(optimizer, lr));
}

static tpt_status get_lr(const tpt_optimizer *o, double *lr) {
  TPTI_NEED(lr);
  *lr = tpti_adamw_lr(&o->adamw, &o->config->spec.train);
  return TPT_OK;
}

tpt_status tpt_optimizer_lr(const tpt_optimizer *optimizer, double *lr) {
  return TPTI_CALL(optimizer, TPTI_OPTIMIZER, get_lr(optimizer, lr));
}

static tpt_status step_count(const tpt_optimizer *o, uint64_t *steps) {
  TPTI_NEED(steps);
  *steps = o->adamw.steps;
  return TPT_OK;
}

tpt_status tpt_optimizer_step_count(const tpt_optimizer *optimizer, uint64_t *steps) {
  return TPTI_CALL(optimizer, TPTI_OPTIMIZER, step_count(optimizer, steps));
}
