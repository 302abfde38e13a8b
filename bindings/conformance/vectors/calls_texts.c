/* Calls that fail: versions, descriptions, data, evaluation, tokenizers. */
#include <stdlib.h>
#include <string.h>

#include "stage.h"

static tpt_status check_version(stage *s, const json_t *what) {
  (void)s;
  return tpt_check_version((int32_t)int_at(what, "major"), (int32_t)int_at(what, "minor"),
                           (int32_t)int_at(what, "patch"));
}

/* ---- descriptions ---- */

static tpt_status config_preset(stage *s, const json_t *what) {
  tpt_config *made;
  (void)s;
  return tpt_config_preset(text_at(what, "preset"), &made);
}

static tpt_status config_parse(stage *s, const json_t *what) {
  tpt_config *made;
  const char *yaml = text_at(what, "yaml");
  (void)s;
  return tpt_config_parse(yaml, strlen(yaml), &made);
}

static tpt_status config_load(stage *s, const json_t *what) {
  tpt_config *made;
  (void)s;
  return tpt_config_load(text_at(what, "path"), &made);
}

static tpt_status config_set(stage *s, const json_t *what) {
  return tpt_config_set(s->config, text_at(what, "key"), text_at(what, "value"));
}

static tpt_status config_get(stage *s, const json_t *what) {
  size_t length;
  return tpt_config_get(s->config, text_at(what, "key"), NULL, 0, &length);
}

static tpt_status config_check(stage *s, const json_t *what) {
  check(config_set(s, what));
  return tpt_config_check(s->config);
}

/* ---- data ---- */

static tpt_status dataset_open(stage *s, const json_t *what) {
  tpt_dataset *made;
  return tpt_dataset_open(s->context, text_at(what, "path"), &made);
}

static tpt_status dataset_from_tokens(stage *s, const json_t *what) {
  tpt_dataset *made;
  ids tokens = ids_at(what, "tokens");
  tpt_status status = tpt_dataset_from_tokens(s->context, tokens.values, tokens.count, &made);
  free(tokens.values);
  return status;
}

static tpt_status dataset_random(stage *s, const json_t *what) {
  size_t batch = size_at(what, "batch"), seq = size_at(what, "seq");
  int32_t *tokens = take(batch * seq, sizeof *tokens),
          *targets = take(batch * seq, sizeof *targets);
  uint64_t random_state = 1;
  tpt_status status = tpt_dataset_random(s->data, &random_state, batch, seq, tokens, targets);
  free(tokens);
  free(targets);
  return status;
}

static tpt_status dataset_window(stage *s, const json_t *what) {
  size_t seq = size_at(what, "seq");
  int32_t *tokens = take(seq, sizeof *tokens), *targets = take(seq, sizeof *targets);
  tpt_status status = tpt_dataset_window(s->data, size_at(what, "index"), seq, tokens, targets);
  free(tokens);
  free(targets);
  return status;
}

static tpt_status dataset_window_count(stage *s, const json_t *what) {
  size_t count;
  return tpt_dataset_window_count(s->data, size_at(what, "seq"), &count);
}

static tpt_status evaluate_data(stage *s, const json_t *what) {
  tpt_evaluation e = {.size = sizeof e};
  return tpt_evaluate(s->model, NULL, s->data, size_at(what, "seq"), size_at(what, "max_windows"),
                      &e);
}

/* ---- tokenizers ---- */

static tpt_status tokenizer_words(stage *s, const json_t *what) {
  tpt_tokenizer *made;
  const char *text = text_at(what, "text");
  return tpt_tokenizer_words(s->context, text, strlen(text), size_at(what, "vocab"), &made);
}

static tpt_status tokenizer_bpe(stage *s, const json_t *what) {
  tpt_tokenizer *made;
  const char *text = text_at(what, "text");
  return tpt_tokenizer_bpe(s->context, text, strlen(text), size_at(what, "vocab"), &made);
}

static tpt_status tokenizer_load(stage *s, const json_t *what) {
  tpt_tokenizer *made;
  return tpt_tokenizer_load(s->context, text_at(what, "path"), &made);
}

static tpt_status tokenizer_parse(stage *s, const json_t *what) {
  tpt_tokenizer *made;
  const char *json = text_at(what, "json");
  return tpt_tokenizer_parse(s->context, json, strlen(json), &made);
}

static tpt_status tokenizer_decode(stage *s, const json_t *what) {
  ids words = ids_at(what, "ids");
  size_t length;
  tpt_status status =
      tpt_tokenizer_decode(s->tokenizer, words.values, words.count, NULL, 0, &length);
  free(words.values);
  return status;
}

static tpt_status tokenizer_id(stage *s, const json_t *what) {
  int32_t id;
  return tpt_tokenizer_id(s->tokenizer, text_at(what, "token"), &id);
}

static tpt_status tokenizer_token(stage *s, const json_t *what) {
  size_t length;
  return tpt_tokenizer_token(s->tokenizer, (int32_t)int_at(what, "id"), NULL, 0, &length);
}

#define ON(object, name)                                                                           \
  { #name, name, offsetof(stage, object) }
#define ALONE(name)                                                                                \
  { #name, name, NO_HANDLE }

const call CALLS_OF_TEXTS[] = {ALONE(check_version),
                               ALONE(config_preset),
                               ALONE(config_parse),
                               ALONE(config_load),
                               ON(config, config_set),
                               ON(config, config_get),
                               ON(config, config_check),
                               ON(context, dataset_open),
                               ON(context, dataset_from_tokens),
                               ON(data, dataset_random),
                               ON(data, dataset_window),
                               ON(data, dataset_window_count),
                               {"evaluate", evaluate_data, offsetof(stage, model)},
                               ON(context, tokenizer_words),
                               ON(context, tokenizer_bpe),
                               ON(context, tokenizer_load),
                               ON(context, tokenizer_parse),
                               ON(tokenizer, tokenizer_decode),
                               ON(tokenizer, tokenizer_id),
                               ON(tokenizer, tokenizer_token),
                               {NULL, NULL, 0}};
