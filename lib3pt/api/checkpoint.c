/* Checkpoints: a model file that also holds both moments, the step, the learning rate in force, and
 * the caller's own bytes. A run that is resumed from one goes on with the bits of a run never
 * stopped. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/objects.h"
#include "io/yaml.h"
#include "spec/keys.h"
#include "train/flat.h"

/* The version of the layout that is written and read. */
#define VERSION "1"

/* Steps are counted in double where the schedule is computed: whole numbers up to here. Some
 * thousand years of steps. */
static const uint64_t most_steps = (uint64_t)1 << 53;

static const char name_m[] = "3pt.adamw.m", name_v[] = "3pt.adamw.v", name_user[] = "3pt.user";

static tpt_status check_pair(const tpt_trainer *trainer, const tpt_optimizer *optimizer) {
  if (!tpti_handle_is(optimizer, TPTI_OPTIMIZER, "optimizer")) return TPT_E_ARGUMENT;
  if (optimizer->trainer == trainer) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "the optimizer belongs to another trainer");
}

/* ---- saving ---- */

typedef struct saving {
  tpti_buffer yaml, outputs;
  char step[24], lr[TPTI_NUMBER_TEXT];
  tpti_metadata metadata[5];
  size_t count; /* of outputs */
} saving;

static tpti_output flat(const char *name, const float *values, size_t count) {
  return (tpti_output){name, TPTI_F32, 1, {count, 1}, values};
}

static tpt_status prepare(const tpt_trainer *t, const tpt_optimizer *o, const void *user,
                          size_t size, saving *s) {
  const tpti_params *params = &t->model->net.params;
  size_t n = params->tensor_count, bytes = (n + TPTI_CHECKPOINT_ENTRIES) * sizeof(tpti_output);
  tpt_status status = tpti_spec_format(&t->model->config->spec, &s->yaml);
  if (status) return status;
  if (!tpti_buffer_append(&s->yaml, "", 1) || !tpti_buffer_reserve(&s->outputs, bytes))
    return tpti_fail_memory(bytes);
  tpti_output *outputs = (tpti_output *)(void *)s->outputs.data;
  tpti_model_outputs(&t->model->net, outputs);
  outputs[n] = flat(name_m, o->adamw.m, params->count);
  outputs[n + 1] = flat(name_v, o->adamw.v, params->count);
  outputs[n + 2] = (tpti_output){name_user, TPTI_U8, 1, {size, 1}, user};
  s->count = n + TPTI_CHECKPOINT_ENTRIES;
  snprintf(s->step, sizeof s->step, "%llu", (unsigned long long)o->adamw.steps);
  tpti_format_double(o->adamw.lr_override, s->lr);
  const tpti_metadata metadata[5] = {{"3pt.config", s->yaml.data},
                                     {"3pt.checkpoint", VERSION},
                                     {"3pt.step", s->step},
                                     {"3pt.lr", s->lr},
                                     {"format", "pt"}};
  memcpy(s->metadata, metadata, sizeof metadata);
  return TPT_OK;
}

static tpt_status save(const tpt_trainer *t, const tpt_optimizer *o, const char *path,
                       const void *user, size_t size) {
  TPTI_NEED(path);
  if (size) TPTI_NEED(user);
  tpt_status status = check_pair(t, o);
  if (status) return status;
  const tpti_memory *memory = &t->context->memory;
  saving s;
  tpti_buffer_init(&s.yaml, memory);
  tpti_buffer_init(&s.outputs, memory);
  tpti_run run = tpti_context_run(t->context, t, NULL, NULL);
  if (!(status = prepare(t, o, user, size, &s)))
    status = tpti_safetensors_write(path, memory, (tpti_output *)(void *)s.outputs.data, s.count,
                                    s.metadata, 5, &run);
  tpti_buffer_free(&s.yaml);
  tpti_buffer_free(&s.outputs);
  if (!status) tpti_log(t->context, 2, "checkpoint of step %s: %s", s.step, path);
  return status;
}

tpt_status tpt_checkpoint_save(const tpt_trainer *trainer, const tpt_optimizer *optimizer,
                               const char *path, const void *user, size_t size) {
  return TPTI_CALL(trainer, TPTI_TRAINER, save(trainer, optimizer, path, user, size));
}

/* ---- loading: everything is read and checked into staging memory before anything changes ---- */

typedef struct staging {
  const tpt_trainer *trainer;
  const tpti_safetensors *tensors;
  const tpti_entry *m, *v, *user;
  float *values; /* weights, m, v: [3, parameters] */
  size_t bytes;
  void *own; /* the caller's bytes, or NULL */
  size_t own_bytes;
  uint64_t steps;
  double lr;
} staging;

static tpt_status fail_part(const staging *s, const char *part, const char *rule) {
  return tpti_fail(TPT_E_FORMAT, "%s of the checkpoint %s: %s", part, rule,
                   tpti_safetensors_path(s->tensors));
}

static tpt_status check_version(const staging *s) {
  const char *path = tpti_safetensors_path(s->tensors);
  const char *version = tpti_safetensors_metadata(s->tensors, "3pt.checkpoint");
  if (!version)
    return tpti_fail(TPT_E_FORMAT,
                     "this is a model file, not a checkpoint: it has no 3pt.checkpoint: %s", path);
  if (!strcmp(version, VERSION)) return TPT_OK;
  char shown[TPTI_YAML_SHOWN];
  return tpti_fail(TPT_E_FORMAT, "3pt.checkpoint is version %s; this library reads \"%s\": %s",
                   tpti_yaml_show(version, shown), VERSION, path);
}

/* The rate of the schedule (.nan: none was set) or one that a description could say. */
static tpt_status read_rate(staging *s) {
  const char *lr = tpti_safetensors_metadata(s->tensors, "3pt.lr");
  const double most = tpti_key_find("train.lr")->high;
  bool is = lr && tpti_parse_double(lr, strlen(lr), &s->lr);
  if (is && (isnan(s->lr) || (s->lr >= 0.0 && s->lr <= most))) return TPT_OK;
  char rule[64];
  snprintf(rule, sizeof rule, "must be a number from 0 to %g, or .nan", most);
  return fail_part(s, "3pt.lr", rule);
}

static tpt_status read_numbers(staging *s) {
  const char *step = tpti_safetensors_metadata(s->tensors, "3pt.step");
  tpt_status status = check_version(s);
  if (status) return status;
  if (!step || !tpti_parse_uint64(step, strlen(step), &s->steps) || s->steps > most_steps)
    return fail_part(s, "3pt.step", "must be a whole number of at most 2^53");
  return read_rate(s);
}

static bool is_flat(const tpti_entry *entry, size_t count) {
  return entry && entry->dtype == TPTI_F32 && entry->ndim == 1 && entry->shape[0] == count;
}

static tpt_status find_parts(staging *s) {
  size_t count = s->trainer->model->net.params.count;
  s->m = tpti_safetensors_find(s->tensors, name_m);
  s->v = tpti_safetensors_find(s->tensors, name_v);
  s->user = tpti_safetensors_find(s->tensors, name_user);
  if (!is_flat(s->m, count)) return fail_part(s, name_m, "must be F32, one value a parameter");
  if (!is_flat(s->v, count)) return fail_part(s, name_v, "must be F32, one value a parameter");
  if (!s->user || s->user->dtype != TPTI_U8 || s->user->ndim != 1)
    return fail_part(s, name_user, "must be bytes (U8)");
  return TPT_OK;
}

static tpt_status same_model(const staging *s) {
  tpti_spec own;
  tpt_status status = tpti_model_file_spec(s->tensors, &own);
  if (status) return status;
  status = tpti_spec_same_model(&s->trainer->model->config->spec, &own, "the checkpoint");
  if (status) tpti_fail_in(status, tpti_safetensors_path(s->tensors));
  tpti_spec_free(&own);
  return status;
}

static tpt_status read_values(staging *s, tpti_run *run) {
  const tpti_network *net = &s->trainer->model->net;
  size_t count = net->params.count;
  if (!tpti_mul(&s->bytes, count, 3 * sizeof(float))) return tpti_fail_memory(SIZE_MAX);
  s->values = tpti_take(&s->trainer->context->memory, s->bytes);
  if (!s->values)
    return tpti_fail_memory_for(s->bytes, "the checkpoint's weights and both moments");
  tpti_pages(&s->trainer->context->memory, s->values, s->bytes, false); /* as in model_file.c */
  tpti_run_span(run, 0.0, 0.25);
  tpt_status status = tpti_model_read(net, s->tensors, run, s->values);
  tpti_run_span(run, 0.25, 0.5);
  if (!status) status = tpti_safetensors_floats(s->tensors, s->m, run, s->values + count);
  tpti_run_span(run, 0.5, 0.75);
  if (!status) status = tpti_safetensors_floats(s->tensors, s->v, run, s->values + 2 * count);
  return status;
}

/* The caller's bytes, where there is room for some of them. */
static tpt_status read_user(staging *s, size_t capacity) {
  s->own_bytes = (size_t)(s->user->end - s->user->begin);
  if (!capacity || !s->own_bytes) return TPT_OK;
  s->own = tpti_take(&s->trainer->context->memory, s->own_bytes);
  if (!s->own) return tpti_fail_memory(s->own_bytes);
  return tpti_safetensors_bytes(s->tensors, s->user, s->own);
}

static void give_user(const staging *s, void *user, size_t capacity, size_t *size) {
  if (s->own) memcpy(user, s->own, s->own_bytes < capacity ? s->own_bytes : capacity);
  if (size) *size = s->own_bytes;
}

/* Ours for what was read and, where that is stopped half-way, back again. */
static tpt_status take_over(const staging *s, tpt_trainer *t, tpt_optimizer *o, tpti_run *run) {
  size_t count = t->model->net.params.count, done[3];
  float *const ours[3] = {t->model->net.weights, o->adamw.m, o->adamw.v};
  for (size_t i = 0; i < 3; i++) {
    tpti_run_span(run, 0.75 + (double)i / 12.0, 0.75 + (double)(i + 1) / 12.0);
    tpti_run_at(run, 0.0);
    done[i] = tpti_flat_exchange(run, ours[i], s->values + i * count, count);
  }
  if (run->stopped) {
    tpti_run back = {.pool = run->pool, .scratch = run->scratch};
    for (size_t i = 0; i < 3; i++)
      tpti_flat_exchange(&back, ours[i], s->values + i * count, done[i]);
    return tpti_run_status(run);
  }
  o->adamw.steps = s->steps;
  o->adamw.lr_override = s->lr;
  tpti_model_changed(t->model);
  return TPT_OK;
}

static tpt_status load_open(tpt_trainer *t, tpt_optimizer *o, staging *s, void *user,
                            size_t capacity, size_t *size) {
  tpti_run run = tpti_trainer_run(t);
  tpt_status status = read_numbers(s);
  if (!status) status = same_model(s);
  if (!status) status = find_parts(s);
  if (!status) status = read_values(s, &run);
  if (!status) status = read_user(s, capacity);
  if (!status) status = take_over(s, t, o, &run);
  if (!status) give_user(s, user, capacity, size);
  tpti_give(&t->context->memory, s->own, s->own_bytes);
  tpti_give(&t->context->memory, s->values, s->bytes);
  return status;
}

static tpt_status load(tpt_trainer *t, tpt_optimizer *o, const char *path, void *user,
                       size_t capacity, size_t *size) {
  TPTI_NEED(path);
  if (capacity) TPTI_NEED(user);
  tpti_file file;
  tpt_status status = check_pair(t, o);
  if (status || (status = tpti_file_open(path, &file))) return status;
  const tpti_source source = {.file = &file, .path = path, .size = file.size};
  tpti_safetensors *tensors = NULL;
  size_t used = t->model->net.params.tensor_count + TPTI_CHECKPOINT_ENTRIES;
  size_t most = tpti_model_most_entries(used);
  status = tpti_safetensors_open(&source, &t->context->memory, most, &tensors);
  if (!status) {
    staging s = {.trainer = t, .tensors = tensors};
    status = load_open(t, o, &s, user, capacity, size);
  }
  tpti_safetensors_close(tensors);
  tpti_file_close(&file);
  return status;
}

tpt_status tpt_checkpoint_load(tpt_trainer *trainer, tpt_optimizer *optimizer, const char *path,
                               void *user, size_t capacity, size_t *size) {
  return TPTI_CALL(trainer, TPTI_TRAINER, load(trainer, optimizer, path, user, capacity, size));
}
