/* The table of added tokens and the trees by which they are looked for. */
#include "text/added.h"

#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "text/pattern.h"
#include "text/trie.h"

void tpti_added_init(tpti_added *added, const tpti_memory *memory) {
  *added = (tpti_added){0};
  tpti_buffer_init(&added->text, memory);
  tpti_buffer_init(&added->tokens, memory);
  tpti_trie_init(&added->plain, memory);
  tpti_trie_init(&added->normalized, memory);
}

void tpti_added_free(tpti_added *added) {
  tpti_buffer_free(&added->text);
  tpti_buffer_free(&added->tokens);
  tpti_buffer_free(&added->plain.nodes);
  tpti_buffer_free(&added->normalized.nodes);
  tpti_regex_free(added->word);
  added->word = NULL;
  added->count = 0;
}

bool tpti_added_add(tpti_added *added, const char *text, tpti_added_token token) {
  token.offset = token.spoken_offset = added->text.used;
  token.spoken_length = token.length;
  if (added->count == 0 || token.id < added->lowest) added->lowest = token.id;
  if (added->count == 0 || token.id > added->highest) added->highest = token.id;
  if (!tpti_buffer_append(&added->text, text, token.length) ||
      !tpti_buffer_append(&added->tokens, &token, sizeof token))
    return false;
  added->count++;
  return true;
}

const tpti_added_token *tpti_added_at(const tpti_added *added, size_t index) {
  return (const tpti_added_token *)(const void *)added->tokens.data + index;
}

const char *tpti_added_text(const tpti_added *added, const tpti_added_token *token) {
  return tpti_buffer_at(&added->text, token->offset);
}

const char *tpti_added_spoken(const tpti_added *added, const tpti_added_token *token) {
  return tpti_buffer_at(&added->text, token->spoken_offset);
}

const tpti_added_token *tpti_added_find(const tpti_added *added, const char *text, size_t length) {
  for (size_t i = 0; i < added->count; i++) {
    const tpti_added_token *token = tpti_added_at(added, i);
    if (token->length == length && memcmp(tpti_added_text(added, token), text, length) == 0)
      return token;
  }
  return NULL;
}

const tpti_added_token *tpti_added_token_of(const tpti_added *added, uint32_t id) {
  if (added->count == 0 || id < added->lowest || id > added->highest) return NULL;
  for (size_t i = added->count; i-- > 0;)
    if (tpti_added_at(added, i)->id == id) return tpti_added_at(added, i);
  return NULL;
}

static tpt_status insert_plain(tpti_added *added, const tpti_added_token *token, uint32_t index) {
  const char *text = tpti_added_text(added, token);
  if (!tpti_trie_insert(&added->plain, text, token->length, index))
    return tpti_fail_memory(token->length);
  return TPT_OK;
}

typedef struct sealing {
  tpti_added *added;
  const tpti_steps *normalizer;
  tpti_matchers matchers;
  tpti_buffer text, scratch;
} sealing;

static tpt_status insert_normalized(sealing *s, tpti_added_token *token, uint32_t index) {
  const char *text = tpti_added_text(s->added, token);
  tpt_status status =
      tpti_steps_normalize(s->normalizer, &s->matchers, text, token->length, &s->text, &s->scratch);
  if (status) return status;
  if (s->text.used == 0)
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "added_tokens: nothing is left of \"%.*s\" after the normalizer",
                     (int)tpti_utf8_cut(text, tpti_least(token->length, 80)), text);
  token->spoken_offset = s->added->text.used;
  token->spoken_length = s->text.used;
  if (!tpti_buffer_append(&s->added->text, s->text.data, s->text.used) ||
      !tpti_trie_insert(&s->added->normalized, s->text.data, s->text.used, index))
    return tpti_fail_memory(s->text.used);
  return TPT_OK;
}

/* Of two that are equal after the normalizer the first holds, special ones before others. */
static tpt_status insert_all(sealing *s) {
  tpt_status status = TPT_OK;
  for (int special = 1; special >= 0; special--)
    for (uint32_t i = 0; i < s->added->count && !status; i++) {
      tpti_added_token *token = (tpti_added_token *)(void *)s->added->tokens.data + i;
      if (token->special != special) continue;
      status =
          token->normalized ? insert_normalized(s, token, i) : insert_plain(s->added, token, i);
    }
  return status;
}

static bool has_single_word(const tpti_added *added) {
  for (size_t i = 0; i < added->count; i++)
    if (tpti_added_at(added, i)->single_word) return true;
  return false;
}

tpt_status tpti_added_seal(tpti_added *added, const tpti_steps *normalizer) {
  static const char word[] = "\\A[" TPTI_WORD "]";
  const tpti_memory *memory = added->text.memory;
  sealing s = {.added = added, .normalizer = normalizer};
  tpt_status status = tpti_matchers_create(normalizer, NULL, &s.matchers);
  if (status) return status;
  tpti_buffer_init(&s.text, memory);
  tpti_buffer_init(&s.scratch, memory);
  status = insert_all(&s);
  if (!status && has_single_word(added))
    status = tpti_regex_compile(memory, word, sizeof word - 1, &added->word);
  tpti_buffer_free(&s.text);
  tpti_buffer_free(&s.scratch);
  tpti_matchers_free(&s.matchers);
  return status;
}
