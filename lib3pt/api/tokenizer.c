/* Tokenizers. Nothing changes after creation, so any number of threads may use one. */
#include <string.h>

#include "api/api.h"
#include "io/file.h"
#include "text/tokenizer.h"

struct tpt_tokenizer {
  tpti_handle head;
  tpt_context *context;
  tpti_tokenizer *inside;
};

/* ---- making one ---- */

static tpt_status wrap(tpt_context *held, tpti_tokenizer *inside, tpt_tokenizer **tokenizer) {
  tpt_tokenizer *made = tpti_take(&held->memory, sizeof *made);
  if (!made) return tpti_fail_memory(sizeof *made);
  *made = (tpt_tokenizer){.context = held, .inside = inside};
  tpti_handle_init(&made->head, TPTI_TOKENIZER);
  *tokenizer = made;
  return TPT_OK;
}

void tpt_tokenizer_destroy(tpt_tokenizer *tokenizer) {
  if (!tokenizer || !tpti_handle_is(tokenizer, TPTI_TOKENIZER, "tokenizer")) return;
  if (!tpti_handle_release(&tokenizer->head)) return;
  tpt_context *context = tokenizer->context;
  tpti_tokenizer_free(tokenizer->inside);
  tpti_give(&context->memory, tokenizer, sizeof *tokenizer);
  tpti_context_release(context);
}

/* What one is made from. */
typedef struct source {
  const char *text; /* or a path */
  size_t length, vocab;
} source;

typedef tpt_status (*maker)(const tpti_memory *memory, tpti_run *run, const source *from,
                            tpti_tokenizer **inside);

/* `name` is what the text is called where it is missing; NULL: none is needed. */
static tpt_status make(tpt_context *context, maker work, const source *from, const char *name,
                       tpt_tokenizer **tokenizer) {
  if (name && !from->text) return tpti_fail(TPT_E_ARGUMENT, "%s is NULL", name);
  tpt_context *held;
  tpt_status status = tpti_context_hold(context, &held);
  if (status) return status;
  tpti_tokenizer *inside = NULL;
  tpti_run run = tpti_context_run(held, context, NULL, NULL);
  status = work(&held->memory, &run, from, &inside);
  if (!status) status = wrap(held, inside, tokenizer);
  if (!status) return TPT_OK;
  tpti_tokenizer_free(inside);
  tpti_context_release(held);
  return status;
}

static tpt_status make_bytes(const tpti_memory *memory, tpti_run *run, const source *from,
                             tpti_tokenizer **inside) {
  (void)from;
  run->cancel = NULL; /* its work grows with nothing */
  run->progress = NULL;
  return tpti_tokenizer_bytes(memory, run, inside);
}

static tpt_status make_words(const tpti_memory *memory, tpti_run *run, const source *from,
                             tpti_tokenizer **inside) {
  return tpti_tokenizer_words(memory, run, from->text, from->length, from->vocab, inside);
}

static tpt_status make_bpe(const tpti_memory *memory, tpti_run *run, const source *from,
                           tpti_tokenizer **inside) {
  return tpti_tokenizer_bpe(memory, run, from->text, from->length, from->vocab, inside);
}

/* A tokenizer.json as text. A message ends with what the text looks like and where it came from.
 *   not_utf8  the status where that is what is wrong */
static tpt_status parse(const tpti_memory *memory, tpti_run *run, const source *from,
                        tpt_status not_utf8, const char *name, tpti_tokenizer **inside) {
  size_t wrong = tpti_utf8_valid(from->text, from->length);
  tpt_status status = wrong < from->length
                          ? tpti_fail(not_utf8, "byte %zu is not UTF-8", wrong)
                          : tpti_tokenizer_parse(memory, run, from->text, from->length, inside);
  if (status == TPT_OK || status == TPT_E_MEMORY || status == TPT_E_CANCELLED) return status;
  tpti_fail_looks(status, TPTI_WANT_TOKENIZER, from->text, from->length);
  return tpti_fail_in(status, name);
}

static tpt_status make_parsed(const tpti_memory *memory, tpti_run *run, const source *from,
                              tpti_tokenizer **inside) {
  return parse(memory, run, from, TPT_E_ARGUMENT, "the text given", inside);
}

static tpt_status make_loaded(const tpti_memory *memory, tpti_run *run, const source *from,
                              tpti_tokenizer **inside) {
  tpti_buffer text;
  tpti_buffer_init(&text, memory);
  tpt_status status = tpti_file_slurp(from->text, TPTI_TOKENIZER_FILE, TPTI_WANT_TOKENIZER, &text);
  const source whole = {.text = text.used ? text.data : "", .length = text.used};
  if (!status) status = parse(memory, run, &whole, TPT_E_FORMAT, from->text, inside);
  tpti_buffer_free(&text);
  return status;
}

/* ---- asking one ---- */

static tpti_run run_of(const tpt_tokenizer *tokenizer) {
  return tpti_context_run(tokenizer->context, tokenizer, NULL, NULL);
}

static tpt_status text_result(const tpti_buffer *from, char *text, size_t capacity,
                              size_t *length) {
  tpti_text_result(from->used ? from->data : "", from->used, text, capacity, length);
  return TPT_OK;
}

static tpt_status save(const tpt_tokenizer *tokenizer, const char *path) {
  TPTI_NEED(path);
  tpti_run run = run_of(tokenizer);
  tpti_writer *writer = NULL;
  tpti_buffer json;
  tpti_buffer_init(&json, &tokenizer->context->memory);
  tpt_status status = tpti_tokenizer_format(tokenizer->inside, &run, &json);
  if (!status) status = tpti_writer_open(path, &tokenizer->context->memory, &writer);
  if (!status) status = tpti_writer_append(writer, json.data, json.used);
  if (status)
    tpti_writer_abandon(writer);
  else
    status = tpti_writer_commit(writer);
  tpti_buffer_free(&json);
  return status;
}

static tpt_status format(const tpt_tokenizer *tokenizer, char *text, size_t capacity,
                         size_t *length) {
  TPTI_NEED(length);
  if (capacity > 0) TPTI_NEED(text);
  tpti_run run = run_of(tokenizer);
  tpti_buffer json;
  tpti_buffer_init(&json, &tokenizer->context->memory);
  tpt_status status = tpti_tokenizer_format(tokenizer->inside, &run, &json);
  if (!status) status = text_result(&json, text, capacity, length);
  tpti_buffer_free(&json);
  return status;
}

static tpt_status vocab_size(const tpt_tokenizer *tokenizer, size_t *count) {
  TPTI_NEED(count);
  *count = tpti_tokenizer_size(tokenizer->inside);
  return TPT_OK;
}

typedef struct encoding {
  const char *text;
  size_t length;
  bool without_special;
} encoding;

static tpt_status encode(const tpt_tokenizer *tokenizer, encoding what, int32_t *ids,
                         size_t capacity, size_t *count) {
  TPTI_NEED(count);
  if (what.length > 0 && !what.text) return tpti_fail(TPT_E_ARGUMENT, "text is NULL");
  if (capacity > 0) TPTI_NEED(ids);
  tpti_run run = run_of(tokenizer);
  tpti_ids out = {.ids = ids, .capacity = capacity};
  tpt_status status = tpti_tokenizer_encode(tokenizer->inside, &run, what.length ? what.text : "",
                                            what.length, what.without_special, &out);
  if (!status) *count = out.count;
  return status;
}

/* done NULL: all of the text. */
typedef struct decoding {
  const int32_t *ids;
  size_t count;
  const size_t *done;
} decoding;

static tpt_status decode(const tpt_tokenizer *tokenizer, decoding what, char *text, size_t capacity,
                         size_t *length) {
  TPTI_NEED(length);
  if (what.count > 0 && !what.ids) return tpti_fail(TPT_E_ARGUMENT, "ids is NULL");
  if (capacity > 0) TPTI_NEED(text);
  tpti_run run = run_of(tokenizer);
  tpti_buffer out;
  tpti_buffer_init(&out, &tokenizer->context->memory);
  tpt_status status =
      what.done ? tpti_tokenizer_decode_tail(tokenizer->inside, &run, what.ids, what.count,
                                             *what.done, &out)
                : tpti_tokenizer_decode(tokenizer->inside, &run, what.ids, what.count, &out);
  if (!status) status = text_result(&out, text, capacity, length);
  tpti_buffer_free(&out);
  return status;
}

static tpt_status id_of(const tpt_tokenizer *tokenizer, const char *token, int32_t *id) {
  TPTI_NEED(token);
  TPTI_NEED(id);
  uint32_t found;
  if (!tpti_tokenizer_find(tokenizer->inside, token, strlen(token), &found))
    return tpti_fail(TPT_E_ARGUMENT, "\"%.*s\" is not a token of this tokenizer",
                     tpti_shown(token, 200), token);
  *id = (int32_t)found;
  return TPT_OK;
}

static tpt_status token_of(const tpt_tokenizer *tokenizer, int32_t id, char *text, size_t capacity,
                           size_t *length) {
  TPTI_NEED(length);
  if (capacity > 0) TPTI_NEED(text);
  size_t size = tpti_tokenizer_size(tokenizer->inside), bytes = 0;
  if (id < 0 || (size_t)id >= size) return tpti_fail_token_id("id", id, size);
  const char *token = tpti_tokenizer_text(tokenizer->inside, (uint32_t)id, &bytes);
  if (!token) return tpti_fail(TPT_E_ARGUMENT, "id %d is a gap: no token has it", id);
  tpti_text_result(token, bytes, text, capacity, length);
  return TPT_OK;
}

/* ---- the interface ---- */

tpt_status tpt_tokenizer_bytes(tpt_context *context, tpt_tokenizer **tokenizer) {
  const source from = {0};
  return TPTI_MAKE_IN(context, tokenizer, make(context, make_bytes, &from, NULL, tokenizer));
}

/* An empty text may be NULL. */
static source text_source(const char *text, size_t length, size_t vocab) {
  return (source){.text = text || length ? text : "", .length = length, .vocab = vocab};
}

tpt_status tpt_tokenizer_words(tpt_context *context, const char *text, size_t length, size_t vocab,
                               tpt_tokenizer **tokenizer) {
  const source from = text_source(text, length, vocab);
  return TPTI_MAKE_IN(context, tokenizer, make(context, make_words, &from, "text", tokenizer));
}

tpt_status tpt_tokenizer_bpe(tpt_context *context, const char *text, size_t length, size_t vocab,
                             tpt_tokenizer **tokenizer) {
  const source from = text_source(text, length, vocab);
  return TPTI_MAKE_IN(context, tokenizer, make(context, make_bpe, &from, "text", tokenizer));
}

tpt_status tpt_tokenizer_load(tpt_context *context, const char *path, tpt_tokenizer **tokenizer) {
  const source from = {.text = path};
  return TPTI_MAKE_IN(context, tokenizer, make(context, make_loaded, &from, "path", tokenizer));
}

tpt_status tpt_tokenizer_parse(tpt_context *context, const char *json, size_t length,
                               tpt_tokenizer **tokenizer) {
  const source from = text_source(json, length, 0);
  return TPTI_MAKE_IN(context, tokenizer, make(context, make_parsed, &from, "json", tokenizer));
}

tpt_status tpt_tokenizer_save(const tpt_tokenizer *tokenizer, const char *path) {
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, save(tokenizer, path));
}

tpt_status tpt_tokenizer_format(const tpt_tokenizer *tokenizer, char *text, size_t capacity,
                                size_t *length) {
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, format(tokenizer, text, capacity, length));
}

tpt_status tpt_tokenizer_vocab_size(const tpt_tokenizer *tokenizer, size_t *count) {
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, vocab_size(tokenizer, count));
}

tpt_status tpt_tokenizer_encode(const tpt_tokenizer *tokenizer, const char *text, size_t length,
                                int32_t *ids, size_t capacity, size_t *count) {
  encoding what = {.text = text, .length = length};
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, encode(tokenizer, what, ids, capacity, count));
}

tpt_status tpt_tokenizer_encode_text(const tpt_tokenizer *tokenizer, const char *text,
                                     size_t length, int32_t *ids, size_t capacity, size_t *count) {
  encoding what = {.text = text, .length = length, .without_special = true};
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, encode(tokenizer, what, ids, capacity, count));
}

tpt_status tpt_tokenizer_decode(const tpt_tokenizer *tokenizer, const int32_t *ids, size_t count,
                                char *text, size_t capacity, size_t *length) {
  decoding what = {.ids = ids, .count = count};
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, decode(tokenizer, what, text, capacity, length));
}

tpt_status tpt_tokenizer_decode_tail(const tpt_tokenizer *tokenizer, const int32_t *ids,
                                     size_t count, size_t done, char *text, size_t capacity,
                                     size_t *length) {
  decoding what = {.ids = ids, .count = count, .done = &done};
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, decode(tokenizer, what, text, capacity, length));
}

tpt_status tpt_tokenizer_id(const tpt_tokenizer *tokenizer, const char *token, int32_t *id) {
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, id_of(tokenizer, token, id));
}

tpt_status tpt_tokenizer_token(const tpt_tokenizer *tokenizer, int32_t id, char *text,
                               size_t capacity, size_t *length) {
  return TPTI_CALL(tokenizer, TPTI_TOKENIZER, token_of(tokenizer, id, text, capacity, length));
}
