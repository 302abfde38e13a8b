/* One word through a byte-pair model. The word is a list of symbols linked both ways; the pairs
 * that could be merged wait in a heap by (rank, place), so that n characters cost O(n log n). An
 * entry whose pair has changed since it was put in is recognised when it comes out. */
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "text/bpe.h"

static const uint32_t NONE = UINT32_MAX;

typedef struct symbol {
  uint32_t id, previous, next;
  uint32_t dead;
} symbol;

typedef struct word {
  const tpti_bpe *bpe;
  symbol *symbols;
  uint64_t *heap; /* rank << 32 | place, the smallest first */
  size_t waiting;
  tpti_run *run;
} word;

/* How much of the work is done after each part of it, by guess. */
static const double SPELT = 0.2, HEAPED = 0.3, MERGED = 0.9;

/* Before item `i` of `count` of a part that is this much of the work. */
static bool go_on(tpti_run *run, size_t i, size_t count, double from, double to) {
  if ((i + 1) % TPTI_TICK_ITEMS || !run) return true;
  tpti_advance(run, from + (to - from) * (double)i / (double)count);
  return tpti_run_tick(run);
}

/* ---- characters to symbols ---- */

typedef struct speller {
  const tpti_bpe *bpe;
  const tpti_vocab *vocab;
  tpti_bpe_work *work;
  bool unknown; /* one is waiting to be put: the package puts it before the next known character */
} speller;

static tpt_status put(speller *s, uint32_t id) {
  size_t index = s->work->symbols.used / sizeof(symbol);
  if (index >= NONE)
    return tpti_fail(TPT_E_UNSUPPORTED, "a word has more than 2^32 - 2 characters");
  uint32_t place = (uint32_t)index;
  symbol one = {.id = id, .previous = place ? place - 1 : NONE, .next = place + 1};
  if (!tpti_buffer_append(&s->work->symbols, &one, sizeof one)) return tpti_fail_memory(sizeof one);
  return TPT_OK;
}

static tpt_status put_waiting(speller *s) {
  if (!s->unknown) return TPT_OK;
  s->unknown = false;
  return put(s, (uint32_t)s->bpe->unknown_id);
}

static tpt_status put_known(speller *s, uint32_t id) {
  tpt_status status = put_waiting(s);
  return status ? status : put(s, id);
}

static bool has_bytes(const tpti_bpe *bpe, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (bpe->bytes[(uint8_t)text[i]] < 0) return false;
  return true;
}

static tpt_status put_unknown(speller *s, const char *text, size_t length) {
  tpt_status status = TPT_OK;
  if (s->bpe->byte_fallback && has_bytes(s->bpe, text, length)) {
    for (size_t i = 0; i < length && !status; i++)
      status = put(s, (uint32_t)s->bpe->bytes[(uint8_t)text[i]]);
    return status;
  }
  if (!s->bpe->has_unknown) return TPT_OK; /* such characters are left out */
  if (s->bpe->unknown_id < 0)
    return tpti_fail(TPT_E_ARGUMENT,
                     "the text has \"%.*s\", which the vocabulary has not, nor has it the "
                     "unk_token \"%.*s\"",
                     (int)tpti_utf8_cut(text, tpti_least(length, 80)), text,
                     (int)tpti_utf8_cut(s->bpe->unknown.data, tpti_least(s->bpe->unknown.used, 80)),
                     s->bpe->unknown.data);
  if (!s->bpe->fuse_unknown) status = put_waiting(s);
  s->unknown = true;
  return status;
}

/* A character with what continuing_subword_prefix and end_of_word_suffix put around it. */
static tpt_status spell_long(speller *s, const char *text, size_t length, bool first, bool last) {
  tpti_buffer *whole = &s->work->text;
  whole->used = 0;
  if (!first) tpti_buffer_append(whole, s->bpe->prefix.data, s->bpe->prefix.used);
  tpti_buffer_append(whole, text, length);
  if (last) tpti_buffer_append(whole, s->bpe->suffix.data, s->bpe->suffix.used);
  if (whole->failed) return tpti_fail_memory(length);
  uint32_t id;
  if (tpti_vocab_find(s->vocab, whole->data, whole->used, &id)) return put_known(s, id);
  return put_unknown(s, whole->data, whole->used);
}

static tpt_status spell_one(speller *s, const char *text, size_t length, uint32_t c) {
  uint32_t id;
  if (c < TPTI_CHARS && s->bpe->chars[c] >= 0) return put_known(s, (uint32_t)s->bpe->chars[c]);
  if (c >= TPTI_CHARS && tpti_vocab_find(s->vocab, text, length, &id)) return put_known(s, id);
  return put_unknown(s, text, length);
}

static tpt_status spell(speller *s, const char *text, size_t length) {
  bool plain = s->bpe->prefix.used == 0 && s->bpe->suffix.used == 0;
  tpt_status status = TPT_OK;
  size_t room, seen = 0;
  /* Enough but for what byte fallback makes of prefixes and suffixes. */
  if (!tpti_mul(&room, length, sizeof(symbol)) || !tpti_buffer_reserve(&s->work->symbols, room))
    return tpti_fail_memory(length);
  for (size_t i = 0, step; i < length && !status; i += step) {
    uint32_t c;
    if (!go_on(s->work->run, seen++, length, 0, SPELT)) return tpti_tick(s->work->run);
    step = tpti_utf8_read(text + i, &c);
    status = plain ? spell_one(s, text + i, step, c)
                   : spell_long(s, text + i, step, i == 0, i + step == length);
  }
  return status ? status : put_waiting(s);
}

/* ---- the heap ---- */

static void sift_down(uint64_t *heap, size_t count, size_t at) {
  uint64_t moving = heap[at];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= moving) break;
    heap[at] = heap[child];
  }
  heap[at] = moving;
}

static void push(word *w, uint64_t entry) {
  size_t at = w->waiting++;
  for (; at > 0 && w->heap[(at - 1) / 2] > entry; at = (at - 1) / 2)
    w->heap[at] = w->heap[(at - 1) / 2];
  w->heap[at] = entry;
}

static uint64_t pop(word *w) {
  uint64_t top = w->heap[0];
  w->heap[0] = w->heap[--w->waiting];
  if (w->waiting) sift_down(w->heap, w->waiting, 0);
  return top;
}

/* ---- merging ---- */

static uint64_t entry_of(const word *w, const tpti_merge *merge, uint32_t place) {
  return (uint64_t)(merge - tpti_bpe_at(w->bpe, 0)) << 32 | place;
}

static void offer(word *w, uint32_t place) {
  const symbol *left = w->symbols + place;
  const tpti_merge *merge = tpti_bpe_find(w->bpe, left->id, w->symbols[left->next].id);
  if (merge) push(w, entry_of(w, merge, place));
}

static void merge_at(word *w, uint32_t place, uint32_t id) {
  symbol *left = w->symbols + place, *right = w->symbols + left->next;
  right->dead = 1;
  left->id = id;
  left->next = right->next;
  if (left->next != NONE) w->symbols[left->next].previous = place;
  if (left->previous != NONE) offer(w, left->previous);
  if (left->next != NONE) offer(w, place);
}

static bool fill_heap(word *w, size_t count) {
  for (uint32_t i = 0; i + 1 < count; i++) {
    if (!go_on(w->run, i, count, SPELT, HEAPED)) return false;
    const tpti_merge *merge = tpti_bpe_find(w->bpe, w->symbols[i].id, w->symbols[i + 1].id);
    if (merge) w->heap[w->waiting++] = entry_of(w, merge, i);
  }
  for (size_t i = w->waiting / 2; i-- > 0;) {
    if (!tpti_tick_some(w->run, i)) return false;
    sift_down(w->heap, w->waiting, i);
  }
  return true;
}

static tpt_status merge_all(word *w, size_t count) {
  if (!fill_heap(w, count)) return tpti_tick(w->run);
  for (size_t popped = 0; w->waiting; popped++) {
    if (!go_on(w->run, popped, popped + w->waiting, HEAPED, MERGED)) return tpti_tick(w->run);
    uint64_t entry = pop(w);
    const tpti_merge *merge = tpti_bpe_at(w->bpe, (size_t)(entry >> 32));
    const symbol *left = w->symbols + (uint32_t)entry;
    bool stands = !left->dead && left->next != NONE && left->id == merge->left &&
                  w->symbols[left->next].id == merge->right;
    if (stands) merge_at(w, (uint32_t)entry, merge->id);
  }
  return TPT_OK;
}

static tpt_status put_out(const word *w, size_t count, tpti_ids *out) {
  size_t made = 0;
  for (uint32_t i = 0; i != NONE; i = w->symbols[i].next) {
    if (!go_on(w->run, made++, count, MERGED, 1)) return tpti_tick(w->run);
    tpti_ids_put(out, w->symbols[i].id);
  }
  return TPT_OK;
}

tpt_status tpti_bpe_encode(const tpti_bpe *bpe, const tpti_vocab *vocab, tpti_bpe_work *work,
                           const char *text, size_t length, tpti_ids *out) {
  uint32_t id;
  if (bpe->ignore_merges && tpti_vocab_find(vocab, text, length, &id)) {
    tpti_ids_put(out, id);
    return TPT_OK;
  }
  work->symbols.used = 0;
  speller s = {.bpe = bpe, .vocab = vocab, .work = work};
  tpt_status status = spell(&s, text, length);
  size_t count = work->symbols.used / sizeof(symbol), room;
  if (status || count == 0) return status;
  work->heap.used = 0;
  /* A merge takes one entry out and puts two in at most; there are fewer merges than symbols. */
  if (!tpti_mul(&room, count, 2 * sizeof(uint64_t)) || !tpti_buffer_reserve(&work->heap, room))
    return tpti_fail_memory(room);
  word w = {.bpe = bpe,
            .symbols = (symbol *)(void *)work->symbols.data,
            .heap = (uint64_t *)(void *)work->heap.data,
            .run = work->run};
  w.symbols[count - 1].next = NONE;
  status = merge_all(&w, count);
  return status ? status : put_out(&w, count, out);
}
