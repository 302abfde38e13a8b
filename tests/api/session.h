/* What the tests of the public interface share: a small model with everything that can be made
 * from it, and the two ways in which a call may end. Only <3pt/3pt.h> is seen here. */
#ifndef TPTI_TESTS_API_SESSION_H
#define TPTI_TESTS_API_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <3pt/3pt.h>

#include "support/compare.h"
#include "support/runner.h"

/* The sizes of the small model, unless settings say otherwise. */
enum { V = 23, D = 24, N = 3, P = D / N, L = 2, MOST = 16, BATCH = 3, ROWS = BATCH * MOST };

/* Without a word where all is well: Check allocates for each assertion, and some tests count. */
static inline void ok(tpt_status status) {
  if (status != TPT_OK) ck_abort_msg("%s: %s", tpt_status_name(status), tpt_error_message());
}

/* The call failed like this, its message has `word` in it, and the handle says the same. */
static inline void refused(const void *handle, tpt_status got, tpt_status want, const char *word) {
  char text[600] = "";
  size_t length = 0;
  ck_assert_msg(got == want, "%s in place of %s: %s", tpt_status_name(got), tpt_status_name(want),
                tpt_error_message());
  ck_assert_msg(strstr(tpt_error_message(), word) != NULL, "\"%s\" does not say \"%s\"",
                tpt_error_message(), word);
  if (!handle) return;
  ok(tpt_error_of(handle, text, sizeof text, &length));
  ck_assert_str_eq(text, tpt_error_message());
  ck_assert_uint_eq(length, strlen(text));
}

/* Sets "key=value; key=value". */
static inline void set_all(tpt_config *config, const char *settings) {
  char text[1000];
  ck_assert_uint_lt(strlen(settings), sizeof text);
  strcpy(text, settings);
  char *rest = text;
  for (char *one; (one = strtok_r(rest, ";", &rest));) {
    one += strspn(one, " ");
    char *value = strchr(one, '=');
    ck_assert_ptr_nonnull(value);
    *value++ = '\0';
    ok(tpt_config_set(config, one, value));
  }
}

static inline tpt_config *describe(const char *settings) {
  tpt_config *config;
  ok(tpt_config_create(&config));
  set_all(config, "model.vocab_size=23; model.d_model=24; model.n_layers=2; model.n_q_heads=6;"
                  "model.n_kv_heads=3; model.d_ff=20; model.n_phases=3; model.max_seq_len=16;"
                  "train.batch=3; train.steps=100; train.warmup=2; train.lr=1e-2");
  set_all(config, settings);
  return config;
}

typedef struct session {
  tpt_context *context;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  int32_t tokens[ROWS], targets[ROWS]; /* of a full batch */
} session;

/* In this context, which the session takes over. */
static inline session start_in(tpt_context *context, const char *settings) {
  session s = {.context = context, .config = describe(settings)};
  ok(tpt_model_create(s.context, s.config, 7, &s.model));
  ok(tpt_trainer_create(s.model, NULL, &s.trainer));
  ok(tpt_optimizer_create(s.trainer, NULL, &s.optimizer));
  tpti_test_tokens(s.tokens, ROWS, V, 1);
  tpti_test_tokens(s.targets, ROWS, V, 2);
  return s;
}

static inline session start(const char *settings) {
  tpt_context *context;
  ok(tpt_context_create(&context));
  ok(tpt_context_set_threads(context, 2));
  return start_in(context, settings);
}

static inline void end(session *s) {
  tpt_optimizer_destroy(s->optimizer);
  tpt_trainer_destroy(s->trainer);
  tpt_model_destroy(s->model);
  tpt_config_destroy(s->config);
  tpt_context_destroy(s->context);
}

/* One step of training on a batch that depends on `seed`; its loss. */
static inline double train_step(session *s, uint64_t seed) {
  int32_t tokens[ROWS], targets[ROWS];
  double loss = -1, norm = -1;
  tpti_test_tokens(tokens, ROWS, V, 2 * seed);
  tpti_test_tokens(targets, ROWS, V, 2 * seed + 1);
  ok(tpt_trainer_zero_gradients(s->trainer));
  ok(tpt_trainer_accumulate(s->trainer, tokens, targets, BATCH, MOST, &loss));
  ok(tpt_optimizer_step(s->optimizer, &norm));
  return loss;
}

/* The model as a file in memory, to be freed. */
static inline unsigned char *image_of(const tpt_model *model, size_t *length) {
  ok(tpt_model_save_memory(model, NULL, 0, length));
  unsigned char *image = malloc(*length);
  ck_assert_ptr_nonnull(image);
  ok(tpt_model_save_memory(model, image, *length, length));
  return image;
}

static inline int same_model_bytes(const tpt_model *a, const tpt_model *b) {
  size_t a_length, b_length;
  unsigned char *a_image = image_of(a, &a_length), *b_image = image_of(b, &b_length);
  int same = a_length == b_length && memcmp(a_image, b_image, a_length) == 0;
  free(a_image);
  free(b_image);
  return same;
}

/* A copy of the trainer's gradients, to be freed. */
static inline float *copy_gradients(tpt_trainer *trainer, size_t *count) {
  float *values;
  ok(tpt_trainer_gradients(trainer, &values, count));
  float *copy = malloc(*count * sizeof *copy);
  ck_assert_ptr_nonnull(copy);
  return memcpy(copy, values, *count * sizeof *copy);
}

/* Gradients in one accumulate from zero, to be freed. */
static inline float *accumulated(session *s, size_t batch, size_t seq, size_t *count) {
  double loss;
  ok(tpt_trainer_zero_gradients(s->trainer));
  ok(tpt_trainer_accumulate(s->trainer, s->tokens, s->targets, batch, seq, &loss));
  return copy_gradients(s->trainer, count);
}

/* How many bytes are not `value`: one assertion for many of them. */
static inline size_t others(const void *from, size_t bytes, unsigned char value) {
  size_t count = 0;
  for (size_t i = 0; i < bytes; i++) count += ((const unsigned char *)from)[i] != value;
  return count;
}

/* Where a progress function stops the call: at its `at`-th call, 1 being the first; 0: never. */
typedef struct stop {
  int at, calls;
} stop;

static inline int32_t stop_at(void *user, const void *handle, double done) {
  stop *s = user;
  (void)handle;
  (void)done;
  return ++s->calls == s->at;
}

#endif
