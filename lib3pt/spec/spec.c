/* A description's life: defaults, presets, copies, and one key at a time. */
#include "spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/keys.h"

static bool was_given(const tpti_spec *spec, const char *name) {
  return spec->given & tpti_key_bit(tpti_key_find(name));
}

void tpti_spec_follow(tpti_spec *spec) {
  if (!was_given(spec, "model.dc.tau")) spec->model.dc_tau = (double)spec->model.max_seq_len / 4;
  if (!was_given(spec, "train.seq_len")) spec->train.seq_len = spec->model.max_seq_len;
  if (!was_given(spec, "train.theta_lr")) spec->train.theta_lr = spec->train.lr;
}

/* The word or number of a table in the source, which is known to be right. */
static void set_known(tpti_spec *spec, const tpti_key *key, const char *text) {
  tpti_yaml_node node = {.key = key->name, .plain = true, .count = 1, .items = &text};
  tpti_key_store(spec, key, &node);
}

void tpti_spec_init(tpti_spec *spec) {
  memset(spec, 0, sizeof *spec);
  for (size_t i = 0; i < TPTI_KEYS; i++)
    if (tpti_keys[i].initial) set_known(spec, &tpti_keys[i], tpti_keys[i].initial);
  tpti_spec_follow(spec);
}

/* A preset: what differs from the defaults, or from another preset. */
typedef struct preset {
  const char *name, *over; /* over: NULL for the defaults */
  const char *pairs[40];   /* key, value, ..., NULL */
} preset;

static const preset presets[] = {
    {.name = "3pt-5m"},
    {.name = "3pt-123m", .pairs = {"model.vocab_size",   "32000", "model.d_model",     "768",
                                   "model.n_layers",     "12",    "model.n_q_heads",   "12",
                                   "model.d_ff",         "2048",  "model.max_seq_len", "1024",
                                   "train.batch",        "8",     "train.grad_accum",  "4",
                                   "train.steps",        "30000", "train.beta2",       "0.95",
                                   "train.weight_decay", "0.1"}},
    /* The shape of 3pt-123m (64 channels a head, four query heads a key, d_ff 8/3 d_model) widened
     * three times: 1,039,352,064 parameters. */
    {.name = "3pt-1b",
     .over = "3pt-123m",
     .pairs = {"model.d_model",   "2304",   "model.n_layers",    "16",
               "model.n_q_heads", "36",     "model.n_kv_heads",  "9",
               "model.d_ff",      "6144",   "model.max_seq_len", "2048",
               "train.batch",     "4",      "train.grad_accum",  "16",
               "train.steps",     "100000", "train.warmup",      "2000",
               "train.lr",        "2e-4",   "train.recompute",   "block"}},
    {.name = "rope-only-5m",
     .pairs = {"model.n_phases", "1", "model.embedding.scale", "sqrt_d", "model.dc.profile", "none",
               "model.rotation.mode", "none"}},
    {.name = "rope-only-123m",
     .over = "3pt-123m",
     .pairs = {"model.n_phases", "1", "model.embedding.scale", "sqrt_d", "model.dc.profile", "none",
               "model.rotation.mode", "none"}},
};

enum { PRESETS = sizeof presets / sizeof *presets };

const char *tpti_spec_preset_name(size_t index) {
  return index < PRESETS ? presets[index].name : NULL;
}

static const preset *find_preset(const char *name) {
  for (size_t i = 0; i < PRESETS; i++)
    if (strcmp(presets[i].name, name) == 0) return &presets[i];
  return NULL;
}

static void apply(tpti_spec *spec, const preset *from) {
  if (from->over) apply(spec, find_preset(from->over));
  for (const char *const *pair = from->pairs; pair[0]; pair += 2)
    set_known(spec, tpti_key_find(pair[0]), pair[1]);
}

static tpt_status fail_preset(const char *name) {
  char shown[TPTI_YAML_SHOWN], names[256] = "";
  for (size_t i = 0, used = 0; i < PRESETS; i++)
    used +=
        (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", presets[i].name);
  if (strpbrk(name, "/."))
    return tpti_fail(TPT_E_ARGUMENT,
                     "%s is a path, which tpt_config_load takes; of presets one of %s is allowed",
                     tpti_yaml_show(name, shown), names);
  return tpti_fail(TPT_E_ARGUMENT, "unknown preset %s, one of %s is allowed",
                   tpti_yaml_show(name, shown), names);
}

tpt_status tpti_spec_preset(const char *name, tpti_spec *spec) {
  const preset *from = find_preset(name);
  if (!from) return fail_preset(name);
  tpti_spec_init(spec);
  apply(spec, from);
  tpti_spec_follow(spec);
  return TPT_OK;
}

static tpt_status copy_list(const double *values, size_t count, double **copy) {
  *copy = NULL;
  if (!values) return TPT_OK;
  *copy = malloc(count * sizeof *values);
  if (!*copy) return tpti_fail_memory(count * sizeof *values);
  memcpy(*copy, values, count * sizeof *values);
  return TPT_OK;
}

tpt_status tpti_spec_copy(const tpti_spec *source, tpti_spec *copy) {
  const tpti_dims *from = &source->model;
  *copy = *source;
  copy->model.dc_values = copy->model.schedule_values = NULL;
  tpt_status status = copy_list(from->dc_values, from->dc_count, &copy->model.dc_values);
  if (!status)
    status = copy_list(from->schedule_values, from->schedule_count, &copy->model.schedule_values);
  if (status) tpti_spec_free(copy);
  return status;
}

void tpti_spec_free(tpti_spec *spec) {
  free(spec->model.dc_values);
  free(spec->model.schedule_values);
  spec->model.dc_values = spec->model.schedule_values = NULL;
  spec->model.dc_count = spec->model.schedule_count = 0;
}

static tpt_status store_visited(void *user, const tpti_yaml_node *node) {
  tpti_spec *spec = user;
  const tpti_key *key = tpti_key_find(node->key);
  tpt_status status = tpti_key_store(spec, key, node);
  if (status) return status;
  spec->given |= tpti_key_bit(key);
  tpti_spec_follow(spec);
  return TPT_OK;
}

tpt_status tpti_spec_set(tpti_spec *spec, const char *key, const char *value) {
  if (!tpti_key_find(key)) return tpti_key_unknown(key, 0);
  /* On a copy: a fault may show after the value was stored. */
  tpti_spec changed;
  tpt_status status = tpti_spec_copy(spec, &changed);
  if (status) return status;
  status = tpti_yaml_value(value, key, store_visited, &changed);
  tpti_spec_free(status ? &changed : spec);
  if (!status) *spec = changed;
  return status;
}

tpt_status tpti_spec_get(const tpti_spec *spec, const char *key, tpti_buffer *text) {
  const tpti_key *found = tpti_key_find(key);
  if (!found) return tpti_key_unknown(key, 0);
  tpti_key_print(spec, found, text);
  return text->failed ? tpti_fail_memory_for(text->used, "a value's text") : TPT_OK;
}
