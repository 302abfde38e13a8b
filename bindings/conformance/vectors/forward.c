/* The slow path of a step: logits, loss, gradients and activations one by one. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef struct pass {
  const json_t *inputs;
  json_t *results;
  tpt_model *model;
  tpt_trainer *trainer;
  size_t batch, seq, vocab;
} pass;

static void go_forward(const pass *p) {
  ids tokens = ids_at(p->inputs, "tokens");
  check(tpt_trainer_forward(p->trainer, tokens.values, p->batch, p->seq));
  free(tokens.values);
}

static void put_gradients(const pass *p, const char *key) {
  float *values;
  size_t count;
  check(tpt_trainer_gradients(p->trainer, &values, &count));
  put(p->results, key, of_floats(values, count));
}

static json_t *activation(const pass *p, const json_t *place) {
  const float *values;
  size_t count;
  json_t *entry = json_deep_copy(place);
  check(tpt_trainer_activation(p->trainer, (tpt_point)int_at(place, "point"),
                               size_at(place, "layer"), &values, &count));
  put(entry, "count", of_size(count));
  put(entry, "values", of_floats(values, count));
  return entry;
}

static void put_activations(const pass *p) {
  const json_t *points = at(p->inputs, "points");
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(points); i++)
    add(list, activation(p, json_array_get(points, i)));
  put(p->results, "activations", list);
}

static void put_logits(const pass *p) {
  const float *logits;
  check(tpt_trainer_logits(p->trainer, &logits));
  put(p->results, "logits", of_floats(logits, p->batch * p->seq * p->vocab));
  put(p->results, "first_logits", of_f32(logits, p->vocab));
}

static void put_loss(const pass *p) {
  ids targets = ids_at(p->inputs, "targets");
  double loss;
  check(tpt_trainer_loss(p->trainer, targets.values, &loss));
  put(p->results, "loss", of_double(loss));
  free(targets.values);
}

static size_t elements_of(const tpt_model *model, const char *name) {
  tpt_tensor_info info = {.size = sizeof info};
  size_t count;
  check(tpt_model_tensor_count(model, &count));
  for (size_t i = 0; i < count; i++) {
    check(tpt_model_tensor_info(model, i, &info));
    if (strcmp(info.name, name) == 0) return info.count;
  }
  die("there is no tensor", name);
  return 0;
}

static void put_gradient(const pass *p) {
  const char *name = text_at(p->inputs, "tensor");
  size_t count = elements_of(p->model, name);
  float *values = take(count, sizeof *values);
  json_t *entry = json_object();
  check(tpt_trainer_get_gradient(p->trainer, name, values, count));
  put(entry, "count", of_size(count));
  put(entry, "values", of_floats(values, count));
  put(p->results, "gradient", entry);
  free(values);
}

static void put_backward_logits(const pass *p) {
  const json_t *rule = at(p->inputs, "dlogits");
  int64_t multiplier = int_at(rule, "multiplier"), modulus = int_at(rule, "modulus");
  int64_t offset = int_at(rule, "offset"), divisor = int_at(rule, "divisor");
  size_t count = p->batch * p->seq * p->vocab;
  float *dlogits = take(count, sizeof *dlogits);
  for (size_t i = 0; i < count; i++)
    dlogits[i] = (float)((int64_t)i * multiplier % modulus - offset) / (float)divisor;
  check(tpt_trainer_zero_gradients(p->trainer));
  go_forward(p);
  check(tpt_trainer_backward_logits(p->trainer, dlogits, count));
  put(p->results, "dlogits", of_floats(dlogits, count));
  put_gradients(p, "gradients_of_logits");
  free(dlogits);
}

void forward(const json_t *inputs, json_t *results, const char *scratch) {
  tpt_context *context = context_of(size_at(inputs, "threads"));
  tpt_config *described = config_of(text_at(inputs, "yaml"));
  pass p = {.inputs = inputs,
            .results = results,
            .batch = size_at(inputs, "batch"),
            .seq = size_at(inputs, "seq"),
            .vocab = setting(described, "model.vocab_size")};
  (void)scratch;
  check(tpt_model_create(context, described, u64_at(inputs, "seed"), &p.model));
  check(tpt_trainer_create(p.model, NULL, &p.trainer));
  go_forward(&p);
  put_logits(&p);
  put_activations(&p);
  put_loss(&p);
  check(tpt_trainer_backward(p.trainer));
  put_gradients(&p, "gradients");
  put_gradient(&p);
  put_backward_logits(&p);
  tpt_trainer_destroy(p.trainer);
  tpt_model_destroy(p.model);
  tpt_config_destroy(described);
  tpt_context_destroy(context);
}
