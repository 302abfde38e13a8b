/* Loss of a text, held in memory and read from a token file. */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

static void write_u16(const char *path, ids all) {
  FILE *file = fopen(path, "wb");
  if (!file) die("cannot be written", path);
  for (size_t i = 0; i < all.count; i++) {
    fputc(all.values[i] & 0xff, file);
    fputc(all.values[i] >> 8, file);
  }
  if (fclose(file)) die("cannot be written", path);
}

static json_t *evaluation(const run *r, const tpt_dataset *data, size_t seq, size_t windows) {
  tpt_evaluation e = {.size = sizeof e};
  json_t *entry = json_object();
  check(tpt_evaluate(r->model, NULL, data, seq, windows, &e));
  put(entry, "loss", of_double(e.loss));
  put(entry, "perplexity", of_double(e.perplexity));
  put(entry, "tokens", of_u64(e.tokens));
  return entry;
}

static json_t *evaluations(const run *r, const tpt_dataset *data, const json_t *inputs) {
  const json_t *windows = at(inputs, "max_windows");
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(windows); i++)
    add(list, evaluation(r, data, size_at(inputs, "seq"),
                         (size_t)json_integer_value(json_array_get(windows, i))));
  return list;
}

static json_t *window_of(const tpt_dataset *data, size_t index, size_t seq) {
  int32_t *tokens = take(seq, sizeof *tokens), *targets = take(seq, sizeof *targets);
  json_t *entry = json_object();
  check(tpt_dataset_window(data, index, seq, tokens, targets));
  put(entry, "tokens", of_ids(tokens, seq));
  put(entry, "targets", of_ids(targets, seq));
  free(tokens);
  free(targets);
  return entry;
}

static void put_data(const tpt_dataset *data, const json_t *inputs, json_t *results) {
  size_t count, windows, seq = size_at(inputs, "seq");
  check(tpt_dataset_count(data, &count));
  check(tpt_dataset_window_count(data, seq, &windows));
  put(results, "count", of_size(count));
  put(results, "window_count", of_size(windows));
  put(results, "window", window_of(data, size_at(inputs, "window"), seq));
}

void evaluate(const json_t *inputs, json_t *results, const char *scratch) {
  run r = run_whole(at(inputs, "training"));
  ids all = ids_of(r.tokenizer, text_at(inputs, "text"));
  char *path = scratch_file(scratch, ".u16");
  tpt_dataset *held, *stored;
  write_u16(path, all);
  check(tpt_dataset_from_tokens(r.context, all.values, all.count, &held));
  check(tpt_dataset_open(r.context, path, &stored));
  put_data(held, inputs, results);
  put(results, "evaluations", evaluations(&r, held, inputs));
  put(results, "from_file", evaluations(&r, stored, inputs));
  tpt_dataset_destroy(stored);
  tpt_dataset_destroy(held);
  drop_file(path);
  free(all.values);
  run_end(&r);
}
