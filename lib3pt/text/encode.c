/* Text to ids: added tokens out of the text, the normalizer, added tokens out of what it made, the
 * pre-tokenizer, and the model for every word. */
#include "base/size.h"
#include "base/text.h"
#include "text/tokenizer.h"
#include "text/word_cache.h"

typedef struct encoder {
  const tpti_tokenizer *tokenizer;
  bool without_special;
  tpti_ids *out;
  tpti_cutter cutter;
  tpti_matchers matchers;            /* of the normalizer */
  tpti_buffer copy, normal, scratch; /* of the whole, and of pieces as the normalizer makes them */
  tpti_bpe_work work;
  tpti_word_cache cache;
  const char *text; /* of the scan that runs: outer, then inner */
  const char *inner;
  size_t length, inner_length; /* of the whole; of inner */
  double from, to;             /* what part of the call the outer piece is */
  bool at_start;               /* the outer piece stands at the beginning of the whole */
} encoder;

static tpt_status encode_word(void *user, const char *word, size_t length) {
  encoder *e = user;
  const tpti_tokenizer *t = e->tokenizer;
  uint32_t id;
  if (t->kind == TPTI_MODEL_BPE)
    return tpti_word_cache_encode(&e->cache, &t->bpe, &t->vocab, &e->work, word, length, e->out);
  if (!tpti_vocab_find(&t->vocab, word, length, &id)) {
    if (t->bpe.unknown_id < 0)
      return tpti_fail(TPT_E_ARGUMENT,
                       "the text has the word \"%.*s\", which the vocabulary has not, nor has it "
                       "the unk_token \"%.*s\"",
                       (int)tpti_utf8_cut(word, tpti_least(length, 80)), word,
                       (int)tpti_utf8_cut(t->bpe.unknown.data, tpti_least(t->bpe.unknown.used, 80)),
                       t->bpe.unknown.data);
    id = (uint32_t)t->bpe.unknown_id;
  }
  tpti_ids_put(e->out, id);
  return TPT_OK;
}

static tpt_status take_inner(void *user, const tpti_added_token *token, size_t start, size_t end) {
  encoder *e = user;
  if (!token) {
    double scale = (e->to - e->from) / (double)e->inner_length;
    tpti_run_span(e->cutter.run, e->from + scale * (double)start, e->from + scale * (double)end);
    return tpti_cutter_cut(&e->cutter, e->inner + start, end - start, e->at_start && start == 0);
  }
  tpti_ids_put(e->out, token->id);
  return TPT_OK;
}

static tpt_status take_outer(void *user, const tpti_added_token *token, size_t start, size_t end) {
  encoder *e = user;
  const tpti_added *added = &e->tokenizer->added;
  if (token) {
    tpti_ids_put(e->out, token->id);
    return TPT_OK;
  }
  const char *piece = e->text + start;
  size_t length = end - start;
  e->from = (double)start / (double)e->length;
  e->to = (double)end / (double)e->length;
  tpti_run_span(e->cutter.run, e->from, e->to);
  if (e->tokenizer->normalizer.count) {
    tpt_status status = tpti_steps_normalize(&e->tokenizer->normalizer, &e->matchers, piece, length,
                                             &e->normal, &e->scratch);
    if (status) return status;
    piece = e->normal.data;
    length = e->normal.used;
  }
  e->inner = piece;
  e->inner_length = length;
  e->at_start = start == 0;
  return tpti_added_scan(added, &added->normalized, piece, length, e->without_special,
                         e->cutter.run, take_inner, e);
}

static tpt_status encode_text(encoder *e, tpti_run *run, const char *text, size_t length) {
  const tpti_tokenizer *t = e->tokenizer;
  tpt_status status = tpti_cutter_start(&e->cutter, t, run, encode_word, e);
  if (!status) status = tpti_matchers_create(&t->normalizer, run, &e->matchers);
  if (!status) status = tpti_tick(run);
  if (!status) status = tpti_copy_padded(run, &e->copy, text, length);
  e->text = e->copy.data;
  e->length = length;
  if (!status)
    status = tpti_added_scan(&t->added, &t->added.plain, e->text, length, e->without_special, run,
                             take_outer, e);
  tpti_cutter_end(&e->cutter);
  tpti_matchers_free(&e->matchers);
  return status;
}

static tpt_status encode_bytes(tpti_run *run, const char *text, size_t length, tpti_ids *out) {
  enum { STRIDE = 1 << 20 };
  for (size_t i = 0; i < length; i++) {
    if (i % STRIDE == 0) tpti_advance(run, (double)i / (double)length);
    tpt_status status = i % STRIDE == 0 ? tpti_tick(run) : TPT_OK;
    if (status) return status;
    tpti_ids_put(out, (uint8_t)text[i]);
  }
  return TPT_OK;
}

tpt_status tpti_tokenizer_encode(const tpti_tokenizer *tokenizer, tpti_run *run, const char *text,
                                 size_t length, bool without_special, tpti_ids *out) {
  if (tokenizer->raw_bytes) return encode_bytes(run, text, length, out);
  tpt_status status = tpti_check_utf8(run, text, length);
  if (status) return status;
  encoder e = {.tokenizer = tokenizer, .without_special = without_special, .out = out};
  tpti_buffer_init(&e.copy, tokenizer->memory);
  tpti_buffer_init(&e.normal, tokenizer->memory);
  tpti_buffer_init(&e.scratch, tokenizer->memory);
  tpti_bpe_work_init(&e.work, tokenizer->memory);
  e.work.run = run;
  if (!tpti_word_cache_start(&e.cache, tokenizer->memory, length))
    status = tpti_fail_memory(length);
  if (!status) status = encode_text(&e, run, text, length);
  tpti_word_cache_end(&e.cache);
  tpti_buffer_free(&e.copy);
  tpti_buffer_free(&e.normal);
  tpti_buffer_free(&e.scratch);
  tpti_bpe_work_free(&e.work);
  return status;
}
