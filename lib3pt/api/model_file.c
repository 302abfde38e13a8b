/* Models in files: safetensors with the description under the metadata key "3pt.config". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "io/safetensors.h"

enum {
  CHECKS = 1024,       /* names or shapes between two ticks of a run: some 100 microseconds */
  MISSING_NAMED = 1024 /* so many tensors may a file lack that the first is looked for and named */
};

/* ---- reading ---- */

/* Is `name` a buffer of the published code, which a state_dict holds but no model needs? */
static bool is_buffer(const char *name, size_t L) {
  static const char *const of_block[] = {"inv_freq", "cos_cached", "sin_cached"};
  if (!strcmp(name, "mask") || !strcmp(name, "embedding.horn_profile")) return true;
  if (strncmp(name, "blocks.", 7)) return false;
  char *end;
  unsigned long long layer = strtoull(name + 7, &end, 10);
  bool plain = name[7] >= '1' && name[7] <= '9'; /* no sign, space or leading 0 */
  if (!plain && !(name[7] == '0' && end == name + 8)) return false;
  if (layer >= L || strncmp(end, ".attn.rotary.", 13)) return false;
  for (size_t i = 0; i < 3; i++)
    if (!strcmp(end + 13, of_block[i])) return true;
  return false;
}

/* A file's tensors against the table of the model described. */
typedef struct comparison {
  const tpti_params *params;
  size_t L;
  const tpti_safetensors *tensors;
  bool checkpoint;
} comparison;

static bool is_ours(const comparison *c, const char *name) {
  if (tpti_params_find(c->params, name) || is_buffer(name, c->L)) return true;
  return c->checkpoint && !strncmp(name, "3pt.", 4);
}

static bool go_on(tpti_run *run, size_t i) { return i % CHECKS || tpti_run_tick(run); }

static tpt_status refuse_unknown(const comparison *c, tpti_run *run) {
  for (size_t i = 0; i < tpti_safetensors_count(c->tensors); i++) {
    const char *name = tpti_safetensors_at(c->tensors, i)->name;
    if (!go_on(run, i)) return tpti_run_status(run);
    if (!is_ours(c, name))
      return tpti_fail(TPT_E_FORMAT, "tensor \"%.*s\" is not part of the described model: %s",
                       tpti_shown(name, 200), name, tpti_safetensors_path(c->tensors));
  }
  return TPT_OK;
}

static void write_shape(char text[64], size_t ndim, const uint64_t *shape) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < ndim && used < 40; i++)
    used += (size_t)snprintf(text + used, 64 - used, "%s%llu", i ? ", " : "",
                             (unsigned long long)shape[i]);
}

static tpt_status check_entry(const tpti_safetensors *tensors, const tpti_tensor *t,
                              const tpti_entry *entry) {
  const char *path = tpti_safetensors_path(tensors);
  if (!entry)
    return tpti_fail(TPT_E_FORMAT, "tensor %s of the described model is missing: %s", t->name,
                     path);
  uint64_t want[2] = {t->shape[0], t->shape[1]};
  if (entry->ndim == t->ndim && entry->shape[0] == want[0] &&
      (t->ndim == 1 || entry->shape[1] == want[1]))
    return TPT_OK;
  char has[64], wanted[64];
  write_shape(has, entry->ndim, entry->shape);
  write_shape(wanted, t->ndim, want);
  return tpti_fail(TPT_E_FORMAT, "tensor %s has shape [%s]; the description wants [%s]: %s",
                   t->name, has, wanted, path);
}

/* All names and shapes. */
static tpt_status compare(const comparison *c, tpti_run *run) {
  tpt_status status = refuse_unknown(c, run);
  for (size_t i = 0; i < c->params->tensor_count && !status; i++) {
    const tpti_tensor *t = &c->params->tensors[i];
    if (!go_on(run, i)) return tpti_run_status(run);
    status = check_entry(c->tensors, t, tpti_safetensors_find(c->tensors, t->name));
  }
  return status;
}

static tpt_status compare_with(const tpti_params *params, size_t L, const tpti_safetensors *tensors,
                               tpti_run *run) {
  bool checkpoint = tpti_safetensors_metadata(tensors, "3pt.checkpoint") != NULL;
  return compare(&(comparison){params, L, tensors, checkpoint}, run);
}

/* Before any memory is taken that only the description asks for, and no data of the file. */
static tpt_status check_tensors(const tpti_memory *memory, const tpti_dims *dims,
                                const tpti_safetensors *tensors, tpti_run *run) {
  tpti_params params;
  tpti_plan plan = {0};
  tpti_params_layout(&params, dims, &plan);
  size_t has = tpti_safetensors_count(tensors), bytes = plan.used;
  if (params.tensor_count > has && params.tensor_count - has > MISSING_NAMED)
    return tpti_fail(TPT_E_FORMAT, "the described model has %zu tensors; %zu are there: %s",
                     params.tensor_count, has, tpti_safetensors_path(tensors));
  plan = (tpti_plan){.base = tpti_take(memory, bytes)};
  if (!plan.base) return tpti_fail_memory(bytes);
  void *table = plan.base;
  tpti_params_layout(&params, dims, &plan);
  tpt_status status = compare_with(&params, dims->L, tensors, run);
  tpti_give(memory, table, bytes);
  return status;
}

/* The values of tensors that have been compared; `done` goes through the run's span. */
static tpt_status read_values(const tpti_params *params, const tpti_safetensors *tensors,
                              tpti_run *run, float *weights) {
  const double from = run->from, all = (run->to - run->from) / (double)params->count;
  tpt_status status = TPT_OK;
  for (size_t i = 0; i < params->tensor_count && !status; i++) {
    const tpti_tensor *t = &params->tensors[i];
    tpti_run_span(run, from + all * (double)t->offset, from + all * (double)(t->offset + t->count));
    status = tpti_safetensors_floats(tensors, tpti_safetensors_find(tensors, t->name), run,
                                     weights + t->offset);
  }
  return status;
}

tpt_status tpti_model_read(const tpti_network *net, const tpti_safetensors *tensors, tpti_run *run,
                           float *weights) {
  tpt_status status = compare_with(&net->params, net->dims.L, tensors, run);
  return status ? status : read_values(&net->params, tensors, run, weights);
}

tpt_status tpti_model_file_spec(const tpti_safetensors *tensors, tpti_spec *spec) {
  const char *path = tpti_safetensors_path(tensors);
  const char *text = tpti_safetensors_metadata(tensors, "3pt.config");
  if (!text)
    return tpti_fail(TPT_E_CONFIG,
                     "the file holds no description (metadata 3pt.config); give one: %s", path);
  tpt_status status = tpti_spec_parse(text, strlen(text), spec);
  if (!status || status == TPT_E_MEMORY) return status;
  return tpti_fail(status, "3pt.config: %s: %s", tpti_error_text(), path);
}

/* The description of the model in a file: `config`, or the file's own; both must agree. */
static tpt_status file_spec(const tpti_safetensors *tensors, const tpt_config *config,
                            tpti_spec *spec) {
  if (!config) return tpti_model_file_spec(tensors, spec);
  tpti_spec own;
  tpt_status status = TPT_OK;
  if (tpti_safetensors_metadata(tensors, "3pt.config")) {
    if ((status = tpti_model_file_spec(tensors, &own))) return status;
    status = tpti_spec_same_model(&config->spec, &own, "the file");
    if (status) tpti_fail_in(status, tpti_safetensors_path(tensors));
    tpti_spec_free(&own);
  }
  return status ? status : tpti_spec_copy(&config->spec, spec);
}

/* Into small pages, which the system has at hand: where a virtual machine's host has taken back its
 * free memory, 500 MB of big ones take a second instead of 0.3. They may grow later. */
static tpt_status read_weights(tpt_model *model, const tpti_safetensors *tensors, tpti_run *run) {
  const tpti_memory *memory = &model->context->memory;
  tpti_pages(memory, model, model->bytes, false);
  tpt_status status = read_values(&model->net.params, tensors, run, model->net.weights);
  tpti_pages(memory, model, model->bytes, true);
  return status;
}

static tpt_status make_model(tpt_context *context, const tpti_safetensors *tensors,
                             const tpti_spec *spec, tpt_model **model) {
  tpti_run run = tpti_context_run(context, context, NULL, NULL);
  tpt_model *made = NULL;
  tpt_status status = check_tensors(&context->memory, &spec->model, tensors, &run);
  if (!status) status = tpti_model_new(context, spec, &made);
  if (status) return status;
  status = read_weights(made, tensors, &run);
  if (status)
    tpt_model_destroy(made);
  else
    *model = made;
  return status;
}

static tpt_status read_model(tpt_context *context, const tpti_safetensors *tensors,
                             const tpt_config *config, tpt_model **model) {
  tpti_spec spec;
  tpt_status status = file_spec(tensors, config, &spec);
  if (status) return status;
  status = tpti_spec_check(&spec);
  if (!status) status = make_model(context, tensors, &spec, model);
  tpti_spec_free(&spec);
  return status;
}

/* A described model's own tensors, the published code's buffers, and those of a checkpoint. */
static size_t most_entries(const tpt_config *config) {
  tpti_params params;
  tpti_plan plan = {0};
  if (!config) return TPTI_ANY_ENTRIES;
  tpti_params_layout(&params, &config->spec.model, &plan);
  return tpti_model_most_entries(params.tensor_count + 3 * config->spec.model.L + 2 +
                                 TPTI_CHECKPOINT_ENTRIES);
}

/* `context` is held by the caller. */
static tpt_status load_source(tpt_context *context, const tpti_source *source,
                              const tpt_config *config, tpt_model **model) {
  tpti_safetensors *tensors = NULL;
  tpt_status status =
      tpti_safetensors_open(source, &context->memory, most_entries(config), &tensors);
  if (!status) status = read_model(context, tensors, config, model);
  tpti_safetensors_close(tensors);
  return status;
}

static tpt_status check_config(const tpt_config *config) {
  if (!config) return TPT_OK;
  if (!tpti_handle_is(config, TPTI_CONFIG, "config")) return TPT_E_ARGUMENT;
  return tpti_spec_check(&config->spec);
}

static tpt_status load(tpt_context *context, const char *path, const tpt_config *config,
                       tpt_model **model) {
  TPTI_NEED(path);
  tpt_context *held;
  tpti_file file;
  tpt_status status = check_config(config);
  if (status || (status = tpti_context_hold(context, &held))) return status;
  if (!(status = tpti_file_open(path, &file))) {
    const tpti_source source = {.file = &file, .path = path, .size = file.size};
    status = load_source(held, &source, config, model);
    tpti_file_close(&file);
  }
  tpti_context_release(held);
  return status;
}

tpt_status tpt_model_load(tpt_context *context, const char *path, const tpt_config *config,
                          tpt_model **model) {
  return TPTI_MAKE_IN(context, model, load(context, path, config, model));
}

static tpt_status load_memory(tpt_context *context, const void *data, size_t size,
                              const tpt_config *config, tpt_model **model) {
  TPTI_NEED(data);
  tpt_context *held;
  tpt_status status = check_config(config);
  if (status || (status = tpti_context_hold(context, &held))) return status;
  const tpti_source source = {.path = "the data in memory", .data = data, .size = size};
  status = load_source(held, &source, config, model);
  tpti_context_release(held);
  return status;
}

tpt_status tpt_model_load_memory(tpt_context *context, const void *data, size_t size,
                                 const tpt_config *config, tpt_model **model) {
  return TPTI_MAKE_IN(context, model, load_memory(context, data, size, config, model));
}

/* ---- writing ---- */

void tpti_model_outputs(const tpti_network *net, tpti_output *outputs) {
  for (size_t i = 0; i < net->params.tensor_count; i++) {
    const tpti_tensor *t = &net->params.tensors[i];
    outputs[i] = (tpti_output){.name = t->name,
                               .dtype = TPTI_F32,
                               .ndim = t->ndim,
                               .shape = {t->shape[0], t->shape[1]},
                               .data = net->weights + t->offset};
  }
}

/* What a save needs beside the weights. */
typedef struct saving {
  tpti_buffer yaml, outputs;
  tpti_metadata metadata[2];
} saving;

static tpt_status prepare(const tpt_model *model, saving *s) {
  const tpti_memory *memory = &model->context->memory;
  size_t bytes = model->net.params.tensor_count * sizeof(tpti_output);
  tpti_buffer_init(&s->yaml, memory);
  tpti_buffer_init(&s->outputs, memory);
  tpt_status status = tpti_network_need_floats(&model->net);
  if (!status) status = tpti_spec_format(&model->config->spec, &s->yaml);
  if (status) return status;
  if (!tpti_buffer_append(&s->yaml, "", 1) || !tpti_buffer_reserve(&s->outputs, bytes))
    return tpti_fail_memory(bytes);
  tpti_model_outputs(&model->net, (tpti_output *)(void *)s->outputs.data);
  s->metadata[0] = (tpti_metadata){"3pt.config", s->yaml.data};
  s->metadata[1] = (tpti_metadata){"format", "pt"}; /* as the Python package marks a state_dict */
  return TPT_OK;
}

static void finish(saving *s) {
  tpti_buffer_free(&s->yaml);
  tpti_buffer_free(&s->outputs);
}

static tpt_status save(const tpt_model *model, const char *path) {
  TPTI_NEED(path);
  saving s;
  tpti_run run = tpti_context_run(model->context, model, NULL, NULL);
  tpt_status status = prepare(model, &s);
  if (!status)
    status =
        tpti_safetensors_write(path, &model->context->memory, (tpti_output *)(void *)s.outputs.data,
                               model->net.params.tensor_count, s.metadata, 2, &run);
  finish(&s);
  return status;
}

tpt_status tpt_model_save(const tpt_model *model, const char *path) {
  return TPTI_CALL(model, TPTI_MODEL, save(model, path));
}

static tpt_status save_memory(const tpt_model *model, void *data, size_t capacity, size_t *length) {
  if (capacity) TPTI_NEED(data);
  TPTI_NEED(length);
  saving s;
  tpti_run run = tpti_context_run(model->context, model, NULL, NULL);
  tpt_status status = prepare(model, &s);
  if (!status)
    status = tpti_safetensors_write_memory(data, capacity, length, &model->context->memory,
                                           (tpti_output *)(void *)s.outputs.data,
                                           model->net.params.tensor_count, s.metadata, 2, &run);
  finish(&s);
  return status;
}

tpt_status tpt_model_save_memory(const tpt_model *model, void *data, size_t capacity,
                                 size_t *length) {
  return TPTI_CALL(model, TPTI_MODEL, save_memory(model, data, capacity, length));
}
