/* Many threads make things from one context at once, and use what they made: each gets what one
 * thread alone gets. Of the context only its settings are one thread's. */
#include "api/session.h"

#include <pthread.h>
#include <unistd.h>

enum { HOSTS = 4, ROUNDS = 3, IDS = 32 };

static const char text[] = "the horn is gentle, the horn is long; the sum is zero";

/* What all threads read. */
typedef struct shared {
  tpt_context *context;
  const tpt_config *config;
  const unsigned char *image;
  size_t length;
  const char *json;
  char path[64];
} shared;

/* What one of them came to. Check's assertions are for one thread: a status says how it went. */
typedef struct maker {
  const shared *from;
  tpt_status status;
  float logits[V];
  double loss;
  tpt_evaluation evaluation;
  int32_t ids[IDS];
  size_t count;
} maker;

/* The next call, where all before it went well. */
#define DO(m, call) ((m)->status = (m)->status ? (m)->status : (call))

static void decode(maker *m, const tpt_model *model, const int32_t *tokens) {
  tpt_decoder *decoder = NULL;
  const float *logits;
  DO(m, tpt_decoder_create(model, 0, &decoder));
  DO(m, tpt_decoder_feed(decoder, tokens, 9, &logits));
  DO(m, tpt_decoder_feed(decoder, tokens + 9, 1, &logits));
  if (!m->status) memcpy(m->logits, logits, sizeof m->logits);
  tpt_decoder_destroy(decoder);
}

static void train(maker *m, tpt_model *model, const int32_t *tokens) {
  tpt_trainer *trainer = NULL;
  tpt_optimizer *optimizer = NULL;
  DO(m, tpt_trainer_create(model, NULL, &trainer));
  DO(m, tpt_optimizer_create(trainer, NULL, &optimizer));
  DO(m, tpt_trainer_accumulate(trainer, tokens, tokens + 1, 2, MOST, &m->loss));
  DO(m, tpt_optimizer_step(optimizer, NULL));
  tpt_optimizer_destroy(optimizer);
  tpt_trainer_destroy(trainer);
}

static void tokenize(maker *m) {
  const shared *s = m->from;
  tpt_tokenizer *trained = NULL, *parsed = NULL, *words = NULL;
  DO(m, tpt_tokenizer_bpe(s->context, text, sizeof text - 1, 280, &trained));
  DO(m, tpt_tokenizer_words(s->context, text, sizeof text - 1, 9, &words));
  DO(m, tpt_tokenizer_parse(s->context, s->json, strlen(s->json), &parsed));
  DO(m, tpt_tokenizer_encode(parsed, text, sizeof text - 1, m->ids, IDS, &m->count));
  tpt_tokenizer_destroy(trained);
  tpt_tokenizer_destroy(words);
  tpt_tokenizer_destroy(parsed);
}

/* A failing call of several threads on the one context: each thread has its own message. */
static void fail_once(maker *m) {
  tpt_model *none;
  if (tpt_model_load(m->from->context, "/tmp/3pt-none/x", NULL, &none) != TPT_E_IO ||
      !strstr(tpt_error_message(), "/tmp/3pt-none/x"))
    m->status = TPT_E_INTERNAL;
}

static void make_all(maker *m) {
  const shared *s = m->from;
  int32_t tokens[ROWS];
  tpt_model *created = NULL, *loaded = NULL, *from_file = NULL;
  tpt_dataset *dataset = NULL;
  tpti_test_tokens(tokens, ROWS, V, 1);
  DO(m, tpt_model_create(s->context, s->config, 7, &created));
  DO(m, tpt_model_load_memory(s->context, s->image, s->length, NULL, &loaded));
  DO(m, tpt_model_load(s->context, s->path, s->config, &from_file));
  DO(m, tpt_dataset_from_tokens(s->context, tokens, ROWS, &dataset));
  m->evaluation.size = sizeof m->evaluation;
  DO(m, tpt_evaluate(loaded, NULL, dataset, 8, 0, &m->evaluation));
  if (!m->status) decode(m, from_file, tokens);
  if (!m->status) train(m, created, tokens);
  if (!m->status) tokenize(m);
  fail_once(m);
  tpt_dataset_destroy(dataset);
  tpt_model_destroy(from_file);
  tpt_model_destroy(loaded);
  tpt_model_destroy(created);
}

static void *host(void *argument) {
  maker *m = argument;
  for (int i = 0; i < ROUNDS && !m->status; i++) make_all(m);
  return NULL;
}

static const char *json_of(void) {
  static char json[1 << 16];
  size_t length;
  tpt_tokenizer *t;
  ok(tpt_tokenizer_bpe(NULL, text, sizeof text - 1, 280, &t));
  ok(tpt_tokenizer_format(t, json, sizeof json, &length));
  ck_assert_uint_lt(length, sizeof json);
  tpt_tokenizer_destroy(t);
  return json;
}

static void same(const maker *a, const maker *b) {
  ck_assert_uint_eq(tpti_test_first_difference(a->logits, b->logits, V), V);
  ck_assert(a->loss == b->loss && a->evaluation.loss == b->evaluation.loss);
  ck_assert(a->count == b->count && !memcmp(a->ids, b->ids, a->count * sizeof *a->ids));
}

START_TEST(everything_at_once) {
  session s = start("");
  static maker makers[HOSTS + 1];
  pthread_t hosts[HOSTS];
  shared from = {.context = s.context, .config = s.config, .json = json_of()};
  unsigned char *image = image_of(s.model, &from.length);
  from.image = image;
  strcpy(from.path, "/tmp/3pt-test-XXXXXX");
  int file = mkstemp(from.path);
  ck_assert_int_ge(file, 0);
  close(file);
  ok(tpt_model_save(s.model, from.path));
  for (int i = 0; i <= HOSTS; i++) makers[i] = (maker){.from = &from};
  for (int i = 0; i < HOSTS; i++)
    ck_assert_int_eq(pthread_create(&hosts[i], NULL, host, &makers[i]), 0);
  for (int i = 0; i < HOSTS; i++) pthread_join(hosts[i], NULL);
  host(&makers[HOSTS]);
  for (int i = 0; i <= HOSTS; i++) {
    ck_assert_msg(makers[i].status == TPT_OK, "%s", tpt_status_name(makers[i].status));
    same(&makers[i], &makers[HOSTS]);
  }
  remove(from.path);
  free(image);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/threads_make");
  TCase *tests = tcase_create("threads");
  tcase_add_test(tests, everything_at_once);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
