/* Calls that fail: contexts, models, trainers, optimizers, decoders, geometry. */
#include <stdlib.h>
#include <string.h>

#include "stage.h"

/* ---- memory ---- */

static void *allocate(void *user, size_t size, size_t alignment) {
  stage *s = user;
  void *memory = NULL;
  if (size > s->budget - s->held || posix_memalign(&memory, alignment, size)) return NULL;
  s->held += size;
  return memory;
}

static void release(void *user, void *memory, size_t size, size_t alignment) {
  stage *s = user;
  (void)alignment;
  s->held -= size;
  free(memory);
}

static tpt_status set_allocator(stage *s, tpt_context *context, size_t budget) {
  tpt_allocator a = {.size = sizeof a, .user = s, .allocate = allocate, .release = release};
  s->budget = budget;
  return tpt_context_set_allocator(context, &a);
}

static tpt_status context_set_allocator(stage *s, const json_t *what) {
  s->other = context_of(1);
  return set_allocator(s, s->other, size_at(what, "budget"));
}

static tpt_status context_set_allocator_late(stage *s, const json_t *what) {
  (void)what;
  return set_allocator(s, s->context, SIZE_MAX);
}

static tpt_status model_create_within(stage *s, const json_t *what) {
  tpt_config *preset;
  tpt_model *made;
  check(context_set_allocator(s, what));
  check(tpt_config_preset(text_at(what, "preset"), &preset));
  tpt_status status = tpt_model_create(s->other, preset, 1, &made);
  tpt_config_destroy(preset);
  return status;
}

/* ---- context, model ---- */

static tpt_status context_set_threads(stage *s, const json_t *what) {
  return tpt_context_set_threads(s->context, (int32_t)int_at(what, "threads"));
}

static tpt_status model_create(stage *s, const json_t *what) {
  tpt_model *made;
  (void)what;
  return tpt_model_create(s->context, s->config, s->seed, &made);
}

static tpt_status model_load(stage *s, const json_t *what) {
  tpt_model *made;
  return tpt_model_load(s->context, text_at(what, "path"), NULL, &made);
}

static tpt_status model_load_memory(stage *s, const json_t *what) {
  tpt_model *made;
  const char *text = text_at(what, "text");
  return tpt_model_load_memory(s->context, text, strlen(text), NULL, &made);
}

static tpt_status model_save(stage *s, const json_t *what) {
  return tpt_model_save(s->model, text_at(what, "path"));
}

static tpt_status model_save_memory(stage *s, const json_t *what) {
  size_t length;
  (void)what;
  return tpt_model_save_memory(s->model, NULL, 0, &length);
}

static tpt_status model_convert(stage *s, const json_t *what) {
  tpt_model *made;
  return tpt_model_convert(s->model, text_at(what, "precision"), &made);
}

static tpt_status model_fold(stage *s, const json_t *what) {
  tpt_model *made;
  (void)what;
  return tpt_model_fold(s->model, &made);
}

static tpt_status model_get_tensor(stage *s, const json_t *what) {
  float value;
  return tpt_model_get_tensor(s->model, text_at(what, "tensor"), &value, 1);
}

/* ---- training ---- */

static tpt_status trainer_create(stage *s, const json_t *what) {
  tpt_trainer *made;
  (void)what;
  return tpt_trainer_create(s->model, NULL, &made);
}

static tpt_status trainer_forward(stage *s, const json_t *what) {
  ids tokens = ids_at(what, "tokens");
  tpt_status status =
      tpt_trainer_forward(s->trainer, tokens.values, size_at(what, "batch"), size_at(what, "seq"));
  free(tokens.values);
  return status;
}

static tpt_status trainer_accumulate(stage *s, const json_t *what) {
  ids tokens = ids_at(what, "tokens"), targets = ids_at(what, "targets");
  double loss;
  tpt_status status = tpt_trainer_accumulate(s->trainer, tokens.values, targets.values,
                                             size_at(what, "batch"), size_at(what, "seq"), &loss);
  free(tokens.values);
  free(targets.values);
  return status;
}

static tpt_status trainer_loss(stage *s, const json_t *what) {
  ids targets = ids_at(what, "targets");
  double loss;
  tpt_status status = tpt_trainer_loss(s->trainer, targets.values, &loss);
  free(targets.values);
  return status;
}

static tpt_status trainer_logits(stage *s, const json_t *what) {
  const float *logits;
  (void)what;
  return tpt_trainer_logits(s->trainer, &logits);
}

static tpt_status trainer_backward(stage *s, const json_t *what) {
  (void)what;
  return tpt_trainer_backward(s->trainer);
}

static tpt_status trainer_get_gradient(stage *s, const json_t *what) {
  float value;
  return tpt_trainer_get_gradient(s->trainer, text_at(what, "tensor"), &value, 1);
}

static tpt_status trainer_activation(stage *s, const json_t *what) {
  const float *values;
  size_t count;
  return tpt_trainer_activation(s->trainer, (tpt_point)int_at(what, "point"),
                                size_at(what, "layer"), &values, &count);
}

static tpt_status optimizer_step(stage *s, const json_t *what) {
  (void)what;
  return tpt_optimizer_step(s->optimizer, NULL);
}

static tpt_status optimizer_set_lr(stage *s, const json_t *what) {
  return tpt_optimizer_set_lr(s->optimizer, number_at(what, "lr"));
}

static tpt_status checkpoint_save(stage *s, const json_t *what) {
  return tpt_checkpoint_save(s->trainer, s->optimizer, text_at(what, "path"), NULL, 0);
}

static tpt_status checkpoint_load(stage *s, const json_t *what) {
  return tpt_checkpoint_load(s->trainer, s->optimizer, text_at(what, "path"), NULL, 0, NULL);
}

/* ---- decoding ---- */

static tpt_status decoder_create(stage *s, const json_t *what) {
  tpt_decoder *made;
  return tpt_decoder_create(s->model, size_at(what, "max_positions"), &made);
}

static tpt_status decoder_feed(stage *s, const json_t *what) {
  ids tokens = ids_at(what, "tokens");
  tpt_status status = tpt_decoder_feed(s->decoder, tokens.values, tokens.count, NULL);
  free(tokens.values);
  return status;
}

static tpt_status decoder_feed_many_twice(stage *s, const json_t *what) {
  int32_t token = (int32_t)int_at(what, "token"), tokens[] = {token, token};
  tpt_decoder *decoders[] = {s->decoder, s->decoder};
  return tpt_decoder_feed_many(decoders, 2, tokens, NULL);
}

static tpt_status decoder_score(stage *s, const json_t *what) {
  ids tokens = ids_at(what, "tokens");
  double *likely = take(tokens.count, sizeof *likely);
  tpt_status status = tpt_decoder_score(s->decoder, tokens.values, tokens.count, likely);
  free(likely);
  free(tokens.values);
  return status;
}

static tpt_status decoder_rewind(stage *s, const json_t *what) {
  return tpt_decoder_rewind(s->decoder, size_at(what, "position"));
}

static tpt_status decoder_set_sampling(stage *s, const json_t *what) {
  return tpt_decoder_set_sampling(s->decoder, number_at(what, "temperature"),
                                  (int32_t)int_at(what, "top_k"), number_at(what, "top_p"),
                                  u64_at(what, "seed"));
}

static tpt_status decoder_sample(stage *s, const json_t *what) {
  int32_t token;
  (void)what;
  return tpt_decoder_sample(s->decoder, &token);
}

/* ---- geometry ---- */

enum { ROOM = 16 }; /* more than P / 2, N and the positions of the stage's model */

static size_t pairs_of(const stage *s) {
  return setting(s->config, "model.d_model") / setting(s->config, "model.n_phases") / 2;
}

static tpt_status geometry_dc_profile(stage *s, const json_t *what) {
  float values[ROOM];
  return tpt_geometry_dc_profile(s->model, size_at(what, "first"), values, size_at(what, "count"));
}

static tpt_status geometry_theta(stage *s, const json_t *what) {
  float values[ROOM];
  return tpt_geometry_theta(s->model, size_at(what, "layer"), values, pairs_of(s));
}

static tpt_status geometry_angles(stage *s, const json_t *what) {
  float values[ROOM];
  return tpt_geometry_angles(s->model, size_at(what, "layer"), size_at(what, "phase"), values,
                             pairs_of(s));
}

static tpt_status geometry_drift(stage *s, const json_t *what) {
  tpt_drift drift = {.size = sizeof drift};
  return tpt_geometry_drift(s->model, size_at(what, "layer"), &drift);
}

static tpt_status geometry_phase_means(stage *s, const json_t *what) {
  double values[ROOM];
  return tpt_geometry_phase_means(s->trainer, (tpt_point)int_at(what, "point"),
                                  size_at(what, "layer"), values,
                                  setting(s->config, "model.n_phases"));
}

static tpt_status geometry_zero_sum(stage *s, const json_t *what) {
  double measured, analytic;
  (void)what;
  return tpt_geometry_zero_sum(s->trainer, &measured, &analytic);
}

/* A call whose first argument is this object of the stage. */
#define ON(object, name)                                                                           \
  { #name, name, offsetof(stage, object) }

const call CALLS_OF_MODELS[] = {ON(other, context_set_allocator),
                                ON(context, context_set_allocator_late),
                                ON(context, context_set_threads),
                                ON(other, model_create_within),
                                ON(context, model_create),
                                ON(context, model_load),
                                ON(context, model_load_memory),
                                ON(model, model_save),
                                ON(model, model_save_memory),
                                ON(model, model_convert),
                                ON(model, model_fold),
                                ON(model, model_get_tensor),
                                ON(model, trainer_create),
                                ON(trainer, trainer_forward),
                                ON(trainer, trainer_accumulate),
                                ON(trainer, trainer_loss),
                                ON(trainer, trainer_logits),
                                ON(trainer, trainer_backward),
                                ON(trainer, trainer_get_gradient),
                                ON(trainer, trainer_activation),
                                ON(optimizer, optimizer_step),
                                ON(optimizer, optimizer_set_lr),
                                ON(trainer, checkpoint_save),
                                ON(trainer, checkpoint_load),
                                ON(model, decoder_create),
                                ON(decoder, decoder_feed),
                                ON(decoder, decoder_feed_many_twice),
                                ON(decoder, decoder_score),
                                ON(decoder, decoder_rewind),
                                ON(decoder, decoder_set_sampling),
                                ON(decoder, decoder_sample),
                                ON(model, geometry_dc_profile),
                                ON(model, geometry_theta),
                                ON(model, geometry_angles),
                                ON(model, geometry_drift),
                                ON(trainer, geometry_phase_means),
                                ON(trainer, geometry_zero_sum),
                                {NULL, NULL, 0}};
