/* Every status that a caller can provoke, with its message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

static const char WEIGHTS[] = "blocks.1.attn.q.weight";
static const int32_t TOKENS[] = {1, 2, 3}, TARGETS[] = {2, 3, 4};
enum { FEW = 3, MESSAGE_ROOM = 512 };

static void begin(stage *s, const json_t *inputs) {
  s->context = context_of(size_at(inputs, "threads"));
  s->config = config_of(text_at(inputs, "yaml"));
  s->seed = u64_at(inputs, "seed");
  check(tpt_tokenizer_bytes(s->context, &s->tokenizer));
  ids all = ids_of(s->tokenizer, text_at(inputs, "text"));
  check(tpt_dataset_from_tokens(s->context, all.values, all.count, &s->data));
  free(all.values);
  check(tpt_model_create(s->context, s->config, s->seed, &s->model));
  check(tpt_trainer_create(s->model, NULL, &s->trainer));
  check(tpt_optimizer_create(s->trainer, NULL, &s->optimizer));
  check(tpt_decoder_create(s->model, 0, &s->decoder));
}

static void end(stage *s) {
  tpt_decoder_destroy(s->decoder);
  tpt_optimizer_destroy(s->optimizer);
  tpt_trainer_destroy(s->trainer);
  tpt_model_destroy(s->model);
  tpt_dataset_destroy(s->data);
  tpt_tokenizer_destroy(s->tokenizer);
  tpt_config_destroy(s->config);
  tpt_context_destroy(s->context);
  tpt_context_destroy(s->other);
}

/* ---- before the call ---- */

static void set_weights(stage *s, float value) {
  size_t width = setting(s->config, "model.d_model"), count = width * width;
  float *values = take(count, sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = value;
  check(tpt_model_set_tensor(s->model, WEIGHTS, values, count));
  free(values);
}

static void become(stage *s, tpt_model *made) {
  tpt_model_destroy(s->model);
  s->model = made;
}

static void cancel(stage *s) { check(tpt_context_cancel(s->context, 1)); }
static void forward_few(stage *s) { check(tpt_trainer_forward(s->trainer, TOKENS, 1, FEW)); }
static void backward(stage *s) { check(tpt_trainer_backward(s->trainer)); }
static void feed(stage *s) { check(tpt_decoder_feed(s->decoder, TOKENS, 1, NULL)); }
static void rewind_one(stage *s) { check(tpt_decoder_rewind(s->decoder, 1)); }
static void nan_weights(stage *s) { set_weights(s, NAN); }
static void new_weights(stage *s) { set_weights(s, 0); }

static void loss_few(stage *s) {
  double loss;
  check(tpt_trainer_loss(s->trainer, TARGETS, &loss));
}

static void convert(stage *s) {
  tpt_model *made;
  check(tpt_model_convert(s->model, "int8", &made));
  become(s, made);
}

static void fold(stage *s) {
  tpt_model *made;
  check(tpt_model_fold(s->model, &made));
  become(s, made);
}

static void spoil(stage *s) {
  double loss;
  cancel(s);
  if (tpt_trainer_accumulate(s->trainer, TOKENS, TARGETS, 1, FEW, &loss) != TPT_E_CANCELLED)
    die("was not cancelled", "accumulate");
  check(tpt_context_cancel(s->context, 0));
}

static const struct {
  const char *name;
  void (*go)(stage *s);
} STEPS[] = {{"cancel", cancel},       {"forward", forward_few}, {"loss", loss_few},
             {"backward", backward},   {"feed", feed},           {"rewind", rewind_one},
             {"convert", convert},     {"fold", fold},           {"nan", nan_weights},
             {"weights", new_weights}, {"spoil", spoil}};

static void go_before(stage *s, const char *name) {
  for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
    if (strcmp(STEPS[i].name, name) != 0) continue;
    STEPS[i].go(s);
    return;
  }
  die("is no step before a call", name);
}

/* ---- the call ---- */

static const call *find_call(const call *calls, const char *name) {
  while (calls->name && strcmp(calls->name, name) != 0) calls++;
  return calls->name ? calls : NULL;
}

/* handle: result, the call's first argument, or NULL where it takes none. */
static tpt_status make_call(stage *s, const json_t *what, const void **handle) {
  const char *name = text_at(what, "call");
  const call *found = find_call(CALLS_OF_MODELS, name);
  if (!found) found = find_call(CALLS_OF_TEXTS, name);
  if (!found) die("is no call", name);
  tpt_status status = found->go(s, what);
  *handle = NULL;
  if (found->handle != NO_HANDLE) memcpy(handle, (const char *)s + found->handle, sizeof *handle);
  return status;
}

/* The handle must say what the thread says. */
static void compare_message(const void *handle, const char *name) {
  char text[MESSAGE_ROOM];
  size_t length;
  check(tpt_error_of(handle, text, sizeof text, &length));
  if (strcmp(text, tpt_error_message()) != 0) die("the handle has another message", name);
}

static json_t *result_of(const json_t *inputs, const json_t *what) {
  const json_t *before = at(what, "before");
  const char *name = text_at(what, "name");
  const void *handle;
  stage s = {0};
  json_t *entry = json_object();
  begin(&s, inputs);
  for (size_t i = 0; i < json_array_size(before); i++)
    go_before(&s, json_string_value(json_array_get(before, i)));
  tpt_status status = make_call(&s, what, &handle);
  if (status == TPT_OK) die("the call succeeded", name);
  put(entry, "name", json_string(name));
  put(entry, "status", json_integer(status));
  put(entry, "message", json_string(tpt_error_message()));
  if (handle) compare_message(handle, name);
  end(&s);
  return entry;
}

void errors(const json_t *inputs, json_t *results, const char *scratch) {
  const json_t *cases = at(inputs, "cases");
  json_t *list = json_array();
  (void)scratch;
  for (size_t i = 0; i < json_array_size(cases); i++)
    add(list, result_of(inputs, json_array_get(cases, i)));
  put(results, "cases", list);
}
