/* One training in progress, as train.c drives it: a step, the rate, held-out loss. */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "report.h"

/* What a checkpoint keeps for us: the place in the data, and the time used before; that of the
 * steps alone is counted apart. */
typedef struct place {
  uint64_t random_state;
  double seconds, step_seconds;
} place;

typedef struct session {
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  tpt_dataset *data, *held; /* held may be NULL */
  double seconds;           /* above 0: train for this time, else for train.steps */
  size_t batch, seq, grad_accum;
  int32_t *tokens, *targets; /* [batch, seq] */
  place place;
  figures figures;
  report report;
  tpt_evaluation evaluation; /* the last one; no tokens: it could not be had */
  uint64_t looked;           /* the step after which session_look was called last */
} session;

enum { HELD_WINDOWS = 64 }; /* enough to see over-fitting, a small part of the time */

/* Where s->model is NULL a new one is made of the description. */
static inline void session_open(session *s, tpt_context *context, const char *tokens,
                                const char *held) {
  uint64_t vocab = count_setting(s->config, "model.vocab_size");
  s->batch = count_setting(s->config, "train.batch");
  s->seq = count_setting(s->config, "train.seq_len");
  s->grad_accum = count_setting(s->config, "train.grad_accum");
  s->looked = UINT64_MAX; /* no step yet */
  s->figures.tokens_a_step = s->batch * s->seq * s->grad_accum;
  s->place.random_state = count_setting(s->config, "train.seed");
  s->tokens = calloc(s->batch * s->seq, 2 * sizeof *s->tokens);
  if (!s->tokens) die("there is no memory for a batch: lower train.batch");
  s->targets = s->tokens + s->batch * s->seq;
  s->data = open_tokens(context, tokens, vocab);
  if (held) s->held = open_tokens(context, held, vocab);
  if (!s->model) check(tpt_model_create(context, s->config, s->place.random_state, &s->model));
  check(tpt_trainer_create(s->model, s->config, &s->trainer));
  check(tpt_optimizer_create(s->trainer, NULL, &s->optimizer));
}

static inline void session_close(session *s) {
  free(s->tokens);
  tpt_optimizer_destroy(s->optimizer);
  tpt_trainer_destroy(s->trainer);
  tpt_model_destroy(s->model);
  tpt_dataset_destroy(s->held);
  tpt_dataset_destroy(s->data);
  tpt_config_destroy(s->config);
}

/* How much of the whole training is done; 1 or more: all. */
static inline double session_share(const session *s) {
  if (s->seconds > 0) return (s->place.seconds + now() - s->report.began) / s->seconds;
  return (double)s->figures.step / setting(s->config, "train.steps");
}

/* The description's schedule, stretched over the time instead of the steps. */
static inline double rate_by_time(const session *s) {
  double lr = setting(s->config, "train.lr"), low = setting(s->config, "train.lr_floor");
  double warm = setting(s->config, "train.warmup") / setting(s->config, "train.steps");
  double share = fmin(session_share(s), 1);
  if (share < warm) return lr * share / warm;
  double turn = acos(-1.0) * (share - warm) / (1 - warm);
  return lr * (low + (1 - low) * (1 + cos(turn)) / 2);
}

/* The gradients of a step, which ends where they are not whole. */
static inline tpt_status session_gradients(session *s, uint64_t *random_state) {
  double loss = 0, sum = 0;
  tpt_status status = tpt_trainer_zero_gradients(s->trainer);
  for (size_t i = 0; i < s->grad_accum && status == TPT_OK; i++, sum += loss) {
    status = tpt_dataset_random(s->data, random_state, s->batch, s->seq, s->tokens, s->targets);
    if (status == TPT_OK)
      status = tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, s->batch, s->seq, &loss);
  }
  s->figures.loss = sum / (double)s->grad_accum;
  return status;
}

/* After a failure everything is as before the step, and can be saved. */
static inline tpt_status session_step(session *s) {
  double began = now();
  uint64_t random_state = s->place.random_state;
  tpt_status status = session_gradients(s, &random_state);
  if (status == TPT_OK)
    status = tpt_optimizer_set_lr(s->optimizer, s->seconds > 0 ? rate_by_time(s) : NAN);
  if (status == TPT_OK) status = tpt_optimizer_lr(s->optimizer, &s->figures.lr);
  if (status == TPT_OK) status = tpt_optimizer_step(s->optimizer, &s->figures.norm);
  if (status != TPT_OK) return status;
  check(tpt_optimizer_step_count(s->optimizer, &s->figures.step));
  s->place.random_state = random_state;
  s->place.step_seconds += now() - began;
  s->figures.share = session_share(s);
  return TPT_OK;
}

/* The held-out loss is for the eye: where it cannot be had, the training is not ended for it. */
static inline void session_measure(session *s) {
  s->evaluation.size = sizeof s->evaluation;
  tpt_status status = tpt_evaluate(s->model, NULL, s->held, s->seq, HELD_WINDOWS, &s->evaluation);
  if (status == TPT_OK)
    s->report.held_loss = s->evaluation.loss;
  else if (status != TPT_E_CANCELLED)
    warn("no held-out loss after step %llu: %s", (unsigned long long)s->figures.step,
         tpt_error_message());
}

/* Every train.eval_every steps and at the end, once a step.
 *   returns   whether it had not been done after this step */
static inline int session_look(session *s) {
  if (s->looked == s->figures.step) return 0;
  s->looked = s->figures.step;
  s->evaluation.tokens = 0;
  if (s->held) session_measure(s);
  return 1;
}

static inline void session_resume(session *s, const char *path) {
  size_t size;
  check_file(
      path, tpt_checkpoint_load(s->trainer, s->optimizer, path, &s->place, sizeof s->place, &size));
  if (size != sizeof s->place)
    die("%s: was written by another program: it cannot be resumed", path);
  check(tpt_optimizer_step_count(s->optimizer, &s->figures.step));
}

#endif
