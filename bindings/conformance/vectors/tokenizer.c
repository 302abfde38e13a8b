/* Tokenizers: bytes, words and byte-level BPE of a text, and one with a special token. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef tpt_status encoder(const tpt_tokenizer *tokenizer, const char *text, size_t length,
                           int32_t *ids, size_t capacity, size_t *count);

static ids encoded(const tpt_tokenizer *t, encoder *encode, const char *text) {
  ids made;
  size_t length = strlen(text);
  check(encode(t, text, length, NULL, 0, &made.count));
  made.values = take(made.count, sizeof *made.values);
  check(encode(t, text, length, made.values, made.count, &made.count));
  return made;
}

static json_t *ids_json(const tpt_tokenizer *t, encoder *encode, const char *text) {
  ids made = encoded(t, encode, text);
  json_t *list = of_ids(made.values, made.count);
  free(made.values);
  return list;
}

static json_t *decoded(const tpt_tokenizer *t, ids words) {
  size_t length;
  check(tpt_tokenizer_decode(t, words.values, words.count, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_tokenizer_decode(t, words.values, words.count, text, length + 1, &length));
  json_t *made = of_text(text, length);
  free(text);
  return made;
}

static json_t *piece(const tpt_tokenizer *t, const int32_t *words, size_t count) {
  size_t length;
  check(tpt_tokenizer_decode_tail(t, words, count, count - 1, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_tokenizer_decode_tail(t, words, count, count - 1, text, length + 1, &length));
  json_t *made = of_bytes(text, length);
  free(text);
  return made;
}

static json_t *pieces(const tpt_tokenizer *t, ids words) {
  json_t *list = json_array();
  for (size_t count = 1; count <= words.count; count++) add(list, piece(t, words.values, count));
  return list;
}

static json_t *sample_of(const tpt_tokenizer *t, const char *text) {
  json_t *entry = json_object();
  ids words = encoded(t, tpt_tokenizer_encode, text);
  put(entry, "ids", of_ids(words.values, words.count));
  put(entry, "text_ids", ids_json(t, tpt_tokenizer_encode_text, text));
  put(entry, "decoded", decoded(t, words));
  put(entry, "pieces", pieces(t, words));
  free(words.values);
  return entry;
}

static json_t *samples_of(const tpt_tokenizer *t, const json_t *texts) {
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(texts); i++)
    add(list, sample_of(t, json_string_value(json_array_get(texts, i))));
  return list;
}

static json_t *token_of(const tpt_tokenizer *t, int32_t id) {
  size_t length;
  int32_t back;
  check(tpt_tokenizer_token(t, id, NULL, 0, &length));
  char *text = take(length + 1, 1);
  check(tpt_tokenizer_token(t, id, text, length + 1, &length));
  check(tpt_tokenizer_id(t, text, &back));
  if (back != id) die("has another id than it was asked for", text);
  json_t *made = of_text(text, length);
  free(text);
  return made;
}

static json_t *tokens_of(const tpt_tokenizer *t, const json_t *how) {
  json_t *list = json_array();
  ids asked = ids_at(how, "ids");
  for (size_t i = 0; i < asked.count; i++) add(list, token_of(t, asked.values[i]));
  free(asked.values);
  return list;
}

/* Of each text. Ends the tokenizer. */
static json_t *last_ids(tpt_tokenizer *t, const json_t *texts) {
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(texts); i++)
    add(list, ids_json(t, tpt_tokenizer_encode, json_string_value(json_array_get(texts, i))));
  tpt_tokenizer_destroy(t);
  return list;
}

static void put_format(const tpt_tokenizer *t, const json_t *texts, json_t *entry) {
  size_t length;
  check(tpt_tokenizer_format(t, NULL, 0, &length));
  char *json = take(length + 1, 1);
  tpt_tokenizer *parsed;
  check(tpt_tokenizer_format(t, json, length + 1, &length));
  check(tpt_tokenizer_parse(NULL, json, length, &parsed));
  put(entry, "format", of_file(json, length));
  put(entry, "parsed", last_ids(parsed, texts));
  free(json);
}

static void put_file(const tpt_tokenizer *t, const json_t *texts, const char *scratch,
                     json_t *entry) {
  char *path = scratch_file(scratch, "_tokenizer.json");
  tpt_tokenizer *loaded;
  check(tpt_tokenizer_save(t, path));
  check(tpt_tokenizer_load(NULL, path, &loaded));
  bytes file = read_file(path);
  put(entry, "saved", of_file(file.values, file.size));
  put(entry, "loaded", last_ids(loaded, texts));
  free(file.values);
  drop_file(path);
}

static json_t *vocab_size(const tpt_tokenizer *t) {
  size_t count;
  check(tpt_tokenizer_vocab_size(t, &count));
  return of_size(count);
}

static tpt_tokenizer *made_as(const json_t *how, const char *text) {
  const char *kind = text_at(how, "kind");
  size_t length = strlen(text);
  tpt_tokenizer *t = NULL;
  if (strcmp(kind, "bytes") == 0)
    check(tpt_tokenizer_bytes(NULL, &t));
  else if (strcmp(kind, "words") == 0)
    check(tpt_tokenizer_words(NULL, text, length, size_at(how, "vocab"), &t));
  else if (strcmp(kind, "bpe") == 0)
    check(tpt_tokenizer_bpe(NULL, text, length, size_at(how, "vocab"), &t));
  else
    die("is no kind of tokenizer", kind);
  return t;
}

static json_t *entry_of(const json_t *how, const json_t *inputs, const char *scratch) {
  tpt_tokenizer *t = made_as(how, text_at(inputs, "text"));
  const json_t *texts = at(inputs, "samples");
  json_t *entry = json_object();
  put(entry, "kind", json_string(text_at(how, "kind")));
  put(entry, "vocab_size", vocab_size(t));
  put_format(t, texts, entry);
  put_file(t, texts, scratch, entry);
  put(entry, "tokens", tokens_of(t, how));
  put(entry, "samples", samples_of(t, texts));
  tpt_tokenizer_destroy(t);
  return entry;
}

static json_t *special_of(const json_t *special) {
  const char *json = text_at(special, "json"), *text = text_at(special, "text");
  tpt_tokenizer *t;
  json_t *entry = json_object();
  check(tpt_tokenizer_parse(NULL, json, strlen(json), &t));
  ids words = encoded(t, tpt_tokenizer_encode, text);
  put(entry, "vocab_size", vocab_size(t));
  put(entry, "ids", of_ids(words.values, words.count));
  put(entry, "text_ids", ids_json(t, tpt_tokenizer_encode_text, text));
  put(entry, "decoded", decoded(t, words));
  free(words.values);
  tpt_tokenizer_destroy(t);
  return entry;
}

void tokenizer(const json_t *inputs, json_t *results, const char *scratch) {
  const json_t *kinds = at(inputs, "tokenizers");
  json_t *list = json_array();
  for (size_t i = 0; i < json_array_size(kinds); i++)
    add(list, entry_of(json_array_get(kinds, i), inputs, scratch));
  put(results, "tokenizers", list);
  put(results, "special", special_of(at(inputs, "special")));
}
