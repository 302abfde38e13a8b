/* Looking for added tokens: leftmost, then longest, without overlap. A match that its flags refuse
 * is passed over as a whole, as the Python package does. */
#include "base/text.h"
#include "text/added.h"
#include "text/trie.h"

typedef struct scan {
  const tpti_added *added;
  const char *text;
  size_t length, done; /* done: where the last piece ended */
  bool without_special;
  tpti_run *run;
  size_t seen; /* characters looked at */
  tpti_matcher *word;
  tpti_added_fn piece;
  void *user;
} scan;

static size_t character_before(const char *text, size_t at, uint32_t *c) {
  do at--;
  while (((uint8_t)text[at] & 0xc0) == 0x80);
  tpti_utf8_read(text + at, c);
  return at;
}

static tpt_status is_word(scan *s, size_t at, bool *word) {
  size_t start, end;
  return tpti_matcher_find(s->word, s->text + at, s->length - at, 0, word, &start, &end);
}

/* Is there a word character right before start or right after end? */
static tpt_status touches_word(scan *s, size_t start, size_t end, bool *touches) {
  uint32_t c;
  tpt_status status = TPT_OK;
  *touches = false;
  if (start > 0) status = is_word(s, character_before(s->text, start, &c), touches);
  if (!status && !*touches && end < s->length) status = is_word(s, end, touches);
  return status;
}

static size_t strip_left(scan *s, size_t start) {
  uint32_t c;
  size_t floor = start < s->done ? start : s->done;
  while (start > floor && tpti_tick_some(s->run, s->seen++)) {
    size_t before = character_before(s->text, start, &c);
    if (!tpti_is_space(c)) break;
    start = before;
  }
  return start > s->done ? start : s->done;
}

static size_t strip_right(scan *s, size_t end) {
  uint32_t c;
  while (end < s->length && tpti_tick_some(s->run, s->seen++)) {
    size_t bytes = tpti_utf8_read(s->text + end, &c);
    if (!tpti_is_space(c)) break;
    end += bytes;
  }
  return end;
}

static tpt_status take(scan *s, const tpti_added_token *token, size_t start, size_t end) {
  bool refused = token->special && s->without_special;
  tpt_status status = TPT_OK;
  if (!refused && token->single_word) status = touches_word(s, start, end, &refused);
  if (status || refused) return status;
  if (token->left) start = strip_left(s, start);
  if (token->right) end = strip_right(s, end);
  if (s->done < start) status = s->piece(s->user, NULL, s->done, start);
  s->done = end;
  /* White space that the token before has taken may have been all of this one. */
  return status || start >= end ? status : s->piece(s->user, token, start, end);
}

static tpt_status scan_all(scan *s, const tpti_trie *trie) {
  tpt_status status = TPT_OK;
  for (size_t at = 0; at < s->length && !status;) {
    if (!tpti_tick_some(s->run, s->seen++)) return tpti_tick(s->run);
    uint32_t index = 0;
    size_t found = tpti_trie_longest(trie, s->text + at, s->length - at, &index);
    if (found) status = take(s, tpti_added_at(s->added, index), at, at + found);
    at += found ? found : 1;
  }
  if (!status && s->done < s->length) status = s->piece(s->user, NULL, s->done, s->length);
  return status;
}

tpt_status tpti_added_scan(const tpti_added *added, const tpti_trie *trie, const char *text,
                           size_t length, bool without_special, tpti_run *run, tpti_added_fn piece,
                           void *user) {
  if (trie->nodes.used == 0) return length ? piece(user, NULL, 0, length) : TPT_OK;
  scan s = {.added = added,
            .text = text,
            .length = length,
            .without_special = without_special,
            .run = run,
            .piece = piece,
            .user = user};
  tpt_status status = added->word ? tpti_matcher_create(added->word, &s.word) : TPT_OK;
  if (!status && s.word) tpti_matcher_watch(s.word, run);
  if (!status) status = scan_all(&s, trie);
  tpti_matcher_free(s.word);
  return status;
}
