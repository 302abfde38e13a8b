/* Training of a byte-pair model. The distinct words stand end to end as linked symbols; merging a
 * pair visits only the places where it stands, so that the whole costs about the number of merges
 * done in the text, and a text that is one long word no more than prose. */
#include <string.h>

#include "base/text.h"
#include "text/pairs.h"
#include "text/sort.h"
#include "text/train.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct symbol {
  uint32_t id, previous, next, word; /* id NONE: merged into the one before */
} symbol;

typedef struct trainer {
  tpti_tokenizer *tokenizer;
  tpti_run *run;
  const tpti_counts *words;
  tpti_buffer symbols, places, text;
  tpti_counts tokens; /* the index of a text is its id */
  tpti_pairs pairs;
  size_t ticks;
} trainer;

static symbol *symbol_at(const trainer *t, uint32_t place) {
  return (symbol *)(void *)t->symbols.data + place;
}

static int64_t times_of(const trainer *t, const symbol *s) {
  return (int64_t)tpti_counts_at(t->words, s->word)->seen;
}

static tpt_status tick(trainer *t) {
  return tpti_tick_some(t->run, t->ticks++) ? TPT_OK : tpti_tick(t->run);
}

/* ---- beginning ---- */

static tpt_status add_word(trainer *t, uint32_t word) {
  size_t length, first = t->symbols.used / sizeof(symbol);
  const char *text = tpti_counts_text(t->words, word, &length);
  for (size_t i = 0; i < length;) {
    uint32_t c, place = (uint32_t)(t->symbols.used / sizeof(symbol));
    i += tpti_utf8_read(text + i, &c);
    symbol s = {.id = (uint32_t)t->tokenizer->bpe.chars[c],
                .previous = place == first ? NONE : place - 1,
                .next = i < length ? place + 1 : NONE,
                .word = word};
    if (!tpti_buffer_append(&t->symbols, &s, sizeof s)) return tpti_fail_memory(length);
    tpt_status status = tick(t);
    if (status) return status;
  }
  return TPT_OK;
}

static tpt_status count_pairs(trainer *t) {
  size_t count = t->symbols.used / sizeof(symbol);
  if (!tpti_pairs_reserve(&t->pairs, count)) return tpti_fail_memory(count);
  for (uint32_t i = 0; i < count; i++) {
    const symbol *s = symbol_at(t, i);
    tpt_status status = tick(t);
    if (status) return status;
    if (s->next == NONE) continue;
    if (!tpti_pairs_add(&t->pairs, s->id, symbol_at(t, s->next)->id, times_of(t, s), i))
      return tpti_fail_memory(t->pairs.nodes.used);
  }
  return tpti_pairs_settle(&t->pairs) ? TPT_OK : tpti_fail_memory(t->pairs.heap.used);
}

static tpt_status add_words(trainer *t) {
  size_t room;
  tpt_status status = TPT_OK;
  /* A character has at least one byte, so this bounds the symbols. */
  if (t->words->text.used >= NONE || t->words->count >= NONE)
    return tpti_fail(TPT_E_UNSUPPORTED, "distinct words of more than 2^32 - 2 bytes together");
  /* Growing by copies would hold two of them. */
  if (!tpti_mul(&room, t->words->text.used, sizeof(symbol)) ||
      !tpti_buffer_reserve(&t->symbols, room))
    return tpti_fail_memory(t->words->text.used);
  for (uint32_t i = 0; i < t->words->count && !status; i++) status = add_word(t, i);
  return status ? status : count_pairs(t);
}

static tpt_status add_tokens(trainer *t) {
  const tpti_vocab *vocab = &t->tokenizer->vocab;
  for (size_t i = 0, index; i < vocab->count; i++) {
    const tpti_token *token = tpti_vocab_at(vocab, i);
    if (!tpti_counts_add(&t->tokens, tpti_vocab_text(vocab, token), token->length, &index))
      return tpti_fail_memory(vocab->text.used);
  }
  return TPT_OK;
}

/* ---- merging ---- */

/* The id of two tokens' texts together, which may be there already. */
static bool join(trainer *t, const tpti_pair *pair, size_t *id) {
  size_t length;
  t->text.used = 0;
  const char *left = tpti_counts_text(&t->tokens, pair->left, &length);
  tpti_buffer_append(&t->text, left, length);
  const char *right = tpti_counts_text(&t->tokens, pair->right, &length);
  tpti_buffer_append(&t->text, right, length);
  return !t->text.failed && tpti_counts_add(&t->tokens, t->text.data, t->text.used, id);
}

/* One more or fewer of a symbol and its neighbour. */
static bool change(trainer *t, uint32_t left, uint32_t right, int64_t times, uint32_t place) {
  return tpti_pairs_add(&t->pairs, left, right, times, place);
}

static bool merge_at(trainer *t, const tpti_pair *pair, uint32_t id, uint32_t place) {
  symbol *left = symbol_at(t, place);
  if (left->id != pair->left || left->next == NONE) return true;
  symbol *right = symbol_at(t, left->next);
  if (right->id != pair->right) return true;
  int64_t times = times_of(t, left);
  uint32_t before = left->previous, after = right->next;
  bool fine = true;
  left->id = id;
  left->next = after;
  right->id = NONE;
  if (before != NONE) {
    uint32_t other = symbol_at(t, before)->id;
    fine =
        change(t, other, pair->left, -times, TPTI_NO_NODE) && change(t, other, id, times, before);
  }
  if (after != NONE && fine) {
    symbol *other = symbol_at(t, after);
    other->previous = place;
    fine = change(t, pair->right, other->id, -times, TPTI_NO_NODE) &&
           change(t, id, other->id, times, place);
  }
  return fine;
}

static int by_place(const void *a, const void *b) {
  uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
  return (one > two) - (one < two);
}

/* From left to right, which decides where three equal symbols stand in a row. */
static tpt_status merge_everywhere(trainer *t, const tpti_pair *pair, uint32_t id) {
  uint32_t *places = (uint32_t *)(void *)t->places.data;
  size_t count = t->places.used / sizeof *places;
  bool sorted = true;
  for (size_t i = 1; i < count && sorted; i++) sorted = places[i - 1] <= places[i];
  tpti_items items = {.at = places, .count = count, .size = sizeof *places};
  tpt_status status = sorted ? TPT_OK : tpti_sort(t->tokenizer->memory, t->run, items, by_place);
  if (status) return status;
  for (size_t i = 0; i < count; i++) {
    status = tick(t);
    if (status) return status;
    if (!merge_at(t, pair, id, places[i])) return tpti_fail_memory(t->pairs.nodes.used);
  }
  tpti_pairs_forget(&t->pairs, pair->left, pair->right);
  return tpti_pairs_settle(&t->pairs) ? TPT_OK : tpti_fail_memory(t->pairs.heap.used);
}

/* One merge; *done: no pair is left. */
static tpt_status merge_next(trainer *t, bool *done) {
  tpti_pair pair;
  size_t id;
  t->places.used = 0;
  *done = !tpti_pairs_pop(&t->pairs, &pair, &t->places);
  if (t->run->stopped) return tpti_tick(t->run);
  if (t->places.failed || t->pairs.heap.failed) return tpti_fail_memory(t->places.used);
  if (*done) return TPT_OK;
  if (!join(t, &pair, &id)) return tpti_fail_memory(t->tokens.text.used);
  tpti_merge merge = {.left = pair.left, .right = pair.right, .id = (uint32_t)id};
  if (!pair.merged && !tpti_bpe_add(&t->tokenizer->bpe, merge))
    return tpti_fail_memory(sizeof merge);
  return merge_everywhere(t, &pair, (uint32_t)id);
}

static tpt_status merge_all(trainer *t, size_t vocab) {
  size_t first = t->tokens.count;
  bool done = false;
  tpt_status status = TPT_OK;
  while (t->tokens.count < vocab && !done && !status) {
    tpti_advance(t->run, (double)(t->tokens.count - first) / (double)(vocab - first));
    status = merge_next(t, &done);
  }
  return status;
}

static tpt_status keep_tokens(trainer *t) {
  tpti_vocab *vocab = &t->tokenizer->vocab;
  for (size_t i = vocab->count, length; i < t->tokens.count; i++) {
    const char *text = tpti_counts_text(&t->tokens, i, &length);
    if (!tpti_vocab_add(vocab, text, length, (uint32_t)i)) return tpti_fail_memory(length);
  }
  return TPT_OK;
}

tpt_status tpti_train_merges(tpti_tokenizer *tokenizer, tpti_run *run, const tpti_counts *words,
                             size_t vocab) {
  const tpti_memory *memory = tokenizer->memory;
  trainer t = {.tokenizer = tokenizer, .run = run, .words = words};
  tpti_buffer_init(&t.symbols, memory);
  tpti_buffer_init(&t.places, memory);
  tpti_buffer_init(&t.text, memory);
  tpti_counts_init(&t.tokens, memory);
  tpti_pairs_init(&t.pairs, memory);
  t.pairs.run = t.tokens.run = run;
  tpti_run_span(run, TPTI_COUNTED, 1);
  tpti_advance(run, 0);
  tpt_status status = add_tokens(&t);
  if (!status) status = add_words(&t);
  if (!status) status = merge_all(&t, vocab);
  if (!status) status = tpti_tick(run); /* where a table's growth was stopped */
  if (!status) status = keep_tokens(&t);
  tpti_buffer_free(&t.symbols);
  tpti_buffer_free(&t.places);
  tpti_buffer_free(&t.text);
  tpti_counts_free(&t.tokens);
  tpti_pairs_free(&t.pairs);
  return status;
}
