/* Models: creation, tensors, folding. */
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "io/yaml.h"
#include "kernel/kernel.h"
#include "spec/keys.h"

enum { SHOWN = 64 /* bytes of a wrong name in a message */ };

/* ---- memory ---- */

static tpt_model *layout(const tpti_spec *spec, tpti_form form, tpti_plan *plan,
                         tpti_network *net) {
  tpt_model *model = tpti_place(plan, 1, sizeof *model);
  tpti_network_layout(net, &spec->model, form, plan);
  return model;
}

static bool count_bytes(const tpti_spec *spec, tpti_form form, size_t *bytes) {
  tpti_plan plan = {0};
  tpti_network net;
  layout(spec, form, &plan, &net);
  *bytes = plan.used;
  return !plan.overflow;
}

bool tpti_model_bytes(const tpti_spec *spec, size_t *bytes) {
  return count_bytes(spec, TPTI_FORM_F32, bytes);
}

static void free_model(tpt_model *model) {
  tpt_context *context = model->context;
  tpt_config_destroy(model->config);
  tpti_give(&context->memory, model, model->bytes);
  tpti_context_release(context);
}

/* The struct in a block of its own, with the description's copy; the network is laid out over that.
 */
static tpt_status place_model(tpt_context *context, const void *handle, tpt_config *config,
                              tpti_form form, tpt_model **model) {
  size_t bytes;
  if (!count_bytes(&config->spec, form, &bytes)) return tpti_fail_memory(SIZE_MAX);
  tpti_plan plan = {.base = tpti_take(&context->memory, bytes)};
  if (!plan.base) return tpti_fail_memory(bytes);
  tpti_network net;
  tpt_model *made = layout(&config->spec, form, &plan, &net);
  memset(made, 0, sizeof *made);
  tpti_handle_init(&made->head, TPTI_MODEL);
  atomic_init(&made->version, 0);
  made->context = context;
  made->config = config;
  made->bytes = bytes;
  made->net = net;
  tpti_run run = tpti_context_run(context, handle, NULL, NULL);
  tpti_network_tables(&run, &made->net);
  tpt_status status = tpti_run_status(&run);
  if (status) {
    tpti_give(&context->memory, made, bytes);
    return status;
  }
  tpti_log(context, 2, "model: %zu parameters, %zu bytes", made->net.params.count, bytes);
  *model = made;
  return TPT_OK;
}

/* A model with tables and a copy of the description, its weights not set yet. handle: the call's
 * first, which progress is told. */
static tpt_status make(tpt_context *context, const void *handle, const tpti_spec *spec,
                       tpti_form form, tpt_model **model) {
  tpt_status status = tpti_spec_check(spec);
  if (status) return status;
  tpti_spec copy;
  if ((status = tpti_spec_copy(spec, &copy))) return status;
  tpt_config *config = tpti_config_wrap(&copy);
  if (!config) {
    tpti_spec_free(&copy);
    return tpti_fail_memory(sizeof *config);
  }
  tpt_context *held = NULL;
  if (!(status = tpti_context_hold(context, &held)))
    status = place_model(held, handle, config, form, model);
  if (status) {
    tpt_config_destroy(config);
    tpti_context_release(held);
  }
  return status;
}

tpt_status tpti_model_new(tpt_context *context, const tpti_spec *spec, tpt_model **model) {
  return make(context, context, spec, TPTI_FORM_F32, model);
}

void tpti_model_hold(const tpt_model *model) { tpti_handle_hold(&((tpt_model *)model)->head); }

void tpti_model_changed(tpt_model *model) { atomic_fetch_add(&model->version, 1); }

void tpt_model_destroy(tpt_model *model) {
  if (!model || !tpti_handle_is(model, TPTI_MODEL, "model")) return;
  if (tpti_handle_release(&model->head)) free_model(model);
}

/* Gives a model whose weights are there, or destroys one whose making failed. */
static tpt_status finish(tpt_model *made, tpt_status status, tpt_model **model) {
  if (status)
    tpt_model_destroy(made);
  else
    *model = made;
  return status;
}

/* ---- creation ---- */

static tpt_status create(tpt_context *context, const tpt_config *config, uint64_t seed,
                         tpt_model **model) {
  if (!tpti_handle_is(config, TPTI_CONFIG, "config")) return TPT_E_ARGUMENT;
  tpt_model *made = NULL;
  tpt_status status = tpti_model_new(context, &config->spec, &made);
  if (status) return status;
  tpti_run run = tpti_context_run(made->context, context, NULL, NULL);
  tpti_params_init(&run, &made->net.params, &made->net.dims, seed, made->net.weights);
  return finish(made, tpti_run_status(&run), model);
}

tpt_status tpt_model_create(tpt_context *context, const tpt_config *config, uint64_t seed,
                            tpt_model **model) {
  return TPTI_MAKE_IN(context, model, create(context, config, seed, model));
}

const tpt_config *tpt_model_config(const tpt_model *model) {
  return tpti_handle_is(model, TPTI_MODEL, "model") ? model->config : NULL;
}

/* ---- folding and conversion ---- */

/* A folded snapshot with matrices of this form. */
static tpt_status fold(const tpt_model *model, tpti_form form, tpt_model **folded) {
  const tpti_memory *memory = &model->context->memory;
  size_t bytes = model->net.dims.D * sizeof(double);
  tpti_spec spec = model->config->spec; /* lists stay the model's: copied by make */
  tpt_status status = tpti_network_need_floats(&model->net);
  if (status) return status;
  if (spec.model.rotation == TPTI_ROTATION_REPLACE) spec.model.rotation = TPTI_ROTATION_NONE;
  double *turn = tpti_take(memory, bytes);
  if (!turn) return tpti_fail_memory(bytes);
  tpt_model *made = NULL;
  status = make(model->context, model, &spec, form, &made);
  if (!status) {
    tpti_run run = tpti_context_run(model->context, model, NULL, NULL);
    tpti_network_fold(&run, &model->net, &made->net, turn);
    status = finish(made, tpti_run_status(&run), folded);
  }
  tpti_give(memory, turn, bytes);
  return status;
}

tpt_status tpt_model_fold(const tpt_model *model, tpt_model **folded) {
  return TPTI_MAKE(model, TPTI_MODEL, folded, fold(model, TPTI_FORM_F32, folded));
}

static tpt_status convert(const tpt_model *model, const char *precision, tpt_model **converted) {
  static const char *const names[] = {"f32", "bf16", "int8"};
  static const tpti_form forms[] = {TPTI_FORM_F32, TPTI_FORM_BF16, TPTI_FORM_INT8};
  TPTI_NEED(precision);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(precision, names[i])) return fold(model, forms[i], converted);
  return tpti_fail(TPT_E_ARGUMENT,
                   "precision is \"%.*s\"; \"f32\", \"bf16\" or \"int8\" is allowed",
                   tpti_shown(precision, SHOWN), precision);
}

tpt_status tpt_model_convert(const tpt_model *model, const char *precision, tpt_model **converted) {
  return TPTI_MAKE(model, TPTI_MODEL, converted, convert(model, precision, converted));
}

/* ---- tensors ---- */

static tpt_status tensor_count(const tpt_model *model, size_t *count) {
  TPTI_NEED(count);
  *count = model->net.params.tensor_count;
  return TPT_OK;
}

tpt_status tpt_model_tensor_count(const tpt_model *model, size_t *count) {
  return TPTI_CALL(model, TPTI_MODEL, tensor_count(model, count));
}

static tpt_status tensor_info(const tpt_model *model, size_t index, tpt_tensor_info *info) {
  const tpti_params *params = &model->net.params;
  if (index >= params->tensor_count)
    return tpti_fail(TPT_E_ARGUMENT, "index is %zu; the model has tensors 0 to %zu", index,
                     params->tensor_count - 1);
  const tpti_tensor *t = &params->tensors[index];
  const tpt_tensor_info ours = {.size = sizeof ours,
                                .name = t->name,
                                .ndim = t->ndim,
                                .shape = {t->shape[0], t->shape[1], 1, 1},
                                .offset = t->offset,
                                .count = t->count};
  return tpti_result(info, &ours, sizeof ours, sizeof ours, "info");
}

tpt_status tpt_model_tensor_info(const tpt_model *model, size_t index, tpt_tensor_info *info) {
  return TPTI_CALL(model, TPTI_MODEL, tensor_info(model, index, info));
}

static tpt_status check_values(const char *name, size_t count, size_t ours) {
  if (count == ours) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "count is %zu; %s has %zu values", count, name, ours);
}

/* A tensor by name, or NULL and *profile: the buffer of a fixed DC profile counts as one. */
static tpt_status find_tensor(const tpt_model *model, const char *name, size_t count,
                              const tpti_tensor **tensor, float **profile) {
  const tpti_network *net = &model->net;
  TPTI_NEED(name);
  *tensor = tpti_params_find(&net->params, name);
  *profile = NULL;
  if (*tensor) return check_values(name, count, (*tensor)->count);
  if (!net->profile || strcmp(name, "embedding.dc_profile"))
    return tpti_fail(TPT_E_ARGUMENT, "the model has no tensor \"%.*s\"", tpti_shown(name, SHOWN),
                     name);
  *profile = net->profile;
  return check_values(name, count, net->dims.max_seq_len);
}

static tpt_status get_tensor(const tpt_model *model, const char *name, float *values,
                             size_t count) {
  const tpti_tensor *t;
  float *profile;
  tpt_status status = find_tensor(model, name, count, &t, &profile);
  if (status) return status;
  TPTI_NEED(values);
  if (t && t->ndim == 2) {
    const tpti_matrix m = tpti_network_matrix(&model->net, t->offset);
    model->context->kernels->expand(values, &m, t->shape[0], t->shape[1]);
    return TPT_OK;
  }
  const float *ours = t ? tpti_network_vector(&model->net, t->offset) : profile;
  memcpy(values, ours, count * sizeof *values);
  return TPT_OK;
}

tpt_status tpt_model_get_tensor(const tpt_model *model, const char *name, float *values,
                                size_t count) {
  return TPTI_CALL(model, TPTI_MODEL, get_tensor(model, name, values, count));
}

/* What a description can say: a model must be able to read what it saves. */
static tpt_status check_profile(const float *values, size_t count) {
  const tpti_key *key = tpti_key_find("model.dc.profile");
  for (size_t p = 0; p < count; p++)
    if (!((double)values[p] >= key->low && (double)values[p] <= key->high))
      return tpti_fail(TPT_E_ARGUMENT, "values[%zu] is %g; a fixed profile has %g to %g", p,
                       (double)values[p], key->low, key->high);
  if (count > TPTI_YAML_ITEMS)
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "max_seq_len is %zu; a description holds lists of at most %d", count,
                     TPTI_YAML_ITEMS);
  return TPT_OK;
}

/* A fixed profile becomes this list, in the description too. */
static tpt_status describe_profile(tpt_model *model, const float *values, size_t count) {
  tpt_status status = check_profile(values, count);
  if (status) return status;
  tpti_dims *described = &model->config->spec.model;
  double *list = malloc(count * sizeof *list);
  if (!list) return tpti_fail_memory(count * sizeof *list);
  for (size_t p = 0; p < count; p++) list[p] = (double)values[p];
  free(described->dc_values);
  described->dc = TPTI_DC_LIST;
  described->dc_values = list;
  described->dc_count = count;
  model->net.dims = *described;
  return TPT_OK;
}

static tpt_status set_tensor(tpt_model *model, const char *name, const float *values,
                             size_t count) {
  const tpti_tensor *t;
  float *profile;
  tpt_status status = find_tensor(model, name, count, &t, &profile);
  if (!status) status = tpti_network_need_floats(&model->net);
  if (status) return status;
  TPTI_NEED(values);
  if (!t && (status = describe_profile(model, values, count))) return status;
  memcpy(t ? model->net.weights + t->offset : profile, values, count * sizeof *values);
  tpti_model_changed(model);
  return TPT_OK;
}

tpt_status tpt_model_set_tensor(tpt_model *model, const char *name, const float *values,
                                size_t count) {
  return TPTI_CALL(model, TPTI_MODEL, set_tensor(model, name, values, count));
}

static tpt_status parameters(tpt_model *model, float **values, size_t *count) {
  TPTI_NEED(values);
  TPTI_NEED(count);
  tpt_status status = tpti_network_need_floats(&model->net);
  if (status) return status;
  *values = model->net.weights;
  *count = model->net.params.count;
  return TPT_OK;
}

tpt_status tpt_model_parameters(tpt_model *model, float **values, size_t *count) {
  return TPTI_CALL(model, TPTI_MODEL, parameters(model, values, count));
}
