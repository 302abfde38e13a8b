/* Scores and samples of a decoder. */
#include "api/session.h"

#include <math.h>

static tpt_decoder *decoder_of(const tpt_model *model, size_t room) {
  tpt_decoder *decoder;
  ok(tpt_decoder_create(model, room, &decoder));
  return decoder;
}

static size_t position_of(const tpt_decoder *decoder) {
  size_t position = 999;
  ok(tpt_decoder_position(decoder, &position));
  return position;
}

/* Train a little, so that gains, angles and a learned profile are not what they start as. */
static session trained(const char *settings) {
  session s = start(settings);
  for (uint64_t i = 0; i < 4; i++) train_step(&s, i);
  return s;
}

static void full_forward(session *s, float *all) {
  const float *logits;
  ok(tpt_trainer_forward(s->trainer, s->tokens, 1, MOST));
  ok(tpt_trainer_logits(s->trainer, &logits));
  memcpy(all, logits, MOST * V * sizeof *all);
}

static double log_share(const float *logits, int32_t token) {
  double sum = 0;
  for (size_t v = 0; v < V; v++) sum += exp((double)logits[v]);
  return (double)logits[token] - log(sum);
}

START_TEST(scores) {
  session s = trained("");
  static float all[MOST * V];
  full_forward(&s, all);
  for (size_t first = 0; first < MOST; first += 3) {
    tpt_decoder *a = decoder_of(s.model, 0);
    double score[MOST];
    if (first) ok(tpt_decoder_feed(a, s.tokens, first, NULL));
    ok(tpt_decoder_score(a, s.tokens + first, MOST - first, score));
    ck_assert_uint_eq(position_of(a), MOST);
    for (size_t i = 0; i < MOST - first; i++) {
      size_t p = first + i;
      double want = p ? log_share(all + (p - 1) * V, s.tokens[p]) : 0.0;
      ck_assert_double_eq_tol(score[i], want, 1e-5);
    }
    tpt_decoder_destroy(a);
  }
  end(&s);
}
END_TEST

START_TEST(scoring_feeds) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0), *b = decoder_of(s.model, 0);
  double score[6];
  const float *x, *y;
  ok(tpt_decoder_score(a, s.tokens, 6, score));
  ok(tpt_decoder_feed(b, s.tokens, 6, NULL));
  ok(tpt_decoder_score(a, s.tokens + 6, 1, score));
  ok(tpt_decoder_feed(b, s.tokens + 6, 1, &y));
  ok(tpt_decoder_feed(a, s.tokens + 7, 1, &x));
  ok(tpt_decoder_feed(b, s.tokens + 7, 1, &y));
  ck_assert_uint_eq(tpti_test_first_difference(x, y, V), V);
  tpt_decoder_destroy(a);
  tpt_decoder_destroy(b);
  end(&s);
}
END_TEST

/* `count` tokens drawn and fed. */
static void generate(const session *s, double temperature, uint64_t seed, int32_t *drawn,
                     size_t count) {
  tpt_decoder *a = decoder_of(s->model, 0);
  ok(tpt_decoder_set_sampling(a, temperature, 0, 1, seed));
  ok(tpt_decoder_feed(a, s->tokens, 2, NULL));
  for (size_t i = 0; i < count; i++) {
    ok(tpt_decoder_sample(a, &drawn[i]));
    ck_assert(drawn[i] >= 0 && drawn[i] < V);
    ok(tpt_decoder_feed(a, &drawn[i], 1, NULL));
  }
  tpt_decoder_destroy(a);
}

START_TEST(sampling_repeats) {
  session s = start("");
  int32_t a[12], b[12], c[12];
  generate(&s, 1, 5, a, 12);
  generate(&s, 1, 5, b, 12);
  generate(&s, 1, 6, c, 12);
  ck_assert_mem_eq(a, b, sizeof a);
  ck_assert(memcmp(a, c, sizeof a) != 0);
  generate(&s, 0, 5, a, 12);
  generate(&s, 0, 6, b, 12);
  ck_assert_mem_eq(a, b, sizeof a); /* greedy draws nothing */
  end(&s);
}
END_TEST

/* Every sample goes on in the random stream; a rewind does not take it back, set_sampling does. */
START_TEST(the_random_state) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0);
  int32_t first[20], second[20];
  ok(tpt_decoder_set_sampling(a, 3, 0, 1, 9));
  for (int round = 0; round < 3; round++) {
    int32_t *to = round == 1 ? second : first;
    if (round == 2) ok(tpt_decoder_set_sampling(a, 3, 0, 1, 9));
    ok(tpt_decoder_rewind(a, 0));
    ok(tpt_decoder_feed(a, s.tokens, 3, NULL));
    int32_t again[20];
    for (int i = 0; i < 20; i++) ok(tpt_decoder_sample(a, &again[i]));
    if (round == 2) ck_assert_mem_eq(again, first, sizeof again);
    memcpy(to, again, sizeof again);
  }
  ck_assert(memcmp(first, second, sizeof first) != 0);
  tpt_decoder_destroy(a);
  end(&s);
}
END_TEST

static void draws_only(tpt_decoder *decoder, int32_t best) {
  for (int i = 0; i < 20; i++) {
    int32_t token = -1;
    ok(tpt_decoder_sample(decoder, &token));
    ck_assert_int_eq(token, best);
  }
}

START_TEST(greedy_top_k_and_top_p) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0);
  const float *logits;
  int32_t token, best = 0, second = -1;
  ok(tpt_decoder_feed(a, s.tokens, 3, &logits));
  for (int32_t v = 1; v < V; v++)
    if (logits[v] > logits[best]) best = v;
  for (int32_t v = 0; v < V; v++)
    if (v != best && (second < 0 || logits[v] > logits[second])) second = v;
  ok(tpt_decoder_sample(a, &token)); /* greedy is the default */
  ck_assert_int_eq(token, best);
  ok(tpt_decoder_set_sampling(a, 5, 1, 1, 1));
  draws_only(a, best);
  ok(tpt_decoder_set_sampling(a, 5, 0, 1e-9, 1));
  draws_only(a, best);
  ok(tpt_decoder_set_sampling(a, 5, 2, 1, 1));
  int seen[2] = {0, 0};
  for (int i = 0; i < 60; i++) {
    ok(tpt_decoder_sample(a, &token));
    ck_assert(token == best || token == second);
    seen[token == second]++;
  }
  ck_assert(seen[0] && seen[1]);
  tpt_decoder_destroy(a);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/decoder_sample");
  TCase *tests = tcase_create("sample");
  tcase_add_test(tests, scores);
  tcase_add_test(tests, scoring_feeds);
  tcase_add_test(tests, sampling_repeats);
  tcase_add_test(tests, the_random_state);
  tcase_add_test(tests, greedy_top_k_and_top_p);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
