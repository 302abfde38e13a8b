#include "words.h"

#include <math.h>

enum { TOKEN_MOST = 256 }; /* bytes of a token's text that are compared */

/* The text of a token as it is after the mark: some tokenizers drop a space where a text begins. A
 * part of a character has none. */
static size_t token_text(const tpt_tokenizer *tokenizer, int32_t mark, int32_t id, char *text) {
  int32_t ids[] = {mark, id};
  size_t length;
  must(tpt_tokenizer_decode_tail(tokenizer, ids, 2, 1, text, TOKEN_MOST, &length));
  return strlen(text);
}

/* Letters and digits of ASCII, and all that is beyond it: a rule that needs no tables. */
static int goes_on_word(int byte) {
  int letter = byte | 32;
  return byte >= 0x80 || byte == '\'' || (byte >= '0' && byte <= '9') ||
         (letter >= 'a' && letter <= 'z');
}

void words_make(words *w, const tpt_tokenizer *tokenizer, int32_t mark) {
  char text[TOKEN_MOST];
  size_t used = 0;
  must(tpt_tokenizer_vocab_size(tokenizer, &w->count));
  w->begin = must_have(calloc(w->count, sizeof *w->begin));
  w->new_word = must_have(calloc(w->count, 1));
  for (size_t i = 0; i < w->count; i++) {
    size_t length = token_text(tokenizer, mark, (int32_t)i, text);
    w->texts = must_have(realloc(w->texts, used + length + 1));
    memcpy(w->texts + used, text, length + 1);
    w->begin[i] = used;
    w->new_word[i] = length && !goes_on_word((unsigned char)*text);
    used += length + 1;
  }
  w->new_word[mark] = 1;
}

void words_free(words *w) {
  free(w->texts);
  free(w->begin);
  free(w->new_word);
}

/* What a letter costs that was typed and is not in the token: about ln 16, the choices that a
 * letter leaves in English. The token " s" stands for all words that begin so, not for " sta"
 * alone. */
static const double LETTER = 2.8;

/* The token's logit where it agrees, else -infinity. */
static double weigh(const char *token, double logit, const char *typed) {
  if (!*typed) return logit;
  if (!*token) return -INFINITY;
  while (*token && *token == *typed) token++, typed++;
  return *token && *typed ? -INFINITY : logit - LETTER * (double)strlen(typed);
}

choice words_choose(const words *w, const float *logits, const char *typed) {
  choice c = {.id = -1};
  double most = -INFINITY, sum = 0, new_word = 0;
  for (size_t i = 0; i < w->count; i++) {
    double weight = weigh(w->texts + w->begin[i], (double)logits[i], typed);
    if (weight > most) most = weight, c.id = (int32_t)i;
  }
  for (size_t i = 0; c.id >= 0 && i < w->count; i++) {
    double share = exp(weigh(w->texts + w->begin[i], (double)logits[i], typed) - most);
    sum += share;
    if (w->new_word[i]) new_word += share;
  }
  c.share = sum > 0 ? 1 / sum : 0;
  c.new_word = sum > 0 ? new_word / sum : 0;
  return c;
}
