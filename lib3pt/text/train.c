/* Tokenizers that are made, not read. Each begins as a small tokenizer.json, so that what is
 * trained and what is saved cannot differ. */
#include "text/train.h"

#include <string.h>

#include "base/text.h"
#include "text/alphabet.h"
#include "text/sort.h"

#define BEGIN "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
#define BYTE_LEVEL(use_regex)                                                                      \
  BEGIN                                                                                            \
  "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"      \
  "\"trim_offsets\":true,\"use_regex\":" use_regex "},\"post_processor\":null,\"decoder\":{"       \
  "\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":"          \
  "true},\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}"
#define WORDS                                                                                      \
  BEGIN "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"post_processor\":null," \
        "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\" \",\"cleanup\":true},\"model\":{"       \
        "\"type\":\"WordLevel\",\"vocab\":{\"<unk>\":0},\"unk_token\":\"<unk>\"}}"

static tpt_status begin(const tpti_memory *memory, tpti_run *run, const char *json,
                        tpti_tokenizer **tokenizer) {
  return tpti_tokenizer_parse(memory, run, json, strlen(json), tokenizer);
}

static tpt_status finish(tpti_tokenizer *made, tpt_status status, tpti_tokenizer **tokenizer) {
  if (!status) status = tpti_tokenizer_seal(made);
  if (status)
    tpti_tokenizer_free(made);
  else
    *tokenizer = made;
  return status;
}

static bool add_character(tpti_vocab *vocab, uint32_t c, uint32_t id) {
  char text[4];
  return tpti_vocab_add(vocab, text, tpti_utf8_write(c, text), id);
}

/* ---- bytes ---- */

tpt_status tpti_tokenizer_bytes(const tpti_memory *memory, tpti_run *run,
                                tpti_tokenizer **tokenizer) {
  tpti_tokenizer *made = NULL;
  tpt_status status = begin(memory, run, BYTE_LEVEL("false"), &made);
  for (uint32_t i = 0; i < TPTI_BYTES && !status; i++)
    if (!add_character(&made->vocab, tpti_alphabet_char((uint8_t)i), i))
      status = tpti_fail_memory(made->vocab.text.used);
  return finish(made, status, tokenizer);
}

/* ---- counting ---- */

typedef struct counting {
  tpti_counts *counts;
  tpti_run *run;
} counting;

static tpt_status count_word(void *user, const char *word, size_t length) {
  enum { LONG = 1 << 20 };
  counting *c = user;
  size_t index;
  if (!tpti_counts_add(c->counts, word, length, &index)) return tpti_fail_memory(length);
  return length < LONG ? TPT_OK : tpti_tick(c->run);
}

tpt_status tpti_count_words(const tpti_tokenizer *tokenizer, tpti_run *run, const char *text,
                            size_t length, tpti_counts *counts) {
  counting c = {.counts = counts, .run = run};
  tpti_cutter cutter;
  tpti_buffer copy;
  tpti_buffer_init(&copy, tokenizer->memory);
  tpt_status status = tpti_cutter_start(&cutter, tokenizer, run, count_word, &c);
  if (!status) status = tpti_copy_padded(run, &copy, text, length);
  if (!status) status = tpti_cutter_cut(&cutter, copy.data, length, true);
  tpti_buffer_free(&copy);
  tpti_cutter_end(&cutter);
  return status;
}

/* ---- words ---- */

typedef struct ranked {
  uint64_t seen;
  size_t index;
} ranked;

static int by_rank(const void *a, const void *b) {
  const ranked *one = a, *two = b;
  if (one->seen != two->seen) return one->seen > two->seen ? -1 : 1;
  return one->index < two->index ? -1 : 1;
}

static tpt_status take_commonest(tpti_tokenizer *t, tpti_run *run, const tpti_counts *counts,
                                 size_t vocab) {
  tpti_buffer order;
  tpti_buffer_init(&order, t->memory);
  for (size_t i = 0; i < counts->count && tpti_tick_some(run, i); i++) {
    size_t length;
    const char *text = tpti_counts_text(counts, i, &length);
    ranked one = {.seen = tpti_counts_at(counts, i)->seen, .index = i};
    /* A key of JSON that jansson reads has no NUL: such a word stays unknown. */
    if (!memchr(text, 0, length)) tpti_buffer_append(&order, &one, sizeof one);
  }
  ranked *all = (ranked *)(void *)order.data;
  size_t known = order.used / sizeof *all;
  tpt_status status = tpti_tick(run);
  tpti_items items = {.at = all, .count = known, .size = sizeof *all};
  if (!status) status = tpti_sort(t->memory, run, items, by_rank);
  bool fine = !order.failed && !status;
  for (size_t i = 0; i < known && i + 1 < vocab && fine; i++) {
    size_t length;
    const char *text = tpti_counts_text(counts, all[i].index, &length);
    fine = tpti_vocab_add(&t->vocab, text, length, (uint32_t)i + 1);
  }
  tpti_buffer_free(&order);
  if (status) return status;
  return fine ? TPT_OK : tpti_fail_memory(counts->entries.used);
}

tpt_status tpti_tokenizer_words(const tpti_memory *memory, tpti_run *run, const char *text,
                                size_t length, size_t vocab, tpti_tokenizer **tokenizer) {
  tpti_tokenizer *made = NULL;
  tpti_counts counts;
  if (vocab < 1 || vocab > TPTI_MAX_ID)
    return tpti_fail(TPT_E_ARGUMENT, "vocab is %zu; allowed: 1 to %d", vocab, TPTI_MAX_ID);
  tpt_status status = tpti_check_utf8(run, text, length);
  if (!status) status = begin(memory, run, WORDS, &made);
  if (status) return status;
  tpti_counts_init(&counts, memory);
  counts.run = run;
  tpti_run_span(run, 0, 0.9); /* the rest is sorting */
  status = tpti_count_words(made, run, text, length, &counts);
  tpti_advance(run, 1);
  if (!status) status = take_commonest(made, run, &counts, vocab);
  tpti_counts_free(&counts);
  return finish(made, status, tokenizer);
}

/* ---- byte-level BPE ---- */

/* Ids in the order of the characters, as the package's trainer gives them. */
static tpt_status add_alphabet(tpti_tokenizer *t) {
  uint32_t id = 0;
  for (uint32_t c = 0; c < TPTI_ALPHABET_END; c++)
    if (tpti_alphabet_byte(c) >= 0 && !add_character(&t->vocab, c, id++))
      return tpti_fail_memory(t->vocab.text.used);
  return tpti_tokenizer_seal(t);
}

tpt_status tpti_tokenizer_bpe(const tpti_memory *memory, tpti_run *run, const char *text,
                              size_t length, size_t vocab, tpti_tokenizer **tokenizer) {
  tpti_tokenizer *made = NULL;
  tpti_counts counts;
  if (vocab < TPTI_BYTES || vocab > TPTI_MAX_ID)
    return tpti_fail(TPT_E_ARGUMENT, "vocab is %zu; allowed: %d to %d", vocab, TPTI_BYTES,
                     TPTI_MAX_ID);
  tpt_status status = tpti_check_utf8(run, text, length);
  if (!status) status = begin(memory, run, BYTE_LEVEL("true"), &made);
  if (status) return status;
  tpti_counts_init(&counts, memory);
  counts.run = run;
  status = add_alphabet(made);
  tpti_run_span(run, 0, TPTI_COUNTED);
  if (!status) status = tpti_count_words(made, run, text, length, &counts);
  if (!status) status = tpti_train_merges(made, run, &counts, vocab);
  tpti_counts_free(&counts);
  return finish(made, status, tokenizer);
}
