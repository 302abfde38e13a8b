/* BPE and WordLevel models. */
#include "text/read_model.h"

#include <string.h>

#include "base/size.h"
#include "base/text.h"

enum { TICK_ENTRIES = 1 << 14, SHOWN = 60 /* bytes of a token in a message */ };

static const bool NO = false;

/* ---- the vocabulary ---- */

static tpt_status read_id(const char *token, const tpti_json *value, uint32_t *id) {
  int64_t number = tpti_json_integer(value);
  if (tpti_json_kind_of(value) != TPTI_JSON_INTEGER || number < 0 || number > TPTI_MAX_ID)
    return tpti_fail(TPT_E_FORMAT, "model.vocab: the id of \"%.*s\" must be 0 to %d",
                     tpti_shown(token, SHOWN), token, TPTI_MAX_ID);
  *id = (uint32_t)number;
  return TPT_OK;
}

static tpt_status read_vocab(tpti_tokenizer *t, tpti_run *run, const tpti_json *vocab) {
  if (tpti_json_kind_of(vocab) != TPTI_JSON_OBJECT)
    return tpti_fail(TPT_E_FORMAT, "model.vocab: an object is wanted, not %s",
                     tpti_json_kind_name(vocab));
  size_t count = 0;
  for (const tpti_json *m = tpti_json_first(vocab); m; m = tpti_json_after(m)) {
    const char *token = tpti_json_key(m);
    uint32_t id = 0;
    tpt_status status = count++ % TICK_ENTRIES == 0 ? tpti_tick(run) : TPT_OK;
    if (!status) status = read_id(token, m, &id);
    if (status) return status;
    if (!tpti_vocab_add(&t->vocab, token, strlen(token), id)) return tpti_fail_memory(count);
  }
  return tpti_vocab_seal(&t->vocab);
}

/* ---- merges ---- */

typedef struct half {
  const char *text;
  size_t length;
} half;

static int shown(half h) { return (int)tpti_utf8_cut(h.text, tpti_least(h.length, SHOWN)); }

static tpt_status bad_merge(size_t index, const char *why) {
  return tpti_fail(TPT_E_FORMAT, "model.merges[%zu]: %s", index, why);
}

/* "a b": exactly one space. */
static bool cut_merge(const tpti_json *node, half *left, half *right) {
  size_t length;
  const char *text = tpti_json_string(node, &length);
  const char *space = memchr(text, ' ', length);
  if (!space || memchr(space + 1, ' ', (size_t)(text + length - space - 1))) return false;
  *left = (half){text, (size_t)(space - text)};
  *right = (half){space + 1, (size_t)(text + length - space - 1)};
  return true;
}

static tpt_status read_halves(size_t index, const tpti_json *node, half *left, half *right) {
  const tpti_json *a = tpti_json_first(node), *b = a ? tpti_json_after(a) : NULL;
  if (tpti_json_kind_of(node) == TPTI_JSON_STRING)
    return cut_merge(node, left, right) ? TPT_OK : bad_merge(index, "one space is wanted");
  bool pair = tpti_json_kind_of(node) == TPTI_JSON_ARRAY && tpti_json_count(node) == 2 &&
              tpti_json_kind_of(a) == TPTI_JSON_STRING && tpti_json_kind_of(b) == TPTI_JSON_STRING;
  if (!pair) return bad_merge(index, "\"a b\" or [\"a\", \"b\"] is wanted");
  left->text = tpti_json_string(a, &left->length);
  right->text = tpti_json_string(b, &right->length);
  return TPT_OK;
}

/* The right half loses as many bytes as continuing_subword_prefix has. */
static bool find_whole(const tpti_tokenizer *t, half left, half right, tpti_buffer *scratch,
                       uint32_t *id) {
  size_t prefix = t->bpe.prefix.used;
  if (right.length < prefix) return false;
  scratch->used = 0;
  tpti_buffer_append(scratch, left.text, left.length);
  tpti_buffer_append(scratch, right.text + prefix, right.length - prefix);
  return !scratch->failed && tpti_vocab_find(&t->vocab, scratch->data, scratch->used, id);
}

static tpt_status read_merge(tpti_tokenizer *t, size_t index, const tpti_json *node,
                             tpti_buffer *scratch) {
  half left, right;
  tpti_merge merge;
  tpt_status status = read_halves(index, node, &left, &right);
  if (status) return status;
  bool known = tpti_vocab_find(&t->vocab, left.text, left.length, &merge.left) &&
               tpti_vocab_find(&t->vocab, right.text, right.length, &merge.right) &&
               find_whole(t, left, right, scratch, &merge.id);
  if (scratch->failed) return tpti_fail_memory(left.length + right.length);
  if (!known)
    return tpti_fail(TPT_E_FORMAT,
                     "model.merges[%zu]: \"%.*s\", \"%.*s\" and what they make must be in "
                     "model.vocab",
                     index, shown(left), left.text, shown(right), right.text);
  return tpti_bpe_add(&t->bpe, merge) ? TPT_OK : tpti_fail_memory(sizeof merge);
}

/* The first line of a merges.txt, which the package passes over. */
static bool is_heading(const tpti_json *node) {
  size_t length;
  if (tpti_json_kind_of(node) != TPTI_JSON_STRING) return false;
  const char *text = tpti_json_string(node, &length);
  return length >= 8 && memcmp(text, "#version", 8) == 0;
}

static tpt_status read_merges(tpti_tokenizer *t, tpti_run *run, const tpti_json *merges) {
  if (tpti_json_kind_of(merges) != TPTI_JSON_ARRAY)
    return tpti_fail(TPT_E_FORMAT, "model.merges: an array is wanted, not %s",
                     tpti_json_kind_name(merges));
  tpti_buffer scratch;
  tpti_buffer_init(&scratch, t->memory);
  tpt_status status = TPT_OK;
  const tpti_json *merge = tpti_json_first(merges);
  for (size_t i = 0; merge && !status; merge = tpti_json_after(merge), i++) {
    if (i % TICK_ENTRIES == 0) status = tpti_tick(run);
    if (!status && !is_heading(merge)) status = read_merge(t, i, merge, &scratch);
  }
  tpti_buffer_free(&scratch);
  return status;
}

/* ---- options ---- */

static tpt_status read_text(const tpti_part *model, const char *key, tpti_buffer *out) {
  const char *text;
  size_t length;
  tpt_status status = tpti_part_string(model, key, "", &text, &length);
  if (!status && !tpti_buffer_append(out, text, length)) status = tpti_fail_memory(length);
  return status;
}

static tpt_status refuse_dropout(const tpti_part *model) {
  const tpti_json *dropout = tpti_json_get(model->node, "dropout");
  tpti_json_kind kind = tpti_json_kind_of(dropout);
  if (kind == TPTI_JSON_NULL) return TPT_OK;
  if (kind != TPTI_JSON_INTEGER && kind != TPTI_JSON_REAL)
    return tpti_fail(TPT_E_FORMAT, "model.dropout: a number or null is wanted");
  if (tpti_json_real(dropout) == 0) return TPT_OK;
  return tpti_fail(TPT_E_UNSUPPORTED, "model.dropout is %g; supported: null, 0",
                   tpti_json_real(dropout));
}

static tpt_status read_options(tpti_tokenizer *t, const tpti_part *model) {
  tpti_bpe *bpe = &t->bpe;
  tpt_status status = refuse_dropout(model);
  if (!status) status = read_text(model, "continuing_subword_prefix", &bpe->prefix);
  if (!status) status = read_text(model, "end_of_word_suffix", &bpe->suffix);
  if (!status) status = tpti_part_bool(model, "fuse_unk", &NO, &bpe->fuse_unknown);
  if (!status) status = tpti_part_bool(model, "byte_fallback", &NO, &bpe->byte_fallback);
  return status ? status : tpti_part_bool(model, "ignore_merges", &NO, &bpe->ignore_merges);
}

static tpt_status read_unknown(tpti_tokenizer *t, const tpti_part *model) {
  const tpti_json *node = tpti_json_get(model->node, "unk_token");
  t->bpe.has_unknown = tpti_json_kind_of(node) != TPTI_JSON_NULL;
  if (t->kind == TPTI_MODEL_WORD_LEVEL && !t->bpe.has_unknown)
    return tpti_fail(TPT_E_FORMAT, "model.unk_token: a string is wanted, not %s",
                     tpti_json_kind_name(node));
  return read_text(model, "unk_token", &t->bpe.unknown);
}

/* Files of the first versions have no "type"; merges tell a BPE. */
static tpt_status read_type(tpti_tokenizer *t, const tpti_part *model) {
  const char *type;
  size_t length;
  const char *absent = tpti_json_get(model->node, "merges") ? "BPE" : NULL;
  tpt_status status = tpti_part_string(model, "type", absent, &type, &length);
  if (status) return status;
  t->kind = strcmp(type, "WordLevel") == 0 ? TPTI_MODEL_WORD_LEVEL : TPTI_MODEL_BPE;
  if (t->kind == TPTI_MODEL_WORD_LEVEL || strcmp(type, "BPE") == 0) return TPT_OK;
  return tpti_fail(TPT_E_UNSUPPORTED,
                   "model: type %.*s is not supported; supported: BPE, WordLevel",
                   tpti_shown(type, SHOWN), type);
}

static tpt_status check_keys(const tpti_tokenizer *t, const tpti_part *model) {
  if (t->kind == TPTI_MODEL_WORD_LEVEL) return tpti_part_keys(model, "type vocab unk_token");
  return tpti_part_keys(model, "type dropout unk_token continuing_subword_prefix "
                               "end_of_word_suffix fuse_unk byte_fallback ignore_merges vocab "
                               "merges");
}

tpt_status tpti_read_model(tpti_tokenizer *t, tpti_run *run, const tpti_part *model) {
  if (tpti_json_kind_of(model->node) != TPTI_JSON_OBJECT)
    return tpti_fail(TPT_E_FORMAT, "model: an object is wanted, not %s",
                     tpti_json_kind_name(model->node));
  tpt_status status = read_type(t, model);
  if (!status) status = check_keys(t, model);
  if (!status) status = read_unknown(t, model);
  if (!status && t->kind == TPTI_MODEL_BPE) status = read_options(t, model);
  if (!status) status = read_vocab(t, run, tpti_json_get(model->node, "vocab"));
  if (!status && t->kind == TPTI_MODEL_BPE)
    status = read_merges(t, run, tpti_json_get(model->node, "merges"));
  return status;
}
