/* A tokenizer as tokenizer.json: the same text for the same tokenizer, in the package's order. */
#include "text/write.h"

#include <string.h>

#include "base/text.h"
#include "text/tokenizer.h"

enum { TICK_ENTRIES = 1 << 14 };

static void put(tpti_buffer *out, const char *text) { tpti_buffer_append(out, text, strlen(text)); }

/* ---- values that were read ---- */

static void write_array(tpti_buffer *out, const tpti_json *node) {
  const char *before = "";
  put(out, "[");
  for (const tpti_json *m = tpti_json_first(node); m; m = tpti_json_after(m)) {
    put(out, before);
    tpti_write_json(out, m);
    before = ",";
  }
  put(out, "]");
}

static void write_object(tpti_buffer *out, const tpti_json *node) {
  const char *before = "";
  put(out, "{");
  for (const tpti_json *m = tpti_json_first(node); m; m = tpti_json_after(m)) {
    const char *key = tpti_json_key(m);
    put(out, before);
    tpti_json_write_string(out, key, strlen(key));
    put(out, ":");
    tpti_write_json(out, m);
    before = ",";
  }
  put(out, "}");
}

static void write_real(tpti_buffer *out, double value) {
  char text[TPTI_NUMBER_TEXT];
  size_t length = tpti_format_double(value, text);
  tpti_buffer_append(out, text, length);
  /* An integer's text would be read back as an integer. */
  if (!memchr(text, '.', length) && !memchr(text, 'e', length)) put(out, ".0");
}

void tpti_write_json(tpti_buffer *out, const tpti_json *node) {
  size_t length;
  const char *text;
  switch (tpti_json_kind_of(node)) {
  case TPTI_JSON_NULL:
    put(out, "null");
    break;
  case TPTI_JSON_BOOL:
    put(out, tpti_json_bool(node) ? "true" : "false");
    break;
  case TPTI_JSON_INTEGER:
    tpti_buffer_printf(out, "%lld", (long long)tpti_json_integer(node));
    break;
  case TPTI_JSON_REAL:
    write_real(out, tpti_json_real(node));
    break;
  case TPTI_JSON_STRING:
    text = tpti_json_string(node, &length);
    tpti_json_write_string(out, text, length);
    break;
  case TPTI_JSON_ARRAY:
    write_array(out, node);
    break;
  case TPTI_JSON_OBJECT:
    write_object(out, node);
    break;
  }
}

/* ---- a tokenizer ---- */

static const char *yes_or_no(bool value) { return value ? "true" : "false"; }

static void write_added(tpti_buffer *out, const tpti_tokenizer *t) {
  put(out, "\"added_tokens\":[");
  for (size_t i = 0; i < t->added.count; i++) {
    const tpti_added_token *token = tpti_added_at(&t->added, i);
    tpti_buffer_printf(out, "%s{\"id\":%u,\"content\":", i ? "," : "", token->id);
    tpti_json_write_string(out, tpti_added_text(&t->added, token), token->length);
    tpti_buffer_printf(out,
                       ",\"single_word\":%s,\"lstrip\":%s,\"rstrip\":%s,\"normalized\":%s,"
                       "\"special\":%s}",
                       yes_or_no(token->single_word), yes_or_no(token->left),
                       yes_or_no(token->right), yes_or_no(token->normalized),
                       yes_or_no(token->special));
  }
  put(out, "],");
}

static void write_section(tpti_buffer *out, const char *name, const tpti_buffer *section) {
  tpti_buffer_printf(out, "\"%s\":", name);
  tpti_buffer_append(out, section->data, section->used);
  put(out, ",");
}

static void write_text_or_null(tpti_buffer *out, const char *key, const tpti_buffer *text,
                               bool present) {
  tpti_buffer_printf(out, "\"%s\":", key);
  if (present)
    tpti_json_write_string(out, text->used ? text->data : "", text->used);
  else
    put(out, "null");
  put(out, ",");
}

static void write_options(tpti_buffer *out, const tpti_bpe *bpe) {
  put(out, "\"dropout\":null,");
  write_text_or_null(out, "unk_token", &bpe->unknown, bpe->has_unknown);
  write_text_or_null(out, "continuing_subword_prefix", &bpe->prefix, bpe->prefix.used > 0);
  write_text_or_null(out, "end_of_word_suffix", &bpe->suffix, bpe->suffix.used > 0);
  tpti_buffer_printf(out, "\"fuse_unk\":%s,\"byte_fallback\":%s,\"ignore_merges\":%s,",
                     yes_or_no(bpe->fuse_unknown), yes_or_no(bpe->byte_fallback),
                     yes_or_no(bpe->ignore_merges));
}

static tpt_status write_vocab(tpti_buffer *out, tpti_run *run, const tpti_vocab *vocab) {
  tpt_status status = TPT_OK;
  put(out, "\"vocab\":{");
  for (size_t i = 0; i < vocab->count && !status; i++) {
    const tpti_token *token = tpti_vocab_at(vocab, i);
    if (i % TICK_ENTRIES == 0) status = tpti_tick(run);
    if (i) put(out, ",");
    tpti_json_write_string(out, tpti_vocab_text(vocab, token), token->length);
    tpti_buffer_printf(out, ":%u", token->id);
  }
  put(out, "}");
  return status;
}

static void write_token(tpti_buffer *out, const tpti_vocab *vocab, uint32_t id) {
  const tpti_token *token = tpti_vocab_token(vocab, id);
  tpti_json_write_string(out, tpti_vocab_text(vocab, token), token->length);
}

static tpt_status write_merges(tpti_buffer *out, tpti_run *run, const tpti_tokenizer *t) {
  const char *before = "";
  tpt_status status = TPT_OK;
  put(out, ",\"merges\":[");
  for (size_t i = 0; i < t->bpe.count && !status; i++) {
    const tpti_merge *merge = tpti_bpe_at(&t->bpe, i);
    if (i % TICK_ENTRIES == 0) status = tpti_tick(run);
    if (tpti_bpe_find(&t->bpe, merge->left, merge->right) != merge)
      continue; /* a later one holds */
    put(out, before);
    put(out, "[");
    write_token(out, &t->vocab, merge->left);
    put(out, ",");
    write_token(out, &t->vocab, merge->right);
    put(out, "]");
    before = ",";
  }
  put(out, "]");
  return status;
}

static tpt_status write_model(tpti_buffer *out, tpti_run *run, const tpti_tokenizer *t) {
  bool bpe = t->kind == TPTI_MODEL_BPE;
  tpti_buffer_printf(out, "\"model\":{\"type\":\"%s\",", bpe ? "BPE" : "WordLevel");
  if (bpe) write_options(out, &t->bpe);
  tpt_status status = write_vocab(out, run, &t->vocab);
  if (bpe && !status) status = write_merges(out, run, t);
  if (!bpe) {
    put(out, ",\"unk_token\":");
    tpti_json_write_string(out, t->bpe.unknown.used ? t->bpe.unknown.data : "",
                           t->bpe.unknown.used);
  }
  put(out, "}");
  return status;
}

tpt_status tpti_tokenizer_format(const tpti_tokenizer *t, tpti_run *run, tpti_buffer *out) {
  put(out, "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,");
  write_added(out, t);
  write_section(out, "normalizer", &t->sections[TPTI_PART_NORMALIZER]);
  write_section(out, "pre_tokenizer", &t->sections[TPTI_PART_PRE_TOKENIZER]);
  write_section(out, "post_processor", &t->sections[TPTI_PART_POST_PROCESSOR]);
  write_section(out, "decoder", &t->sections[TPTI_PART_DECODER]);
  tpt_status status = write_model(out, run, t);
  put(out, "}\n");
  if (!status && out->failed) return tpti_fail_memory(out->used);
  return status;
}
