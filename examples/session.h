/* One training in progress, as train.c drives it: a step, the rate, held-out loss, checkpoints. */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "report.h"

/* What a checkpoint keeps for us: the place in the data, and the time used before. */
typedef struct place {
  uint64_t random_state;
  double seconds;
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
} session;

enum { HELD_WINDOWS = 64 }; /* enough to see over-fitting, a small part of the time */

static inline void session_open(session *s, tpt_context *context, const char *tokens,
                                const char *held) {
  s->batch = count_setting(s->config, "train.batch");
  s->seq = count_setting(s->config, "train.seq_len");
  s->grad_accum = count_setting(s->config, "train.grad_accum");
  s->figures.tokens_a_step = s->batch * s->seq * s->grad_accum;
  s->place.random_state = count_setting(s->config, "train.seed");
  s->tokens = calloc(s->batch * s->seq, 2 * sizeof *s->tokens);
  if (!s->tokens) die("there is no memory for a batch: lower train.batch");
  s->targets = s->tokens + s->batch * s->seq;
  check(tpt_dataset_open(context, tokens, &s->data));
  if (held) check(tpt_dataset_open(context, held, &s->held));
  check(tpt_model_create(context, s->config, s->place.random_state, &s->model));
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

/* 0: the progress function ended it, and everything is as before the step. */
static inline int session_step(session *s) {
  uint64_t random_state = s->place.random_state;
  double loss = 0, sum = 0;
  check(tpt_trainer_zero_gradients(s->trainer));
  for (size_t i = 0; i < s->grad_accum; i++, sum += loss) {
    tpt_status status =
        tpt_dataset_random(s->data, &random_state, s->batch, s->seq, s->tokens, s->targets);
    if (status == TPT_OK)
      status = tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, s->batch, s->seq, &loss);
    if (status == TPT_E_CANCELLED) return 0;
    check(status);
  }
  check(tpt_optimizer_set_lr(s->optimizer, s->seconds > 0 ? rate_by_time(s) : NAN));
  check(tpt_optimizer_lr(s->optimizer, &s->figures.lr));
  check(tpt_optimizer_step(s->optimizer, &s->figures.norm));
  check(tpt_optimizer_step_count(s->optimizer, &s->figures.step));
  s->place.random_state = random_state;
  s->figures.loss = sum / (double)s->grad_accum;
  s->figures.share = session_share(s);
  return 1;
}

static inline void session_measure(session *s) {
  tpt_evaluation e;
  e.size = sizeof e;
  tpt_status status = tpt_evaluate(s->model, NULL, s->held, s->seq, HELD_WINDOWS, &e);
  if (status == TPT_E_CANCELLED) return;
  check(status);
  s->report.held_loss = e.loss;
}

static inline void session_save(const session *s, const char *path) {
  place here = s->place;
  here.seconds += now() - s->report.began;
  check(tpt_checkpoint_save(s->trainer, s->optimizer, path, &here, sizeof here));
}

static inline void session_resume(session *s, const char *path) {
  size_t size;
  check(tpt_checkpoint_load(s->trainer, s->optimizer, path, &s->place, sizeof s->place, &size));
  if (size != sizeof s->place) die("%s was written by another program: it cannot be resumed", path);
  check(tpt_optimizer_step_count(s->optimizer, &s->figures.step));
}

#endif
