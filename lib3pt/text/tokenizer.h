/* A tokenizer: text to ids and back, as one tokenizer.json describes it. Immutable once made. */
#ifndef TPTI_TEXT_TOKENIZER_H
#define TPTI_TEXT_TOKENIZER_H

#include "text/added.h"

typedef enum tpti_model_kind { TPTI_MODEL_BPE, TPTI_MODEL_WORD_LEVEL } tpti_model_kind;

/* The parts of tokenizer.json whose text is kept and written again as it was. */
typedef enum tpti_section {
  TPTI_PART_NORMALIZER,
  TPTI_PART_PRE_TOKENIZER,
  TPTI_PART_POST_PROCESSOR,
  TPTI_PART_DECODER,
  TPTI_SECTIONS
} tpti_section;

typedef struct tpti_tokenizer {
  const tpti_memory *memory;
  tpti_model_kind kind;
  bool raw_bytes; /* one token a byte: takes any bytes and gives them back */
  tpti_vocab vocab;
  tpti_bpe bpe; /* of a WordLevel model only unk_token is used */
  tpti_added added;
  tpti_steps normalizer, pre_tokenizer, decoder;
  tpti_buffer sections[TPTI_SECTIONS]; /* JSON */
} tpti_tokenizer;

/* memory must outlive the tokenizer. Lengths are bytes. run is ticked: TPT_E_CANCELLED. */
tpt_status tpti_tokenizer_bytes(const tpti_memory *memory, tpti_run *run,
                                tpti_tokenizer **tokenizer);
tpt_status tpti_tokenizer_words(const tpti_memory *memory, tpti_run *run, const char *text,
                                size_t length, size_t vocab, tpti_tokenizer **tokenizer);
tpt_status tpti_tokenizer_bpe(const tpti_memory *memory, tpti_run *run, const char *text,
                              size_t length, size_t vocab, tpti_tokenizer **tokenizer);

/* At most TPTI_TOKENIZER_FILE bytes: the largest published ones are half of it. */
enum { TPTI_TOKENIZER_FILE = 64 << 20 };
tpt_status tpti_tokenizer_parse(const tpti_memory *memory, tpti_run *run, const char *json,
                                size_t length, tpti_tokenizer **tokenizer);

/* Appends tokenizer.json. */
tpt_status tpti_tokenizer_format(const tpti_tokenizer *tokenizer, tpti_run *run, tpti_buffer *out);

void tpti_tokenizer_free(tpti_tokenizer *tokenizer); /* NULL is accepted */

/* TPT_E_ARGUMENT: an id that is not below the tokenizer's size; `name` is what the caller calls it.
 */
tpt_status tpti_fail_token_id(const char *name, int32_t id, size_t size);

/* Largest id + 1. */
size_t tpti_tokenizer_size(const tpti_tokenizer *tokenizer);

/* The text of an id, or NULL where it is a gap. */
const char *tpti_tokenizer_text(const tpti_tokenizer *tokenizer, uint32_t id, size_t *length);
bool tpti_tokenizer_find(const tpti_tokenizer *tokenizer, const char *token, size_t length,
                         uint32_t *id);

tpt_status tpti_tokenizer_encode(const tpti_tokenizer *tokenizer, tpti_run *run, const char *text,
                                 size_t length, bool without_special, tpti_ids *out);

/* Appends the text of the ids. */
tpt_status tpti_tokenizer_decode(const tpti_tokenizer *tokenizer, tpti_run *run, const int32_t *ids,
                                 size_t count, tpti_buffer *out);

/* Appends what ids[done, count) add to the text of ids[0, done). */
tpt_status tpti_tokenizer_decode_tail(const tpti_tokenizer *tokenizer, tpti_run *run,
                                      const int32_t *ids, size_t count, size_t done,
                                      tpti_buffer *out);

/* ---- between the files of this folder ---- */

/* TPT_E_ARGUMENT with the first bad byte. */
tpt_status tpti_check_utf8(tpti_run *run, const char *text, size_t length);

/* Indexes everything after tokens and merges were added. */
tpt_status tpti_tokenizer_seal(tpti_tokenizer *tokenizer);

/* The pieces of one text after the pre-tokenizer, not empty. */
typedef tpt_status (*tpti_word_fn)(void *user, const char *word, size_t length);

/* What one call needs to cut texts into words; start it, cut any number, end it. */
typedef struct tpti_cutter {
  const tpti_tokenizer *tokenizer;
  tpti_matchers matchers;
  tpti_buffer scratch[TPTI_MAX_STEPS];
  tpti_word_fn word;
  void *user;
  tpti_run *run;
  size_t seen; /* bytes of words since the last tick */
} tpti_cutter;

tpt_status tpti_cutter_start(tpti_cutter *cutter, const tpti_tokenizer *tokenizer, tpti_run *run,
                             tpti_word_fn word, void *user);
/* at_start: the text stands at the beginning of the whole. */
tpt_status tpti_cutter_cut(tpti_cutter *cutter, const char *text, size_t length, bool at_start);
void tpti_cutter_end(tpti_cutter *cutter);

#endif
