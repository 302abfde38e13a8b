/* Losses, norms, weights and file of a short training. */
#include <stdlib.h>

#include "run.h"

static json_t *shape_of(const tpt_tensor_info *info) {
  json_t *shape = json_array();
  for (size_t i = 0; i < info->ndim; i++) add(shape, of_size(info->shape[i]));
  return shape;
}

static json_t *tensors_of(const tpt_model *model) {
  json_t *list = json_array();
  size_t count;
  check(tpt_model_tensor_count(model, &count));
  for (size_t i = 0; i < count; i++) {
    tpt_tensor_info info = {.size = sizeof info};
    json_t *entry = json_object();
    check(tpt_model_tensor_info(model, i, &info));
    put(entry, "name", json_string(info.name));
    put(entry, "shape", shape_of(&info));
    put(entry, "offset", of_size(info.offset));
    put(entry, "count", of_size(info.count));
    add(list, entry);
  }
  return list;
}

static json_t *first_tensor(const tpt_model *model) {
  tpt_tensor_info info = {.size = sizeof info};
  check(tpt_model_tensor_info(model, 0, &info));
  float *values = take(info.count, sizeof *values);
  check(tpt_model_get_tensor(model, info.name, values, info.count));
  json_t *made = of_floats(values, info.count);
  free(values);
  return made;
}

static json_t *saved(const tpt_model *model) {
  size_t size;
  check(tpt_model_save_memory(model, NULL, 0, &size));
  char *file = take(size, 1);
  check(tpt_model_save_memory(model, file, size, &size));
  json_t *made = of_file(file, size);
  free(file);
  return made;
}

static void put_steps(run *r, json_t *results) {
  double *losses = take(r->steps, sizeof *losses), *norms = take(r->steps, sizeof *norms), lr;
  uint64_t step_count;
  run_steps(r, r->steps, losses, norms);
  check(tpt_optimizer_step_count(r->optimizer, &step_count));
  check(tpt_optimizer_lr(r->optimizer, &lr));
  put(results, "losses", of_f64(losses, r->steps));
  put(results, "norms", of_f64(norms, r->steps));
  put(results, "random_state", of_u64(r->random_state));
  put(results, "step_count", of_u64(step_count));
  put(results, "lr", of_double(lr));
  free(losses);
  free(norms);
}

void train(const json_t *inputs, json_t *results, const char *scratch) {
  const json_t *training = at(inputs, "training");
  run r = run_start(training, u64_at(training, "seed"));
  size_t tokens, count;
  float *gradients;
  (void)scratch;
  check(tpt_dataset_count(r.data, &tokens));
  put(results, "tokens", of_size(tokens));
  put_steps(&r, results);
  check(tpt_config_parameter_count(r.config, &count));
  put(results, "parameter_count", of_size(count));
  put(results, "parameters", parameters_of(r.model));
  check(tpt_trainer_gradients(r.trainer, &gradients, &count));
  put(results, "gradients", of_floats(gradients, count));
  put(results, "file", saved(r.model));
  put(results, "tensors", tensors_of(r.model));
  put(results, "first_tensor", first_tensor(r.model));
  run_end(&r);
}
