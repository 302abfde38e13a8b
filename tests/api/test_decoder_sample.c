/* Scores and samples of a decoder. */
#include "api/decoding.h"

#include <math.h>

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

/* ---- tpt_decoder_generate ---- */

enum { PROMPT = 2, DRAWN = 12 };

static tpt_decoder *prompted(const session *s, double temperature, uint64_t seed) {
  tpt_decoder *a = decoder_of(s->model, 0);
  ok(tpt_decoder_set_sampling(a, temperature, 0, 1, seed));
  ok(tpt_decoder_feed(a, s->tokens, PROMPT, NULL));
  return a;
}

/* Equal to sampling and feeding in turn, in one call or in several; what comes after, too. */
START_TEST(generate_is_sample_and_feed) {
  session s = trained("");
  for (int greedy = 0; greedy < 2; greedy++) {
    int32_t want[DRAWN + 1], got[DRAWN];
    size_t made;
    generate(&s, greedy ? 0 : 2, 5, want, DRAWN + 1);
    for (size_t first = 1; first <= DRAWN; first += DRAWN - 1) {
      tpt_decoder *a = prompted(&s, greedy ? 0 : 2, 5);
      ok(tpt_decoder_generate(a, -1, got, first, &made));
      ck_assert_uint_eq(made, first);
      if (first < DRAWN) ok(tpt_decoder_generate(a, -1, got + first, DRAWN - first, &made));
      ck_assert_mem_eq(got, want, sizeof got);
      ck_assert_uint_eq(position_of(a), PROMPT + DRAWN);
      int32_t next;
      ok(tpt_decoder_sample(a, &next));
      ck_assert_int_eq(next, want[DRAWN]);
      tpt_decoder_destroy(a);
    }
  }
  end(&s);
}
END_TEST

START_TEST(generate_ends_after_stop) {
  session s = trained("");
  int32_t want[DRAWN], got[DRAWN];
  generate(&s, 2, 5, want, DRAWN);
  for (size_t at = 0; at < DRAWN; at++) {
    size_t made, first = 0;
    while (want[first] != want[at]) first++; /* where that token comes first */
    tpt_decoder *a = prompted(&s, 2, 5);
    memset(got, 0x5a, sizeof got);
    ok(tpt_decoder_generate(a, want[at], got, DRAWN, &made));
    ck_assert_uint_eq(made, first + 1);
    ck_assert_mem_eq(got, want, made * sizeof *got);
    for (size_t i = made; i < DRAWN; i++) ck_assert_int_eq(got[i], 0x5a5a5a5a);
    ck_assert_uint_eq(position_of(a), PROMPT + made);
    tpt_decoder_destroy(a);
  }
  end(&s);
}
END_TEST

/* A call that is ended takes its draw back: what follows comes as if it had not been. */
START_TEST(generate_goes_on_after_a_cancel) {
  session s = trained("");
  int32_t want[DRAWN], got[DRAWN];
  generate(&s, 2, 5, want, DRAWN);
  size_t cancels = 0, made = 0, done = 0;
  tpt_decoder *a = prompted(&s, 2, 5);
  while (done < DRAWN) {
    bool ended = cancels % 2 == 0;
    if (ended) ok(tpt_context_cancel(s.context, 1));
    size_t count = ended ? DRAWN - done : 1;
    tpt_status status = tpt_decoder_generate(a, -1, got + done, count, &made);
    ck_assert_int_eq(status, ended ? TPT_E_CANCELLED : TPT_OK);
    ck_assert_uint_eq(made, ended ? 0 : 1);
    ok(tpt_context_cancel(s.context, 0));
    done += made;
    cancels++;
    ck_assert_uint_eq(position_of(a), PROMPT + done);
  }
  ck_assert_mem_eq(got, want, sizeof got);
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
  tcase_add_test(tests, generate_is_sample_and_feed);
  tcase_add_test(tests, generate_ends_after_stop);
  tcase_add_test(tests, generate_goes_on_after_a_cancel);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
