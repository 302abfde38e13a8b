/* Trainers, made and destroyed; what they compute is trainer_step.c. */
#include <stdio.h>
#include <string.h>

#include "api/objects.h"
#include "kernel/bf16.h"
#include "kernel/kernel.h"

tpti_run tpti_trainer_run(const tpt_trainer *t) {
  tpti_run run = tpti_context_run(t->context, t, t->acts.scratch, t->acts.pack);
  run.precision = t->precision;
  return run;
}

static tpt_trainer *layout(const tpti_spec *spec, size_t parameters, tpti_plan *plan,
                           tpti_acts *acts, float **gradients) {
  tpt_trainer *trainer = tpti_place(plan, 1, sizeof *trainer);
  *gradients = tpti_place(plan, parameters, sizeof(float));
  tpti_acts_layout(acts, &spec->model, &spec->train, plan);
  return trainer;
}

bool tpti_trainer_bytes(const tpti_spec *spec, size_t *bytes) {
  tpti_plan plan = {0};
  tpti_acts acts;
  float *gradients;
  size_t parameters;
  bool fits = tpti_count_parameters(&spec->model, &parameters);
  layout(spec, parameters, &plan, &acts, &gradients);
  *bytes = plan.used;
  return fits && !plan.overflow;
}

tpt_status tpti_config_for(const tpt_config *config, const tpt_config *fallback,
                           const tpt_model *model, tpt_config **copy) {
  tpt_status status = TPT_OK;
  if (config && !tpti_handle_is(config, TPTI_CONFIG, "config")) return TPT_E_ARGUMENT;
  if (config) status = tpti_spec_check(&config->spec);
  if (config && !status)
    status = tpti_spec_same_model(&config->spec, &model->config->spec, "the model");
  tpti_spec spec;
  if (!status) status = tpti_spec_copy(config ? &config->spec : &fallback->spec, &spec);
  if (status) return status;
  *copy = tpti_config_wrap(&spec);
  if (*copy) return TPT_OK;
  tpti_spec_free(&spec);
  return tpti_fail_memory(sizeof **copy);
}

static tpt_status fail_room(size_t bytes, const tpti_recipe *r) {
  char what[128];
  snprintf(what, sizeof what, "a trainer of %zu x %zu tokens (train.batch x train.seq_len)",
           r->batch, r->seq_len);
  return tpti_fail_memory_for(bytes, what);
}

static tpt_status place_trainer(tpt_model *model, tpt_config *config, tpt_trainer **trainer) {
  const tpti_recipe *recipe = &config->spec.train;
  size_t bytes, parameters = model->net.params.count;
  if (!tpti_trainer_bytes(&config->spec, &bytes)) return fail_room(SIZE_MAX, recipe);
  tpti_plan plan = {.base = tpti_take(&model->context->memory, bytes)};
  if (!plan.base) return fail_room(bytes, recipe);
  tpti_acts acts;
  float *gradients;
  tpt_trainer *made = layout(&config->spec, parameters, &plan, &acts, &gradients);
  memset(made, 0, sizeof *made);
  tpti_handle_init(&made->head, TPTI_TRAINER);
  made->bytes = bytes;
  made->acts = acts;
  made->gradients = gradients;
  made->config = config;
  made->model = model;
  made->precision = tpti_precision_here(recipe->precision);
  tpti_log(model->context, 2, "trainer: room for %zu tokens, %zu bytes", acts.room, bytes);
  *trainer = made;
  return TPT_OK;
}

/* The gradients start at 0, and BLIS's pools warm. */
static tpt_status prepare(tpt_trainer *t) {
  tpti_run run = tpti_trainer_run(t);
  run.handle = t->model; /* whom the caller knows */
  t->blank = true;
  tpt_status status = tpti_check_products(&run);
  return status ? status : tpti_run_status(&run);
}

static tpt_status create(tpt_model *model, const tpt_config *config, tpt_trainer **trainer) {
  tpt_config *own = NULL;
  tpt_trainer *made = NULL;
  tpt_status status = tpti_network_need_floats(&model->net);
  if (!status) status = tpti_config_for(config, model->config, model, &own);
  tpti_run run = tpti_context_run(model->context, model, NULL, NULL);
  if (!status && !tpti_run_tick(&run)) status = tpti_run_status(&run);
  if (!status) status = place_trainer(model, own, &made);
  if (status) {
    tpt_config_destroy(own);
    return status;
  }
  tpti_context_hold(model->context, &made->context);
  tpti_model_hold(model);
  if ((status = prepare(made)))
    tpt_trainer_destroy(made);
  else
    *trainer = made;
  return status;
}

tpt_status tpt_trainer_create(tpt_model *model, const tpt_config *config, tpt_trainer **trainer) {
  return TPTI_MAKE(model, TPTI_MODEL, trainer, create(model, config, trainer));
}

void tpt_trainer_destroy(tpt_trainer *trainer) {
  if (!trainer || !tpti_handle_is(trainer, TPTI_TRAINER, "trainer")) return;
  if (!tpti_handle_release(&trainer->head)) return;
  tpt_context *context = trainer->context;
  tpt_config_destroy(trainer->config);
  tpt_model_destroy(trainer->model);
  tpti_give(&context->memory, trainer->logits, trainer->logits_bytes);
  tpti_give(&context->memory, trainer, trainer->bytes);
  tpti_context_release(context);
}
