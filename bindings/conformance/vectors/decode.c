/* Prompts, continuations, likelihoods, several decoders at once, folded and converted snapshots. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef struct talk {
  const tpt_tokenizer *tokenizer;
  const tpt_model *model;
  ids prompt;
  size_t vocab;  /* V */
  size_t greedy; /* tokens that a greedy continuation has */
} talk;

static tpt_decoder *decoder_of(const tpt_model *model) {
  tpt_decoder *made;
  check(tpt_decoder_create(model, 0, &made));
  return made;
}

/* So many times: sample, feed. */
static ids go_on(tpt_decoder *decoder, size_t count) {
  ids made = {take(count, sizeof(int32_t)), count};
  for (size_t i = 0; i < count; i++) {
    check(tpt_decoder_sample(decoder, &made.values[i]));
    check(tpt_decoder_feed(decoder, &made.values[i], 1, NULL));
  }
  return made;
}

static json_t *continuation(tpt_decoder *decoder, size_t count) {
  ids made = go_on(decoder, count);
  json_t *list = of_ids(made.values, made.count);
  free(made.values);
  return list;
}

static const float *feed_prompt(const talk *t, tpt_decoder *decoder) {
  const float *logits;
  check(tpt_decoder_feed(decoder, t->prompt.values, t->prompt.count, &logits));
  return logits;
}

static json_t *text_of(const tpt_tokenizer *tokenizer, ids words) {
  size_t length;
  check(tpt_tokenizer_decode(tokenizer, words.values, words.count, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_tokenizer_decode(tokenizer, words.values, words.count, text, length + 1, &length));
  json_t *made = of_bytes(text, length);
  free(text);
  return made;
}

static void put_greedy(const talk *t, json_t *results) {
  tpt_decoder *decoder = decoder_of(t->model);
  size_t position;
  put(results, "logits", of_f32(feed_prompt(t, decoder), t->vocab));
  ids words = go_on(decoder, t->greedy);
  check(tpt_decoder_position(decoder, &position));
  put(results, "greedy", of_ids(words.values, words.count));
  put(results, "greedy_text", text_of(t->tokenizer, words));
  put(results, "position", of_size(position));
  free(words.values);
  tpt_decoder_destroy(decoder);
}

static void sample_as(tpt_decoder *decoder, const json_t *how) {
  check(tpt_decoder_set_sampling(decoder, number_at(how, "temperature"),
                                 (int32_t)int_at(how, "top_k"), number_at(how, "top_p"),
                                 u64_at(how, "seed")));
}

static void put_sampled(const talk *t, const json_t *inputs, json_t *results) {
  size_t count = size_at(inputs, "sampled");
  tpt_decoder *decoder = decoder_of(t->model), *copy = decoder_of(t->model);
  sample_as(decoder, at(inputs, "sampling"));
  feed_prompt(t, decoder);
  check(tpt_decoder_copy(decoder, copy));
  put(results, "sampled", continuation(decoder, count));
  put(results, "copied", continuation(copy, count));
  check(tpt_decoder_rewind(decoder, 0));
  feed_prompt(t, decoder);
  put(results, "resampled", continuation(decoder, count));
  tpt_decoder_destroy(copy);
  tpt_decoder_destroy(decoder);
}

/* In one call, until a token that the one before had: `sampled`[7]. */
static void put_generated(const talk *t, const json_t *inputs, json_t *results) {
  enum { STOP_AT = 7 };
  size_t count = size_at(inputs, "sampled"), made;
  int32_t stop = (int32_t)json_integer_value(json_array_get(at(results, "sampled"), STOP_AT));
  int32_t *tokens = take(count, sizeof *tokens);
  tpt_decoder *decoder = decoder_of(t->model);
  sample_as(decoder, at(inputs, "sampling"));
  feed_prompt(t, decoder);
  check(tpt_decoder_generate(decoder, stop, tokens, count, &made));
  put(results, "generated", of_ids(tokens, made));
  free(tokens);
  tpt_decoder_destroy(decoder);
}

static void put_score(const talk *t, const char *text, json_t *results) {
  tpt_decoder *decoder = decoder_of(t->model);
  ids words = ids_of(t->tokenizer, text);
  double *likely = take(words.count, sizeof *likely);
  check(tpt_decoder_score(decoder, words.values, words.count, likely));
  put(results, "score", of_f64(likely, words.count));
  free(likely);
  free(words.values);
  tpt_decoder_destroy(decoder);
}

static tpt_decoder *fed(const talk *t, const char *text) {
  tpt_decoder *decoder = decoder_of(t->model);
  ids words = ids_of(t->tokenizer, text);
  check(tpt_decoder_feed(decoder, words.values, words.count, NULL));
  free(words.values);
  return decoder;
}

static void put_many(const talk *t, const json_t *many, json_t *results) {
  const json_t *prompts = at(many, "prompts");
  ids next = ids_at(many, "tokens");
  tpt_decoder **decoders = take(next.count, sizeof *decoders);
  const float **logits = take(next.count, sizeof *logits);
  json_t *hashes = json_array();
  for (size_t i = 0; i < next.count; i++)
    decoders[i] = fed(t, json_string_value(json_array_get(prompts, i)));
  check(tpt_decoder_feed_many(decoders, next.count, next.values, logits));
  for (size_t i = 0; i < next.count; i++) {
    add(hashes, of_floats(logits[i], t->vocab));
    tpt_decoder_destroy(decoders[i]);
  }
  put(results, "many", hashes);
  free(decoders);
  free(logits);
  free(next.values);
}

static json_t *snapshot(const talk *t, const char *name) {
  tpt_model *made;
  json_t *entry = json_object();
  check(strcmp(name, "fold") == 0 ? tpt_model_fold(t->model, &made)
                                  : tpt_model_convert(t->model, name, &made));
  tpt_decoder *decoder = decoder_of(made);
  put(entry, "name", json_string(name));
  put(entry, "logits", of_floats(feed_prompt(t, decoder), t->vocab));
  put(entry, "greedy", continuation(decoder, t->greedy));
  tpt_decoder_destroy(decoder);
  tpt_model_destroy(made);
  return entry;
}

static void put_snapshots(const talk *t, const json_t *names, json_t *results) {
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(names); i++)
    add(list, snapshot(t, json_string_value(json_array_get(names, i))));
  put(results, "snapshots", list);
}

static json_t *loaded_from_memory(const run *r, bytes file) {
  tpt_model *loaded;
  check(tpt_model_load_memory(r->context, file.values, file.size, NULL, &loaded));
  json_t *made = parameters_of(loaded);
  tpt_model_destroy(loaded);
  return made;
}

static tpt_model *saved_and_loaded(const run *r, const char *scratch, json_t *results) {
  tpt_model *loaded;
  char *path = scratch_file(scratch, ".safetensors");
  check(tpt_model_save(r->model, path));
  check(tpt_model_load(r->context, path, NULL, &loaded));
  bytes file = read_file(path);
  put(results, "file", of_file(file.values, file.size));
  put(results, "parameters", parameters_of(loaded));
  put(results, "from_memory", loaded_from_memory(r, file));
  free(file.values);
  drop_file(path);
  return loaded;
}

void decode(const json_t *inputs, json_t *results, const char *scratch) {
  run r = run_whole(at(inputs, "training"));
  tpt_model *loaded = saved_and_loaded(&r, scratch, results);
  talk t = {r.tokenizer, loaded, ids_of(r.tokenizer, text_at(inputs, "prompt")),
            setting(r.config, "model.vocab_size"), size_at(inputs, "greedy")};
  put_greedy(&t, results);
  put_sampled(&t, inputs, results);
  put_generated(&t, inputs, results);
  put_score(&t, text_at(inputs, "score"), results);
  put_many(&t, at(inputs, "many"), results);
  put_snapshots(&t, at(inputs, "snapshots"), results);
  free(t.prompt.values);
  tpt_model_destroy(loaded);
  run_end(&r);
}
