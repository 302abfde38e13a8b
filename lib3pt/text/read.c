/* tokenizer.json to a tokenizer. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "text/parts.h"
#include "text/read_model.h"
#include "text/tokenizer.h"
#include "text/write.h"

/* Four times what the largest published vocabularies need; 48 bytes of memory each. */
enum { MAX_VALUES = 1 << 23 };

static const char *const SECTION_NAMES[TPTI_SECTIONS] = {"normalizer", "pre_tokenizer",
                                                         "post_processor", "decoder"};

static tpti_tokenizer *new_tokenizer(const tpti_memory *memory) {
  tpti_tokenizer *t = tpti_take(memory, sizeof *t);
  if (!t) return NULL;
  *t = (tpti_tokenizer){.memory = memory};
  tpti_vocab_init(&t->vocab, memory);
  tpti_bpe_init(&t->bpe, memory);
  tpti_added_init(&t->added, memory);
  for (size_t i = 0; i < TPTI_SECTIONS; i++) tpti_buffer_init(&t->sections[i], memory);
  return t;
}

/* ---- the top level ---- */

static tpt_status check_version(const tpti_part *root) {
  const char *version;
  size_t length;
  tpt_status status = tpti_part_string(root, "version", NULL, &version, &length);
  if (status || strcmp(version, "1.0") == 0) return status;
  return tpti_fail(TPT_E_UNSUPPORTED, "version is \"%.*s\"; supported: 1.0",
                   tpti_shown(version, 20), version);
}

/* JSON of some other kind is no tokenizer.json at all, rather than one with an unknown part. */
static tpt_status need_model(const tpti_part *root) {
  bool object = tpti_json_kind_of(root->node) == TPTI_JSON_OBJECT;
  if (!object || tpti_json_get(root->node, "model")) return TPT_OK;
  return tpti_fail(TPT_E_FORMAT, "this is not a tokenizer.json: it has no model");
}

static tpt_status refuse_set(const tpti_part *root, const char *key) {
  if (tpti_json_kind_of(tpti_json_get(root->node, key)) == TPTI_JSON_NULL) return TPT_OK;
  return tpti_fail(TPT_E_UNSUPPORTED, "%s is not supported; allowed: null", key);
}

static tpt_status keep_sections(tpti_tokenizer *t, const tpti_part *root) {
  for (size_t i = 0; i < TPTI_SECTIONS; i++) {
    const tpti_json *node = tpti_json_get(root->node, SECTION_NAMES[i]);
    tpti_write_json(&t->sections[i], node);
    if (t->sections[i].failed) return tpti_fail_memory(t->sections[i].used);
  }
  return TPT_OK;
}

static tpt_status read_pipelines(tpti_tokenizer *t, const tpti_part *root) {
  tpti_part normalizer = tpti_part_of(tpti_json_get(root->node, "normalizer"), "normalizer");
  tpti_part pre = tpti_part_of(tpti_json_get(root->node, "pre_tokenizer"), "pre_tokenizer");
  tpti_part decoder = tpti_part_of(tpti_json_get(root->node, "decoder"), "decoder");
  tpt_status status = tpti_read_normalizer(t->memory, &normalizer, &t->normalizer);
  bool normalized = t->normalizer.count > 0;
  if (!status) status = tpti_read_pre_tokenizer(t->memory, &pre, normalized, &t->pre_tokenizer);
  return status ? status : tpti_read_decoder(t->memory, &decoder, &t->decoder);
}

/* ---- added tokens ---- */

static tpt_status read_flags(const tpti_part *part, tpti_added_token *token) {
  tpt_status status = tpti_part_bool(part, "single_word", NULL, &token->single_word);
  if (!status) status = tpti_part_bool(part, "lstrip", NULL, &token->left);
  if (!status) status = tpti_part_bool(part, "rstrip", NULL, &token->right);
  if (!status) status = tpti_part_bool(part, "normalized", NULL, &token->normalized);
  return status ? status : tpti_part_bool(part, "special", NULL, &token->special);
}

/* The package gives a token the id it has in the model, else the next free one; what the file says
 * is not looked at. */
static uint32_t id_of_added(const tpti_tokenizer *t, const char *text, size_t length) {
  uint32_t id;
  if (tpti_vocab_find(&t->vocab, text, length, &id)) return id;
  id = (uint32_t)t->vocab.count;
  if (t->added.count && (t->added.highest >= id || id == 0)) id = t->added.highest + 1;
  return id;
}

static tpt_status read_added_token(tpti_tokenizer *t, const tpti_part *part) {
  tpti_added_token token = {0};
  const char *text;
  size_t unused;
  tpt_status status =
      tpti_part_keys(part, "id content single_word lstrip rstrip normalized special");
  if (!status) status = tpti_part_size(part, "id", TPTI_MAX_ID, &unused);
  if (!status) status = tpti_part_string(part, "content", NULL, &text, &token.length);
  if (!status) status = read_flags(part, &token);
  if (status || token.length == 0) return status; /* the package passes an empty one over */
  if (token.length > TPTI_MAX_ADDED_LENGTH)
    return tpti_fail(TPT_E_UNSUPPORTED, "%s.content has %zu bytes; supported: %d", part->path,
                     token.length, TPTI_MAX_ADDED_LENGTH);
  if (tpti_added_find(&t->added, text, token.length))
    return tpti_fail(TPT_E_FORMAT, "%s.content: \"%.*s\" is given twice", part->path,
                     tpti_shown(text, 60), text);
  token.id = id_of_added(t, text, token.length);
  return tpti_added_add(&t->added, text, token) ? TPT_OK : tpti_fail_memory(token.length);
}

static tpt_status read_added(tpti_tokenizer *t, const tpti_part *root) {
  const tpti_json *list = tpti_json_get(root->node, "added_tokens");
  tpt_status status = TPT_OK;
  if (list && tpti_json_kind_of(list) != TPTI_JSON_ARRAY)
    return tpti_fail(TPT_E_FORMAT, "added_tokens: an array is wanted, not %s",
                     tpti_json_kind_name(list));
  if (tpti_json_count(list) > TPTI_MAX_ADDED)
    return tpti_fail(TPT_E_UNSUPPORTED, "added_tokens: %zu; supported: %d", tpti_json_count(list),
                     TPTI_MAX_ADDED);
  const tpti_json *node = tpti_json_first(list);
  for (size_t i = 0; node && !status; node = tpti_json_after(node), i++) {
    tpti_part part = {.node = node};
    snprintf(part.path, sizeof part.path, "added_tokens[%zu]", i);
    status = read_added_token(t, &part);
  }
  return status ? status : tpti_added_seal(&t->added, &t->normalizer);
}

/* ---- all of it ---- */

static tpt_status read_root(tpti_tokenizer *t, tpti_run *run, const tpti_json *node) {
  tpti_part root = tpti_part_of(node, "");
  tpti_part model = {.node = tpti_json_get(node, "model"), .path = "model"};
  tpt_status status = need_model(&root);
  if (!status)
    status = tpti_part_keys(
        &root, "version truncation padding added_tokens normalizer pre_tokenizer post_processor "
               "decoder model");
  if (!status) status = check_version(&root);
  if (!status) status = refuse_set(&root, "truncation");
  if (!status) status = refuse_set(&root, "padding");
  if (!status) status = keep_sections(t, &root);
  if (!status) status = read_pipelines(t, &root);
  if (!status) status = tpti_read_model(t, run, &model);
  if (!status) status = read_added(t, &root);
  return status ? status : tpti_tokenizer_seal(t);
}

tpt_status tpti_tokenizer_parse(const tpti_memory *memory, tpti_run *run, const char *json,
                                size_t length, tpti_tokenizer **tokenizer) {
  const tpti_json_source source = {.text = json, .length = length, .max_values = MAX_VALUES};
  tpti_json *root = NULL;
  if (length > TPTI_TOKENIZER_FILE)
    return tpti_fail(TPT_E_FORMAT, "the text has %zu bytes; at most %d are allowed", length,
                     TPTI_TOKENIZER_FILE);
  tpt_status status = tpti_tick(run);
  if (!status) status = tpti_json_parse(memory, run, &source, &root);
  if (status) return status;
  tpti_tokenizer *made = new_tokenizer(memory);
  status = made ? read_root(made, run, root) : tpti_fail_memory(sizeof *made);
  tpti_json_free(root);
  if (!status) status = tpti_tick(run);
  if (status)
    tpti_tokenizer_free(made);
  else
    *tokenizer = made;
  return status;
}
