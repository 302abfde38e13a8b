/* Long calls are done in pieces, and progress is called between them: so a call that is to end does
 * so soon. What lies between two calls of the progress function is measured in processor time of
 * the calling thread, on one thread, so that a busy machine changes nothing; the bound is generous,
 * and grows with the call where everything is slow, as under a sanitizer. */
#include "api/session.h"

#include <time.h>

/* A call lasts at least LONG; a piece is at most PIECE, or a PART-th of the call. The library aims
 * at 5 ms between two calls of progress, and some 10 ms until a call has ended. */
enum { MILLISECOND = 1000000, LONG = 60 * MILLISECOND, PIECE = 30 * MILLISECOND, PART = 4 };

enum { WIDE_V = 2000, MOST_SEQ = 512, MOST_BATCH = 8, LEAST_TEXT = 4096, MOST_TEXT = 1 << 20 };
#define WIDE                                                                                       \
  "model.vocab_size=2000; model.d_model=384; model.d_ff=768; model.n_layers=6;"                    \
  "model.max_seq_len=512; train.batch=8"

static int64_t spent(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When progress was called last, and the longest time without it. */
typedef struct gaps {
  int64_t last, longest;
  int calls, stop_at;
} gaps;

static void look(gaps *g) {
  int64_t now = spent();
  if (now - g->last > g->longest) g->longest = now - g->last;
  g->last = now;
}

static int32_t on_progress(void *user, const void *handle, double done) {
  gaps *g = user;
  (void)handle;
  (void)done;
  look(g);
  return ++g->calls == g->stop_at;
}

typedef struct workload {
  session s;
  int32_t tokens[MOST_BATCH * MOST_SEQ + 1];
  tpt_decoder *decoder;
  tpt_dataset *dataset;
  unsigned char *image;
  size_t length, size; /* of the image; how large a call is made: doubled until it is LONG */
  char *text;
} workload;

static double loss;
static double scores[MOST_SEQ];

static tpt_status accumulate(workload *w) {
  ok(tpt_trainer_zero_gradients(w->s.trainer));
  return tpt_trainer_accumulate(w->s.trainer, w->tokens, w->tokens + 1, w->size, MOST_SEQ, &loss);
}

static tpt_status forward(workload *w) {
  return tpt_trainer_forward(w->s.trainer, w->tokens, w->size, MOST_SEQ);
}

static tpt_status feed(workload *w) {
  ok(tpt_decoder_rewind(w->decoder, 0));
  return tpt_decoder_feed(w->decoder, w->tokens, MOST_SEQ, NULL);
}

static tpt_status score(workload *w) {
  ok(tpt_decoder_rewind(w->decoder, 0));
  return tpt_decoder_score(w->decoder, w->tokens, MOST_SEQ, scores);
}

static tpt_status evaluate(workload *w) {
  tpt_evaluation result = {.size = sizeof result};
  return tpt_evaluate(w->s.model, NULL, w->dataset, MOST_SEQ, w->size, &result);
}

static tpt_status words(workload *w) {
  tpt_tokenizer *tokenizer = NULL;
  tpt_status status =
      tpt_tokenizer_bpe(w->s.context, w->text, w->size * LEAST_TEXT, 400, &tokenizer);
  tpt_tokenizer_destroy(tokenizer);
  return status;
}

static tpt_status make(workload *w) {
  tpt_model *made = NULL;
  tpt_status status = tpt_model_create(w->s.context, w->s.config, 3, &made);
  tpt_model_destroy(made);
  return status;
}

static tpt_status load(workload *w) {
  tpt_model *made = NULL;
  tpt_status status = tpt_model_load_memory(w->s.context, w->image, w->length, NULL, &made);
  tpt_model_destroy(made);
  return status;
}

static tpt_status fold(workload *w) {
  tpt_model *made = NULL;
  tpt_status status = tpt_model_fold(w->s.model, &made);
  tpt_model_destroy(made);
  return status;
}

static tpt_status convert(workload *w) {
  tpt_model *made = NULL;
  tpt_status status = tpt_model_convert(w->s.model, "int8", &made);
  tpt_model_destroy(made);
  return status;
}

/* most: the largest size that makes a call longer. */
static const struct {
  const char *name;
  tpt_status (*call)(workload *w);
  size_t most;
} calls[] = {{"accumulate", accumulate, MOST_BATCH},
             {"forward", forward, MOST_BATCH},
             {"feed", feed, 1},
             {"score", score, 1},
             {"evaluate", evaluate, MOST_BATCH},
             {"bpe", words, MOST_TEXT / LEAST_TEXT},
             {"create", make, 1},
             {"load", load, 1},
             {"fold", fold, 1},
             {"convert", convert, 1}};
enum { CALLS = sizeof calls / sizeof *calls };

static workload *prepare(void) {
  workload *w = calloc(1, sizeof *w);
  uint64_t state = 1;
  ck_assert_ptr_nonnull(w);
  w->s = start(WIDE);
  ok(tpt_context_set_threads(w->s.context, 1));
  tpti_test_tokens(w->tokens, MOST_BATCH * MOST_SEQ + 1, WIDE_V, 5);
  ok(tpt_decoder_create(w->s.model, 0, &w->decoder));
  ok(tpt_dataset_from_tokens(w->s.context, w->tokens, MOST_BATCH * MOST_SEQ + 1, &w->dataset));
  w->image = image_of(w->s.model, &w->length);
  w->text = malloc(MOST_TEXT);
  ck_assert_ptr_nonnull(w->text);
  for (size_t i = 0; i < MOST_TEXT; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    w->text[i] = "eeeetttaaooiinnsshhr      dlcumwf"[state >> 59];
  }
  w->size = 1;
  return w;
}

static void finish(workload *w) {
  ok(tpt_context_set_progress(w->s.context, NULL, NULL, NULL));
  tpt_decoder_destroy(w->decoder);
  tpt_dataset_destroy(w->dataset);
  end(&w->s);
  free(w->image);
  free(w->text);
  free(w);
}

/* What a call costs without progress; it is made larger until that is LONG, where it can be. */
static int64_t make_long(workload *w, int call) {
  for (;; w->size *= 2) {
    int64_t before = spent();
    ok(calls[call].call(w));
    int64_t cost = spent() - before;
    if (cost >= LONG || w->size >= calls[call].most) return cost;
  }
}

/* One run, stopped at progress's call stop_at (0: never): what lies longest between two calls, or
 * between the last one and the end. */
static int64_t longest_gap(workload *w, int call, int stop_at, tpt_status want) {
  gaps g = {.last = spent(), .stop_at = stop_at};
  ok(tpt_context_set_progress(w->s.context, on_progress, &g, NULL));
  tpt_status status = calls[call].call(w);
  look(&g);
  if (g.calls) ck_assert_int_eq(status, want);
  return g.longest;
}

/* Where one run of two keeps to the bound, what was longer in the other was the machine's. */
static void check_gaps(workload *w, int call, int64_t cost, int stop_at, tpt_status want) {
  int64_t most = cost / PART > PIECE ? cost / PART : PIECE;
  int64_t first = longest_gap(w, call, stop_at, want);
  int64_t gap = first <= most ? first : longest_gap(w, call, stop_at, want);
  ck_assert_msg(gap <= most, "%s of %.1f ms%s: %.1f ms without progress, %.1f are allowed",
                calls[call].name, (double)cost / MILLISECOND, stop_at ? ", stopped" : "",
                (double)gap / MILLISECOND, (double)most / MILLISECOND);
}

START_TEST(pieces_are_short) {
  workload *w = prepare();
  int64_t cost = make_long(w, _i);
  check_gaps(w, _i, cost, 0, TPT_OK);
  check_gaps(w, _i, cost, 1, TPT_E_CANCELLED);
  finish(w);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/pieces");
  TCase *tests = tcase_create("pieces");
  tcase_add_loop_test(tests, pieces_are_short, 0, CALLS);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) {
  const char *fork_mode = getenv("CK_FORK");
  if (fork_mode && fork_mode[0] == 'n') return tpti_test_skip("times of its own: not valgrind's");
  return tpti_test_main(suite());
}
