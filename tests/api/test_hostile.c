/* Every public function with what it must refuse: each pointer NULL in turn, handles of another
 * kind, counts off by one, numbers at their ends. The status is the documented one, the message
 * names the argument, the handle says the same, and no result has been touched. */
#include "api/session.h"

#include <math.h>

#define BAD TPT_E_ARGUMENT

/* One of each kind, and places for results. */
typedef struct cast {
  session s;
  tpt_decoder *decoder;
  tpt_dataset *dataset;
  tpt_tokenizer *tokenizer;
  void *stranger; /* a handle of another kind than any that is asked for */
} cast;

/* Results that must stay as they are. */
static float floats[D * V];
static double doubles[64];
static size_t size;
static int32_t number;
static char text[64];
static tpt_tensor_info info;
static tpt_drift drift;
static tpt_evaluation evaluation;

static void mark_results(void) {
  memset(floats, 0x5a, sizeof floats);
  memset(doubles, 0x5a, sizeof doubles);
  memset(text, 0x5a, sizeof text);
  memset(&info, 0x5a, sizeof info);
  memset(&drift, 0x5a, sizeof drift);
  memset(&evaluation, 0x5a, sizeof evaluation);
  info.size = sizeof info, drift.size = sizeof drift, evaluation.size = sizeof evaluation;
  size = 12345;
  number = 12345;
}

static void all_marked(const void *from, size_t skipped, size_t bytes) {
  const unsigned char *at = from;
  for (size_t i = skipped; i < bytes; i++) ck_assert_uint_eq(at[i], 0x5a);
}

static void nothing_moved(void) {
  all_marked(floats, 0, sizeof floats);
  all_marked(doubles, 0, sizeof doubles);
  all_marked(text, 0, sizeof text);
  all_marked(&info, sizeof info.size, sizeof info);
  all_marked(&drift, sizeof drift.size, sizeof drift);
  all_marked(&evaluation, sizeof evaluation.size, sizeof evaluation);
  ck_assert(size == 12345 && number == 12345);
}

static cast gather(void) {
  cast c = {.s = start("")};
  ok(tpt_decoder_create(c.s.model, 0, &c.decoder));
  ok(tpt_dataset_from_tokens(c.s.context, c.s.tokens, ROWS, &c.dataset));
  ok(tpt_tokenizer_bytes(c.s.context, &c.tokenizer));
  c.stranger = c.s.config;
  mark_results();
  return c;
}

static void part(cast *c) {
  nothing_moved();
  tpt_decoder_destroy(c->decoder);
  tpt_dataset_destroy(c->dataset);
  tpt_tokenizer_destroy(c->tokenizer);
  end(&c->s);
}

/* A handle of the wrong kind, and NULL, as the first argument. */
#define FIRST(call, kind, name, ...)                                                               \
  do {                                                                                             \
    refused(NULL, call((kind *)NULL, __VA_ARGS__), BAD, name);                                     \
    refused(NULL, call((kind *)c.stranger, __VA_ARGS__), BAD, name);                               \
  } while (0)

/* A call that makes a handle: its result is NULL after the failure. */
#define MAKES(handle, kind, want, word, call)                                                      \
  do {                                                                                             \
    kind *made = (kind *)c.stranger;                                                               \
    refused(handle, call, want, word);                                                             \
    ck_assert_ptr_null(made);                                                                      \
  } while (0)

START_TEST(contexts) {
  cast c = gather();
  tpt_context *x = c.s.context;
  refused(NULL, tpt_context_create(NULL), BAD, "context");
  FIRST(tpt_context_set_threads, tpt_context, "context", 1);
  FIRST(tpt_context_threads, tpt_context, "context", &number);
  FIRST(tpt_context_set_allocator, tpt_context, "context", NULL);
  FIRST(tpt_context_set_log, tpt_context, "context", NULL, NULL, NULL);
  FIRST(tpt_context_set_progress, tpt_context, "context", NULL, NULL, NULL);
  FIRST(tpt_context_cancel, tpt_context, "context", 1);
  refused(x, tpt_context_threads(x, NULL), BAD, "threads");
  refused(x, tpt_context_set_threads(x, -1), BAD, "threads");
  refused(x, tpt_context_set_threads(x, 257), BAD, "threads");
  refused(x, tpt_context_set_threads(x, INT32_MIN), BAD, "threads");
  refused(x, tpt_context_set_allocator(x, NULL), BAD, "allocator");
  tpt_allocator a = {.size = sizeof a};
  refused(x, tpt_context_set_allocator(x, &a), BAD, "allocate");
  FIRST(tpt_error_of, const void, "", text, sizeof text, NULL);
  refused(NULL, tpt_error_of(NULL, text, sizeof text, &size), BAD, "handle");
  ck_assert_int_eq(tpt_error_of(x, text, sizeof text, NULL), BAD);
  ck_assert_int_eq(tpt_error_of(x, NULL, 1, &size), BAD);
  ck_assert_str_eq(tpt_status_name((tpt_status)99), tpt_status_name((tpt_status)-1));
  part(&c);
}
END_TEST

START_TEST(descriptions) {
  cast c = gather();
  tpt_config *d = c.s.config;
  c.stranger = c.s.model;
  refused(NULL, tpt_config_create(NULL), BAD, "config");
  MAKES(NULL, tpt_config, BAD, "name", tpt_config_preset(NULL, &made));
  refused(NULL, tpt_config_preset("3pt-5m", NULL), BAD, "config");
  ck_assert_int_ne(tpt_config_preset("3pt-6m", &(tpt_config *){NULL}), TPT_OK);
  MAKES(NULL, tpt_config, BAD, "path", tpt_config_load(NULL, &made));
  MAKES(NULL, tpt_config, TPT_E_IO, "/none/at/all", tpt_config_load("/none/at/all", &made));
  MAKES(NULL, tpt_config, BAD, "yaml", tpt_config_parse(NULL, 1, &made));
  refused(NULL, tpt_config_parse("", 0, NULL), BAD, "config");
  MAKES(NULL, tpt_config, BAD, "config", tpt_config_copy(NULL, &made));
  MAKES(NULL, tpt_config, BAD, "config", tpt_config_copy(c.stranger, &made));
  refused(d, tpt_config_copy(d, NULL), BAD, "copy");
  FIRST(tpt_config_set, tpt_config, "config", "model.d_ff", "1");
  refused(d, tpt_config_set(d, NULL, "1"), BAD, "key");
  refused(d, tpt_config_set(d, "model.d_ff", NULL), BAD, "value");
  FIRST(tpt_config_get, tpt_config, "config", "model.d_ff", text, sizeof text, &size);
  refused(d, tpt_config_get(d, NULL, text, sizeof text, &size), BAD, "key");
  refused(d, tpt_config_get(d, "model.d_ff", NULL, 1, &size), BAD, "text");
  refused(d, tpt_config_get(d, "model.d_ff", text, sizeof text, NULL), BAD, "length");
  FIRST(tpt_config_format, tpt_config, "config", text, sizeof text, &size);
  refused(d, tpt_config_format(d, NULL, 1, &size), BAD, "text");
  refused(d, tpt_config_format(d, text, 1, NULL), BAD, "length");
  refused(NULL, tpt_config_check(NULL), BAD, "config");
  refused(NULL, tpt_config_check(c.stranger), BAD, "config");
  FIRST(tpt_config_parameter_count, tpt_config, "config", &size);
  refused(d, tpt_config_parameter_count(d, NULL), BAD, "count");
  FIRST(tpt_config_memory, tpt_config, "config", TPT_MEMORY_TRAINING, &size);
  refused(d, tpt_config_memory(d, (tpt_memory_use)-1, &size), BAD, "use");
  part(&c);
}
END_TEST

START_TEST(models) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_config *d = c.s.config;
  tpt_model *m = c.s.model;
  MAKES(x, tpt_model, BAD, "config", tpt_model_create(x, NULL, 1, &made));
  MAKES(x, tpt_model, BAD, "config", tpt_model_create(x, (tpt_config *)m, 1, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_create(c.stranger, d, 1, &made));
  refused(x, tpt_model_create(x, d, 1, NULL), BAD, "model");
  MAKES(x, tpt_model, BAD, "path", tpt_model_load(x, NULL, d, &made));
  MAKES(x, tpt_model, BAD, "config", tpt_model_load(x, "/none", (tpt_config *)m, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_load(c.stranger, "/none", d, &made));
  refused(x, tpt_model_load(x, "/none", d, NULL), BAD, "model");
  MAKES(x, tpt_model, BAD, "data", tpt_model_load_memory(x, NULL, 9, d, &made));
  MAKES(x, tpt_model, TPT_E_FORMAT, "", tpt_model_load_memory(x, "", 0, d, &made));
  MAKES(NULL, tpt_model, BAD, "context", tpt_model_load_memory(c.stranger, "", 1, d, &made));
  refused(x, tpt_model_load_memory(x, "", 1, d, NULL), BAD, "model");
  FIRST(tpt_model_save, const tpt_model, "model", "/none/none");
  refused(m, tpt_model_save(m, NULL), BAD, "path");
  FIRST(tpt_model_save_memory, const tpt_model, "model", text, 1, &size);
  ck_assert_ptr_null(tpt_model_config(c.stranger));
  MAKES(NULL, tpt_model, BAD, "model", tpt_model_fold(NULL, &made));
  MAKES(NULL, tpt_model, BAD, "model", tpt_model_fold(c.stranger, &made));
  refused(m, tpt_model_fold(m, NULL), BAD, "folded");
  MAKES(m, tpt_model, BAD, "precision", tpt_model_convert(m, NULL, &made));
  refused(m, tpt_model_convert(m, "f32", NULL), BAD, "converted");
  FIRST(tpt_model_tensor_count, const tpt_model, "model", &size);
  refused(m, tpt_model_tensor_count(m, NULL), BAD, "count");
  FIRST(tpt_model_tensor_info, const tpt_model, "model", 0, &info);
  FIRST(tpt_model_get_tensor, const tpt_model, "model", "head.weight", floats, D *V);
  refused(m, tpt_model_get_tensor(m, NULL, floats, D * V), BAD, "name");
  refused(m, tpt_model_get_tensor(m, "head.weight", NULL, D * V), BAD, "values");
  FIRST(tpt_model_set_tensor, tpt_model, "model", "head.weight", floats, D * V);
  refused(m, tpt_model_set_tensor(m, NULL, floats, D * V), BAD, "name");
  refused(m, tpt_model_set_tensor(m, "head.weight", NULL, D * V), BAD, "values");
  float *values = floats;
  FIRST(tpt_model_parameters, tpt_model, "model", &values, &size);
  refused(m, tpt_model_parameters(m, NULL, &size), BAD, "values");
  refused(m, tpt_model_parameters(m, &values, NULL), BAD, "count");
  ck_assert_ptr_eq(values, floats);
  part(&c);
}
END_TEST

START_TEST(trainers) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_trainer *t = c.s.trainer;
  const int32_t *ids = c.s.tokens;
  const float *borrowed = floats;
  float *values = floats;
  MAKES(NULL, tpt_trainer, BAD, "model", tpt_trainer_create(NULL, NULL, &made));
  MAKES(NULL, tpt_trainer, BAD, "model", tpt_trainer_create(c.stranger, NULL, &made));
  MAKES(m, tpt_trainer, BAD, "config", tpt_trainer_create(m, (tpt_config *)t, &made));
  refused(m, tpt_trainer_create(m, NULL, NULL), BAD, "trainer");
  FIRST(tpt_trainer_forward, tpt_trainer, "trainer", ids, 1, 1);
  refused(t, tpt_trainer_forward(t, NULL, 1, 1), BAD, "tokens");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX, 1), BAD, "batch");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX, SIZE_MAX), BAD, "seq");
  refused(t, tpt_trainer_forward(t, ids, SIZE_MAX / MOST + 2, MOST), BAD, "batch");
  ok(tpt_trainer_forward(t, ids, BATCH, MOST));
  FIRST(tpt_trainer_logits, tpt_trainer, "trainer", &borrowed);
  refused(t, tpt_trainer_logits(t, NULL), BAD, "logits");
  FIRST(tpt_trainer_loss, tpt_trainer, "trainer", ids, doubles);
  refused(t, tpt_trainer_loss(t, NULL, doubles), BAD, "targets");
  refused(t, tpt_trainer_loss(t, ids, NULL), BAD, "loss");
  refused(NULL, tpt_trainer_backward(NULL), BAD, "trainer");
  refused(NULL, tpt_trainer_backward(c.stranger), BAD, "trainer");
  FIRST(tpt_trainer_backward_logits, tpt_trainer, "trainer", floats, ROWS * V);
  refused(t, tpt_trainer_backward_logits(t, NULL, ROWS * V), BAD, "dlogits");
  refused(t, tpt_trainer_backward_logits(t, floats, ROWS * V - 1), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, ROWS * V + 1), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, 0), BAD, "count");
  refused(t, tpt_trainer_backward_logits(t, floats, SIZE_MAX), BAD, "count");
  FIRST(tpt_trainer_accumulate, tpt_trainer, "trainer", ids, ids, 1, 1, doubles);
  refused(t, tpt_trainer_accumulate(t, NULL, ids, 1, 1, doubles), BAD, "tokens");
  refused(t, tpt_trainer_accumulate(t, ids, NULL, 1, 1, doubles), BAD, "targets");
  refused(t, tpt_trainer_accumulate(t, ids, ids, 1, 1, NULL), BAD, "loss");
  refused(t, tpt_trainer_accumulate(t, ids, ids, SIZE_MAX, MOST, doubles), BAD, "batch");
  refused(NULL, tpt_trainer_zero_gradients(NULL), BAD, "trainer");
  refused(NULL, tpt_trainer_zero_gradients(c.stranger), BAD, "trainer");
  FIRST(tpt_trainer_gradients, tpt_trainer, "trainer", &values, &size);
  refused(t, tpt_trainer_gradients(t, NULL, &size), BAD, "values");
  refused(t, tpt_trainer_gradients(t, &values, NULL), BAD, "count");
  FIRST(tpt_trainer_get_gradient, const tpt_trainer, "trainer", "head.weight", floats, D *V);
  refused(t, tpt_trainer_get_gradient(t, NULL, floats, D * V), BAD, "name");
  refused(t, tpt_trainer_get_gradient(t, "head.weight", NULL, D * V), BAD, "values");
  FIRST(tpt_trainer_activation, tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, &borrowed, &size);
  refused(t, tpt_trainer_activation(t, TPT_POINT_BLOCK, 0, NULL, &size), BAD, "values");
  refused(t, tpt_trainer_activation(t, TPT_POINT_BLOCK, 0, &borrowed, NULL), BAD, "count");
  refused(t, tpt_trainer_activation(t, (tpt_point)-1, 0, &borrowed, &size), BAD, "point");
  ck_assert(values == floats && borrowed == floats);
  part(&c);
}
END_TEST

/* Ids at the ends of their range, as tokens and as targets, first and last. */
START_TEST(foreign_ids) {
  static const int32_t bad[] = {-1, V, INT32_MAX, INT32_MIN, -2};
  cast c = gather();
  tpt_trainer *t = c.s.trainer;
  for (size_t i = 0; i < 5; i++) {
    for (size_t at = 0; at < ROWS; at += ROWS - 1) {
      int32_t ids[ROWS] = {0};
      char word[40];
      ids[at] = bad[i];
      snprintf(word, sizeof word, "tokens[%zu] is %ld", at, (long)bad[i]);
      refused(t, tpt_trainer_forward(t, ids, BATCH, MOST), BAD, word);
      refused(t, tpt_trainer_accumulate(t, ids, c.s.targets, BATCH, MOST, doubles), BAD, word);
      if (at < MOST) refused(c.decoder, tpt_decoder_feed(c.decoder, ids, MOST, NULL), BAD, word);
      if (at < MOST)
        refused(c.decoder, tpt_decoder_score(c.decoder, ids, MOST, doubles), BAD, word);
      if (bad[i] == -1) continue; /* the default ignore_index: a target that is allowed */
      memcpy(word, "targets", 7);
      snprintf(word, sizeof word, "targets[%zu] is %ld", at, (long)bad[i]);
      ok(tpt_trainer_forward(t, c.s.tokens, BATCH, MOST));
      refused(t, tpt_trainer_loss(t, ids, doubles), BAD, word);
      refused(t, tpt_trainer_accumulate(t, c.s.tokens, ids, BATCH, MOST, doubles), BAD, word);
    }
  }
  part(&c);
}
END_TEST

START_TEST(optimizers_and_checkpoints) {
  cast c = gather();
  tpt_trainer *t = c.s.trainer;
  tpt_optimizer *o = c.s.optimizer;
  uint64_t steps = 77;
  MAKES(NULL, tpt_optimizer, BAD, "trainer", tpt_optimizer_create(NULL, NULL, &made));
  MAKES(NULL, tpt_optimizer, BAD, "trainer", tpt_optimizer_create(c.stranger, NULL, &made));
  MAKES(t, tpt_optimizer, BAD, "config", tpt_optimizer_create(t, (tpt_config *)t, &made));
  refused(t, tpt_optimizer_create(t, NULL, NULL), BAD, "optimizer");
  FIRST(tpt_optimizer_step, tpt_optimizer, "optimizer", doubles);
  FIRST(tpt_optimizer_set_lr, tpt_optimizer, "optimizer", 1.0);
  refused(o, tpt_optimizer_set_lr(o, -0x1p-1074), BAD, "lr");
  refused(o, tpt_optimizer_set_lr(o, HUGE_VAL), BAD, "lr");
  FIRST(tpt_optimizer_lr, const tpt_optimizer, "optimizer", doubles);
  refused(o, tpt_optimizer_lr(o, NULL), BAD, "lr");
  FIRST(tpt_optimizer_step_count, const tpt_optimizer, "optimizer", &steps);
  refused(o, tpt_optimizer_step_count(o, NULL), BAD, "steps");
  FIRST(tpt_checkpoint_save, const tpt_trainer, "trainer", o, "/none/none", NULL, 0);
  refused(t, tpt_checkpoint_save(t, NULL, "/none/none", NULL, 0), BAD, "optimizer");
  refused(t, tpt_checkpoint_save(t, c.stranger, "/none/none", NULL, 0), BAD, "optimizer");
  refused(t, tpt_checkpoint_save(t, o, NULL, NULL, 0), BAD, "path");
  refused(t, tpt_checkpoint_save(t, o, "/none/none", NULL, 1), BAD, "user");
  FIRST(tpt_checkpoint_load, tpt_trainer, "trainer", o, "/none/none", text, 1, &size);
  refused(t, tpt_checkpoint_load(t, NULL, "/none/none", text, 1, &size), BAD, "optimizer");
  refused(t, tpt_checkpoint_load(t, o, NULL, text, 1, &size), BAD, "path");
  refused(t, tpt_checkpoint_load(t, o, "/none/none", NULL, 1, &size), BAD, "user");
  refused(t, tpt_checkpoint_load(t, o, "/none/none", text, 1, &size), TPT_E_IO, "/none/none");
  ck_assert_uint_eq(steps, 77);
  part(&c);
}
END_TEST

START_TEST(decoders) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_decoder *d = c.decoder;
  const int32_t *ids = c.s.tokens;
  const float *borrowed = floats;
  MAKES(NULL, tpt_decoder, BAD, "model", tpt_decoder_create(NULL, 0, &made));
  MAKES(NULL, tpt_decoder, BAD, "model", tpt_decoder_create(c.stranger, 0, &made));
  refused(m, tpt_decoder_create(m, 0, NULL), BAD, "decoder");
  FIRST(tpt_decoder_copy, const tpt_decoder, "source", d);
  refused(d, tpt_decoder_copy(d, NULL), BAD, "target");
  refused(d, tpt_decoder_copy(d, c.stranger), BAD, "target");
  FIRST(tpt_decoder_feed, tpt_decoder, "decoder", ids, 1, &borrowed);
  refused(d, tpt_decoder_feed(d, NULL, 1, &borrowed), BAD, "tokens");
  refused(d, tpt_decoder_feed(d, ids, SIZE_MAX, &borrowed), BAD, "count");
  FIRST(tpt_decoder_score, tpt_decoder, "decoder", ids, 1, doubles);
  refused(d, tpt_decoder_score(d, NULL, 1, doubles), BAD, "tokens");
  refused(d, tpt_decoder_score(d, ids, 0, doubles), BAD, "count");
  refused(d, tpt_decoder_score(d, ids, MOST + 1, doubles), BAD, "count");
  refused(d, tpt_decoder_score(d, ids, 1, NULL), BAD, "log_probability");
  FIRST(tpt_decoder_rewind, tpt_decoder, "decoder", 0);
  refused(d, tpt_decoder_rewind(d, 1), BAD, "position");
  refused(d, tpt_decoder_rewind(d, SIZE_MAX), BAD, "position");
  FIRST(tpt_decoder_position, const tpt_decoder, "decoder", &size);
  refused(d, tpt_decoder_position(d, NULL), BAD, "position");
  FIRST(tpt_decoder_set_sampling, tpt_decoder, "decoder", 1.0, 0, 1.0, 1);
  static const double no_temperature[] = {NAN, -1e-300, INFINITY, -INFINITY};
  static const double no_share[] = {NAN, -0.1, 1.0000001, INFINITY};
  for (int i = 0; i < 4; i++) {
    refused(d, tpt_decoder_set_sampling(d, no_temperature[i], 0, 1, 1), BAD, "temperature");
    refused(d, tpt_decoder_set_sampling(d, 1, 0, no_share[i], 1), BAD, "top_p");
  }
  refused(d, tpt_decoder_set_sampling(d, 1, -1, 1, 1), BAD, "top_k");
  refused(d, tpt_decoder_set_sampling(d, 1, INT32_MIN, 1, 1), BAD, "top_k");
  ok(tpt_decoder_set_sampling(d, 1e300, INT32_MAX, 0, 1)); /* odd, but allowed */
  FIRST(tpt_decoder_sample, tpt_decoder, "decoder", &number);
  refused(d, tpt_decoder_sample(d, &number), TPT_E_STATE, "logits");
  ok(tpt_decoder_feed(d, ids, 1, NULL));
  refused(d, tpt_decoder_sample(d, NULL), BAD, "token");
  int32_t token = -1;
  ok(tpt_decoder_sample(d, &token));
  ck_assert(borrowed == floats && token >= 0 && token < V);
  part(&c);
}
END_TEST

START_TEST(datasets) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_dataset *d = c.dataset;
  int32_t ids[ROWS], also[ROWS];
  uint64_t state = 5;
  MAKES(x, tpt_dataset, BAD, "path", tpt_dataset_open(x, NULL, &made));
  MAKES(NULL, tpt_dataset, BAD, "context", tpt_dataset_open(c.stranger, "/none.u16", &made));
  MAKES(x, tpt_dataset, TPT_E_IO, "/none.u16", tpt_dataset_open(x, "/none.u16", &made));
  refused(x, tpt_dataset_open(x, "/none.u16", NULL), BAD, "dataset");
  MAKES(x, tpt_dataset, BAD, "tokens", tpt_dataset_from_tokens(x, NULL, 1, &made));
  MAKES(NULL, tpt_dataset, BAD, "context", tpt_dataset_from_tokens(c.stranger, ids, 0, &made));
  refused(x, tpt_dataset_from_tokens(x, c.s.tokens, 1, NULL), BAD, "dataset");
  FIRST(tpt_dataset_count, const tpt_dataset, "dataset", &size);
  refused(d, tpt_dataset_count(d, NULL), BAD, "tokens");
  FIRST(tpt_dataset_random, const tpt_dataset, "dataset", &state, 1, 1, ids, also);
  refused(d, tpt_dataset_random(d, NULL, 1, 1, ids, also), BAD, "random_state");
  refused(d, tpt_dataset_random(d, &state, 1, 1, NULL, also), BAD, "tokens");
  refused(d, tpt_dataset_random(d, &state, 1, 1, ids, NULL), BAD, "targets");
  refused(d, tpt_dataset_random(d, &state, 0, 1, ids, also), BAD, "batch");
  refused(d, tpt_dataset_random(d, &state, 1, ROWS, ids, also), BAD, "seq");
  refused(d, tpt_dataset_random(d, &state, SIZE_MAX, SIZE_MAX, ids, also), BAD, "batch");
  FIRST(tpt_dataset_window_count, const tpt_dataset, "dataset", 1, &size);
  refused(d, tpt_dataset_window_count(d, 0, &size), BAD, "seq");
  refused(d, tpt_dataset_window_count(d, 1, NULL), BAD, "count");
  FIRST(tpt_dataset_window, const tpt_dataset, "dataset", 0, 1, ids, also);
  refused(d, tpt_dataset_window(d, ROWS - 1, 1, ids, also), BAD, "window");
  refused(d, tpt_dataset_window(d, SIZE_MAX, 2, ids, also), BAD, "window");
  refused(d, tpt_dataset_window(d, 0, 1, NULL, also), BAD, "tokens");
  refused(d, tpt_dataset_window(d, 0, 1, ids, NULL), BAD, "targets");
  FIRST(tpt_evaluate, const tpt_model, "model", NULL, d, 4, 0, &evaluation);
  refused(c.s.model, tpt_evaluate(c.s.model, (tpt_config *)c.s.model, d, 4, 0, &evaluation), BAD,
          "config");
  refused(c.s.model, tpt_evaluate(c.s.model, NULL, c.stranger, 4, 0, &evaluation), BAD, "dataset");
  ck_assert_uint_eq(state, 5);
  part(&c);
}
END_TEST

START_TEST(tokenizers) {
  cast c = gather();
  tpt_context *x = c.s.context;
  const tpt_tokenizer *t = c.tokenizer;
  const int32_t some[2] = {65, 66};
  refused(x, tpt_tokenizer_bytes(x, NULL), BAD, "tokenizer");
  MAKES(NULL, tpt_tokenizer, BAD, "context", tpt_tokenizer_bytes(c.stranger, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_words(x, NULL, 1, 5, &made));
  MAKES(x, tpt_tokenizer, BAD, "vocab", tpt_tokenizer_words(x, "a", 1, 0, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_bpe(x, NULL, 1, 300, &made));
  MAKES(x, tpt_tokenizer, BAD, "vocab", tpt_tokenizer_bpe(x, "a", 1, 255, &made));
  MAKES(x, tpt_tokenizer, BAD, "text", tpt_tokenizer_bpe(x, "\xff", 1, 300, &made));
  MAKES(x, tpt_tokenizer, BAD, "path", tpt_tokenizer_load(x, NULL, &made));
  MAKES(x, tpt_tokenizer, TPT_E_IO, "/none", tpt_tokenizer_load(x, "/none", &made));
  MAKES(x, tpt_tokenizer, BAD, "json", tpt_tokenizer_parse(x, NULL, 1, &made));
  MAKES(x, tpt_tokenizer, TPT_E_FORMAT, "", tpt_tokenizer_parse(x, "{", 1, &made));
  FIRST(tpt_tokenizer_save, const tpt_tokenizer, "tokenizer", "/none/none");
  refused(t, tpt_tokenizer_save(t, NULL), BAD, "path");
  FIRST(tpt_tokenizer_format, const tpt_tokenizer, "tokenizer", text, 1, &size);
  refused(t, tpt_tokenizer_format(t, NULL, 1, &size), BAD, "text");
  refused(t, tpt_tokenizer_format(t, text, 1, NULL), BAD, "length");
  FIRST(tpt_tokenizer_vocab_size, const tpt_tokenizer, "tokenizer", &size);
  refused(t, tpt_tokenizer_vocab_size(t, NULL), BAD, "count");
  FIRST(tpt_tokenizer_encode, const tpt_tokenizer, "tokenizer", "a", 1, &number, 1, &size);
  refused(t, tpt_tokenizer_encode(t, NULL, 1, &number, 1, &size), BAD, "text");
  refused(t, tpt_tokenizer_encode(t, "a", 1, NULL, 1, &size), BAD, "ids");
  refused(t, tpt_tokenizer_encode(t, "a", 1, &number, 1, NULL), BAD, "count");
  FIRST(tpt_tokenizer_encode_text, const tpt_tokenizer, "tokenizer", "a", 1, &number, 1, &size);
  refused(t, tpt_tokenizer_encode_text(t, NULL, 1, &number, 1, &size), BAD, "text");
  FIRST(tpt_tokenizer_decode, const tpt_tokenizer, "tokenizer", some, 2, text, 2, &size);
  refused(t, tpt_tokenizer_decode(t, NULL, 2, text, 2, &size), BAD, "ids");
  refused(t, tpt_tokenizer_decode(t, some, 2, NULL, 2, &size), BAD, "text");
  refused(t, tpt_tokenizer_decode(t, some, 2, text, 2, NULL), BAD, "length");
  refused(t, tpt_tokenizer_decode(t, (int32_t[]){65, 256}, 2, text, 2, &size), BAD, "ids[1]");
  refused(t, tpt_tokenizer_decode(t, (int32_t[]){-1}, 1, text, 2, &size), BAD, "ids[0]");
  refused(t, tpt_tokenizer_decode_tail(t, some, 2, 3, text, 2, &size), BAD, "done");
  refused(t, tpt_tokenizer_id(t, NULL, &number), BAD, "token");
  refused(t, tpt_tokenizer_id(t, "a", NULL), BAD, "id");
  refused(t, tpt_tokenizer_token(t, 256, text, 2, &size), BAD, "id");
  refused(t, tpt_tokenizer_token(t, INT32_MIN, text, 2, &size), BAD, "id");
  memset(text, 0x5a, sizeof text); /* an array may be partly written */
  part(&c);
}
END_TEST

START_TEST(geometry) {
  cast c = gather();
  tpt_model *m = c.s.model;
  tpt_trainer *t = c.s.trainer;
  ok(tpt_trainer_forward(t, c.s.tokens, BATCH, MOST));
  FIRST(tpt_geometry_dc_profile, const tpt_model, "model", 0, floats, 1);
  refused(m, tpt_geometry_dc_profile(m, 0, NULL, 1), BAD, "values");
  FIRST(tpt_geometry_theta, const tpt_model, "model", 0, floats, P / 2);
  refused(m, tpt_geometry_theta(m, 0, NULL, P / 2), BAD, "values");
  FIRST(tpt_geometry_angles, const tpt_model, "model", 0, 0, floats, P / 2);
  refused(m, tpt_geometry_angles(m, 0, 0, NULL, P / 2), BAD, "values");
  refused(m, tpt_geometry_angles(m, SIZE_MAX, 0, floats, P / 2), BAD, "layer");
  FIRST(tpt_geometry_drift, const tpt_model, "model", 0, &drift);
  refused(m, tpt_geometry_drift(m, L, &drift), BAD, "layer");
  refused(m, tpt_geometry_drift(m, 0, NULL), BAD, "drift");
  FIRST(tpt_geometry_phase_means, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_phase_means(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_phase_rms, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_phase_rms(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_phase_cosine, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N *N);
  refused(t, tpt_geometry_phase_cosine(t, TPT_POINT_BLOCK, 0, NULL, N * N), BAD, "values");
  FIRST(tpt_geometry_dc_energy, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, doubles, N);
  refused(t, tpt_geometry_dc_energy(t, TPT_POINT_BLOCK, 0, NULL, N), BAD, "values");
  FIRST(tpt_geometry_dc, const tpt_trainer, "trainer", TPT_POINT_BLOCK, 0, floats, MOST);
  refused(t, tpt_geometry_dc(t, TPT_POINT_BLOCK, 0, NULL, MOST), BAD, "values");
  FIRST(tpt_geometry_zero_sum, const tpt_trainer, "trainer", doubles, doubles + 1);
  refused(t, tpt_geometry_zero_sum(t, NULL, doubles), BAD, "measured");
  refused(t, tpt_geometry_zero_sum(t, doubles, NULL), BAD, "analytic");
  FIRST(tpt_geometry_displacement, const tpt_trainer, "trainer", 0, doubles);
  refused(t, tpt_geometry_displacement(t, 0, NULL), BAD, "mean");
  refused(t, tpt_geometry_displacement(t, SIZE_MAX, doubles), BAD, "layer");
  part(&c);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/hostile");
  TCase *tests = tcase_create("hostile");
  tcase_add_test(tests, contexts);
  tcase_add_test(tests, descriptions);
  tcase_add_test(tests, models);
  tcase_add_test(tests, trainers);
  tcase_add_test(tests, foreign_ids);
  tcase_add_test(tests, optimizers_and_checkpoints);
  tcase_add_test(tests, decoders);
  tcase_add_test(tests, datasets);
  tcase_add_test(tests, tokenizers);
  tcase_add_test(tests, geometry);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
