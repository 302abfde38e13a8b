/* One training in progress, as train.c drives it: a step, the rate, held-out loss, and what a
 * checkpoint keeps of it. */
#ifndef EXAMPLES_SESSION_H
#define EXAMPLES_SESSION_H

#include "json.h"
#include "keep.h"
#include "report.h"

/* What a checkpoint keeps for us: the place in the data, the time used before (that of the steps
 * alone is counted apart) and the limit of it, and by what the tokens are known again. Without gaps
 * between the fields. */
typedef struct place {
  uint64_t random_state;
  double seconds, step_seconds, limit; /* limit: --seconds; below 0: the steps count */
  uint64_t tokens, mark;
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

/* ---- opening ---- */

/* The library says how much memory was refused, and we what it was for and how it is less. */
static inline void check_memory(tpt_status status, const char *less) {
  if (status == TPT_E_MEMORY) die("%s; %s", tpt_error_message(), less);
  check(status);
}

/* Other tokens, or another order of them, give another number (FNV-1, a token at a time). */
static inline uint64_t mark_of(const tpt_dataset *data, size_t count) {
  enum { WINDOW = 1 << 16 }; /* halved at the end: where it begins stays a multiple of it */
  static int32_t tokens[WINDOW], next[WINDOW];
  uint64_t mark = 14695981039346656037u;
  for (size_t at = 0, size = WINDOW; at + 1 < count; at += size) {
    while (at + size + 1 > count) size /= 2;
    check(tpt_dataset_window(data, at / size, size, tokens, next));
    if (at == 0) mark ^= (uint64_t)*tokens;
    for (size_t i = 0; i < size; i++) mark = mark * 1099511628211u ^ (uint64_t)next[i];
  }
  return mark;
}

/* Token files that are too short are told of before the first step.
 *   count     result */
static inline tpt_dataset *open_data(tpt_context *context, const char *path, const session *s,
                                     size_t *count) {
  tpt_dataset *data = open_tokens(context, path, count_setting(s->config, "model.vocab_size"));
  check_file(path, tpt_dataset_count(data, count));
  if (*count <= s->seq)
    die("%s: has %zu tokens, and at least %zu are needed: one more than train.seq_len", path,
        *count, s->seq + 1);
  return data;
}

/* Whether the disk has room. A checkpoint has the weights and two moments; the first one is there
 * until the next one is whole. */
static inline void session_rooms(const session *s, const char *model, const char *checkpoint,
                                 int resumed) {
  size_t parameters;
  uint64_t every = count_setting(s->config, "train.checkpoint_every");
  int more = every && (s->seconds > 0 || every < count_setting(s->config, "train.steps"));
  check(tpt_config_parameter_count(s->config, &parameters));
  double bytes = (double)parameters * sizeof(float);
  check_room(model, bytes);
  check_room(checkpoint, 3 * bytes * (more && !resumed ? 2 : 1));
}

/* Where s->model is NULL a new one is made of the description. */
static inline void session_open(session *s, tpt_context *context, const char *tokens,
                                const char *held) {
  size_t count;
  s->batch = count_setting(s->config, "train.batch");
  s->seq = count_setting(s->config, "train.seq_len");
  s->grad_accum = count_setting(s->config, "train.grad_accum");
  s->looked = UINT64_MAX; /* no step yet */
  s->figures.tokens_a_step = s->batch * s->seq * s->grad_accum;
  s->place.random_state = count_setting(s->config, "train.seed");
  s->tokens = calloc(s->batch * s->seq, 2 * sizeof *s->tokens);
  if (!s->tokens) die("there is no memory for a batch: lower train.batch");
  s->targets = s->tokens + s->batch * s->seq;
  if (held) s->held = open_data(context, held, s, &count);
  s->data = open_data(context, tokens, s, &count);
  s->place.tokens = count;
  s->place.mark = mark_of(s->data, count);
  s->place.limit = s->seconds;
  if (!s->model)
    check_memory(tpt_model_create(context, s->config, s->place.random_state, &s->model),
                 "a smaller model needs less for its weights");
  check_memory(
      tpt_trainer_create(s->model, s->config, &s->trainer),
      "a smaller train.batch or train.seq_len needs less for gradients and a batch, and so "
      "does train.recompute=block");
  check_memory(tpt_optimizer_create(s->trainer, NULL, &s->optimizer),
               "a smaller model needs less for the optimizer's moments");
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

/* ---- steps ---- */

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

/* ---- a checkpoint ---- */

static inline int session_saved(tpt_status status, const char *path, char why[WHY_MOST]) {
  if (status != TPT_OK) complain_of(path, why, WHY_MOST);
  return status == TPT_OK;
}

static inline int save_model(const void *of, const char *path, char why[WHY_MOST]) {
  const session *s = of;
  return session_saved(tpt_model_save(s->model, path), path, why);
}

static inline int save_checkpoint(const void *of, const char *path, char why[WHY_MOST]) {
  const session *s = of;
  place here = s->place;
  here.seconds += now() - s->report.began;
  return session_saved(tpt_checkpoint_save(s->trainer, s->optimizer, path, &here, sizeof here),
                       path, why);
}

/* save: save_model or save_checkpoint. */
static inline keeping session_keeping(const session *s,
                                      int (*save)(const void *, const char *, char[WHY_MOST])) {
  keeping k = {.save = save, .of = s, .clear = report_clear};
  snprintf(k.what, sizeof k.what, "all after step %llu", (unsigned long long)s->figures.step);
  return k;
}

/* Between two steps: one that fails may go well the next time. */
static inline void session_save(const session *s, const char *checkpoint) {
  keeping all = session_keeping(s, save_checkpoint);
  keep_try(&all, checkpoint);
}

/* Keys of train that change no bit of a step. With more steps the rest follows their schedule. */
static inline int may_differ(const char *key) {
  static const char *const FREE[] = {"train.eval_every", "train.checkpoint_every",
                                     "train.recompute"};
  for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++)
    if (strcmp(key, FREE[i]) == 0) return 1;
  return 0;
}

static inline void check_key(const session *s, const tpt_config *kept, const char *path,
                             const char *key) {
  char *old = whole_setting(kept, key), *new = whole_setting(s->config, key);
  int is_steps = strcmp(key, "train.steps") == 0;
  int right = is_steps ? strtoull(new, NULL, 10) >= strtoull(old, NULL, 10) : !strcmp(old, new);
  if (!right && !may_differ(key))
    die("%s: %s is %s in this training, and %s here: --resume needs %s=%s%s", path, key, old, new,
        key, old, is_steps ? " or more" : "");
  free(old);
  free(new);
}

/* The model's keys were compared by the library. */
static inline void check_keys(const session *s, const char *path) {
  char name[128] = "";
  tpt_model *model = load_model(NULL, path, NULL);
  char *yaml = whole_yaml(s->config);
  for (const char *line = yaml; *line; line += strcspn(line, "\n"), line += *line == '\n')
    if (take_key(line, name, sizeof name) && strncmp(name, "train.", 6) == 0)
      check_key(s, tpt_model_config(model), path, name);
  free(yaml);
  tpt_model_destroy(model);
}

static inline void check_tokens(const place *old, const place *new, const char *path) {
  if (old->tokens != new->tokens || old->mark != new->mark)
    die("%s: this training reads %llu tokens of mark %016llx, and TOKENS has %llu of mark %016llx: "
        "--resume needs the same ones",
        path, (unsigned long long)old->tokens, (unsigned long long)old->mark,
        (unsigned long long)new->tokens, (unsigned long long)new->mark);
}

/* A training by time is not turned into one by steps, nor ended before it has begun again. */
static inline void check_limit(const place *old, double seconds, const char *path) {
  if (old->limit > 0 && seconds < 0)
    die("%s: this training has --seconds %g, and none is given here: --resume needs --seconds",
        path, old->limit);
  if (seconds > 0 && seconds <= old->seconds && seconds != old->limit)
    die("%s: this training has used %.1f s, and --seconds is %g: --resume needs more", path,
        old->seconds, seconds);
}

static inline void session_resume(session *s, const char *path) {
  size_t size;
  place old;
  check_file(path, tpt_checkpoint_load(s->trainer, s->optimizer, path, &old, sizeof old, &size));
  if (size != sizeof old) die("%s: was written by another program: it cannot be resumed", path);
  check_keys(s, path);
  check_tokens(&old, &s->place, path);
  check_limit(&old, s->seconds, path);
  s->place = old;
  s->place.limit = s->seconds;
  check(tpt_optimizer_step_count(s->optimizer, &s->figures.step));
}

#endif
