#include "suggest.h"

#include <pthread.h>

#include "edit.h"
#include "words.h"

/* A suggestion is shown up to where it holds with this probability. Below one half: a wrong one
 * costs the typist a glance, a right one saves a word. */
static const double SURE = 0.25;
enum { WORDS_MOST = 2, TOKENS_MOST = 48 };

struct suggester {
  pthread_t thread;
  pthread_mutex_t lock; /* of the questions and answers; held for moments only */
  pthread_cond_t asked;
  char question[LINE_MOST + 1], answer[SUGGESTION_MOST];
  unsigned long question_number, answer_number, taken_number;
  int ending, learned; /* learned: `plain` is newer than `folded` */
  void (*wake)(void);

  pthread_mutex_t weights; /* of `plain`: main never takes it */
  tpt_model *plain;        /* the learner's weights as they were after a line */

  /* The thread's own. The context is another one than the learner's, so that a cancel ends the
   * work for a question that has changed, and no training step. */
  tpt_context *context;
  tpt_model *folded;
  tpt_decoder *decoder;
  const tpt_tokenizer *tokenizer;
  words words;
  int32_t mark, held[LINE_MOST + 2]; /* held: what the decoder was fed */
  size_t room, held_count;
};

/* A line in progress as the model sees it. */
typedef struct continuation {
  int32_t ids[LINE_MOST + TOKENS_MOST + 32];
  size_t count, given; /* tokens; given: those that stand for the text before `typed` */
  const char *typed;   /* the beginning of a word, which the tokens after `given` begin with */
  const char *left;    /* what of it is not covered by tokens yet */
  char text[SUGGESTION_MOST + LINE_MOST]; /* of the tokens after `given` */
} continuation;

/* ---- tokens ---- */

/* Feeds what the decoder has not held yet, at least the last token: its logits are wanted. A line
 * longer than the view is seen from a multiple of half the view on, so that it is fed anew rarely.
 */
static tpt_status feed(suggester *s, const int32_t *ids, size_t count, const float **logits) {
  size_t half = s->room / 2, same = 0;
  if (count > s->room) {
    size_t skipped = (count - s->room + half - 1) / half * half;
    ids += skipped, count -= skipped;
  }
  while (same < count - 1 && same < s->held_count && ids[same] == s->held[same]) same++;
  must(tpt_decoder_rewind(s->decoder, same));
  s->held_count = same;
  tpt_status status = tpt_decoder_feed(s->decoder, ids + same, count - same, logits);
  if (status == TPT_E_CANCELLED) return status;
  must(status);
  memcpy(s->held + same, ids + same, (count - same) * sizeof *ids);
  s->held_count = count;
  return status;
}

/* The mark, and the tokens of the text before `typed`.
 *   returns   UNSUPPORTED: the tokenizer cannot read it */
static tpt_status begin(const suggester *s, continuation *c, const char *text, const char *typed) {
  size_t room = LINE_MOST + 16, length = (size_t)(typed - text);
  c->ids[0] = s->mark;
  tpt_status status =
      tpt_tokenizer_encode_text(s->tokenizer, text, length, c->ids + 1, room, &c->count);
  if (status == TPT_E_ARGUMENT) return TPT_E_UNSUPPORTED;
  must(status);
  c->given = c->count = c->count < room ? c->count + 1 : room;
  c->typed = c->left = typed;
  *c->text = 0;
  return TPT_OK;
}

/* Adds a token. */
static void add(const suggester *s, continuation *c, int32_t id) {
  size_t length = strlen(words_text(&s->words, id)), left = strlen(c->left), bytes;
  c->left += length < left ? length : left;
  c->ids[c->count++] = id;
  must(tpt_tokenizer_decode_tail(s->tokenizer, c->ids, c->count, c->given, c->text, sizeof c->text,
                                 &bytes));
}

/* ---- a suggestion ---- */

/* The beginning of a word is seldom tokens as they come in whole words: the tokens before it are
 * fed, and it is spelled by the likeliest ones that agree with it.
 *   returns   CANCELLED; UNSUPPORTED: there are none */
static tpt_status spell(suggester *s, continuation *c, double *share) {
  const float *logits;
  for (*share = 1; *c->left;) {
    if (feed(s, c->ids, c->count, &logits)) return TPT_E_CANCELLED;
    choice best = words_choose(&s->words, logits, c->left);
    if (best.id < 0 || c->count >= LINE_MOST) return TPT_E_UNSUPPORTED;
    *share *= best.share;
    add(s, c, best.id);
  }
  return memcmp(c->text, c->typed, strlen(c->typed)) ? TPT_E_UNSUPPORTED : TPT_OK;
}

/* Could it have been typed? No controls, nothing that is not UTF-8. */
static int is_plain(const char *text) {
  edit_keys keys = {.have = 0};
  size_t typed = 0;
  for (const char *at = text; *at; at++)
    if (edit_read(&keys, (unsigned char)*at) == KEY_TEXT) typed += strlen(keys.text);
  return typed == strlen(text);
}

/* Goes on while it is likely, and keeps what ends with a word. */
static tpt_status go_on(suggester *s, continuation *c, double share, char *kept) {
  const float *logits;
  size_t typed = strlen(c->typed), end = c->count + TOKENS_MOST;
  for (int found = 0; share >= SURE && found < WORDS_MOST && c->count < end;) {
    if (feed(s, c->ids, c->count, &logits)) return TPT_E_CANCELLED;
    choice best = words_choose(&s->words, logits, "");
    size_t length = strlen(c->text);
    if (length - typed >= SUGGESTION_MOST || !is_plain(c->text + typed)) break;
    if (length > typed && c->text[length - 1] != ' ' && share * best.new_word >= SURE) {
      memcpy(kept, c->text + typed, length - typed + 1);
      found++;
    }
    if (best.id == s->mark) break;
    share *= best.share;
    add(s, c, best.id);
  }
  return TPT_OK;
}

static tpt_status suggest(suggester *s, const char *text, char *kept) {
  static continuation c; /* large; this thread's alone */
  double share;
  *kept = 0;
  const char *space = strrchr(text, ' ');
  tpt_status status = begin(s, &c, text, space ? space : text);
  if (!status) status = spell(s, &c, &share);
  if (status == TPT_E_UNSUPPORTED) {
    share = 1;
    status = begin(s, &c, text, text + strlen(text));
  }
  if (!status) return go_on(s, &c, share, kept);
  return status == TPT_E_UNSUPPORTED ? TPT_OK : status;
}

/* ---- the thread ---- */

static tpt_status take_snapshot(suggester *s) {
  tpt_model *folded;
  pthread_mutex_lock(&s->weights);
  tpt_status status = tpt_model_fold(s->plain, &folded);
  pthread_mutex_unlock(&s->weights);
  if (status == TPT_E_CANCELLED) return status;
  must(status);
  tpt_decoder_destroy(s->decoder);
  tpt_model_destroy(s->folded);
  s->folded = folded;
  must(tpt_decoder_create(folded, s->room, &s->decoder));
  s->held_count = 0;
  return TPT_OK;
}

/* Sleeps until there is something to do; copies the question.
 *   returns   its number; 0: the end */
static unsigned long next(suggester *s, char *question, int *learned) {
  pthread_mutex_lock(&s->lock);
  while (!s->ending && !s->learned && s->question_number == s->answer_number)
    pthread_cond_wait(&s->asked, &s->lock);
  unsigned long number = s->ending ? 0 : s->question_number;
  *learned = s->learned;
  s->learned = 0;
  strcpy(question, s->question);
  must(tpt_context_cancel(s->context, 0)); /* with the lock: no newer question is overlooked */
  pthread_mutex_unlock(&s->lock);
  return number;
}

static void answer(suggester *s, unsigned long number, const char *text) {
  pthread_mutex_lock(&s->lock);
  strcpy(s->answer, text);
  s->answer_number = number;
  s->taken_number = 0;
  pthread_mutex_unlock(&s->lock);
  s->wake();
}

static void *work(void *user) {
  suggester *s = user;
  char question[LINE_MOST + 1], text[SUGGESTION_MOST];
  int learned, stale = 1; /* stale: a snapshot is due, also after one that was cancelled */
  words_make(&s->words, s->tokenizer, s->mark);
  for (unsigned long number; (number = next(s, question, &learned));) {
    stale |= learned;
    if (stale && take_snapshot(s)) continue;
    stale = 0;
    if (suggest(s, question, text) == TPT_OK) answer(s, number, text);
  }
  return NULL;
}

/* ---- the other threads ---- */

static void copy_weights(tpt_model *to, tpt_model *from) {
  float *ours, *theirs;
  size_t count;
  must(tpt_model_parameters(to, &ours, &count));
  must(tpt_model_parameters(from, &theirs, &count));
  memcpy(ours, theirs, count * sizeof *ours);
}

suggester *suggest_start(tpt_model *model, const tpt_tokenizer *tokenizer, int32_t mark,
                         void (*wake)(void)) {
  suggester *s = must_have(calloc(1, sizeof *s));
  char room[32];
  size_t length;
  const tpt_config *config = tpt_model_config(model);
  *s = (suggester){.wake = wake, .tokenizer = tokenizer, .mark = mark, .question_number = 1};
  must(tpt_context_create(&s->context));
  must(tpt_context_set_threads(s->context, 1)); /* the others are the learner's */
  must(tpt_config_get(config, "model.max_seq_len", room, sizeof room, &length));
  s->room = strtoul(room, NULL, 10);
  if (s->room > LINE_MOST) s->room = LINE_MOST;
  must(tpt_model_create(s->context, config, 1, &s->plain));
  copy_weights(s->plain, model);
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->weights, NULL);
  pthread_cond_init(&s->asked, NULL);
  if (pthread_create(&s->thread, NULL, work, s)) leave("the system starts no thread");
  return s;
}

void suggest_end(suggester *s) {
  pthread_mutex_lock(&s->lock);
  s->ending = 1;
  must(tpt_context_cancel(s->context, 1));
  pthread_cond_signal(&s->asked);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  tpt_decoder_destroy(s->decoder);
  tpt_model_destroy(s->folded);
  tpt_model_destroy(s->plain);
  tpt_context_destroy(s->context);
  words_free(&s->words);
  free(s);
}

void suggest_learned(suggester *s, tpt_model *model) {
  pthread_mutex_lock(&s->weights);
  copy_weights(s->plain, model);
  pthread_mutex_unlock(&s->weights);
  pthread_mutex_lock(&s->lock);
  s->learned = 1;
  pthread_cond_signal(&s->asked);
  pthread_mutex_unlock(&s->lock);
}

void suggest_ask(suggester *s, const char *text) {
  pthread_mutex_lock(&s->lock);
  strcpy(s->question, text);
  s->question_number++;
  must(tpt_context_cancel(s->context, 1));
  pthread_cond_signal(&s->asked);
  pthread_mutex_unlock(&s->lock);
}

int suggest_answer(suggester *s, char *text) {
  pthread_mutex_lock(&s->lock);
  int is_new = s->answer_number == s->question_number && s->taken_number != s->answer_number;
  if (is_new) {
    strcpy(text, s->answer);
    s->taken_number = s->answer_number;
  }
  pthread_mutex_unlock(&s->lock);
  return is_new;
}
