/* Decoders: one token at a time, in chunks and in one forward pass give the same logits; what a
 * failure leaves; positions and copies. */
#include "api/decoding.h"

#define LIST "[1, .5, -.25, 0, 2, .5, .4, .3, .2, .1, 0, -1, -2, .125, 3, .7, 9]"

static const char *const variants[] = {
    "model.dc.profile=horn",
    "model.dc.profile=none",
    "model.dc.profile=zero",
    "model.dc.profile=ramp",
    "model.dc.profile=exponential; model.dc.tau=3",
    "model.dc.profile=logarithmic; model.rotation.mode=none",
    "model.dc.profile=learned; model.rotation.schedule=constant",
    "model.dc.profile=" LIST,
    "model.rotation.mode=residual",
    "model.rotation.mode=residual; model.dc.profile=" LIST,
    "model.rotation.schedule=u_shaped; model.embedding.scale=sqrt_d",
    "model.rotation.mode=none; model.dc.profile=none; model.n_phases=1",
    "model.n_phases=2; model.n_q_heads=4; model.n_kv_heads=2; model.rotation.schedule=[1, -2]",
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Relative to the norm: against the full forward pass, and of a folded model. */
static const double STEPS = 3e-6, FOLDED = 1e-5;

/* Feeds MOST tokens, `chunk` at a time; the logits after each chunk against the full forward. */
static void compare(const session *s, const tpt_model *model, size_t chunk, const float *all,
                    double bound) {
  tpt_decoder *decoder = decoder_of(model, 0);
  for (size_t at = 0; at < MOST; at += chunk) {
    size_t count = MOST - at < chunk ? MOST - at : chunk;
    const float *logits;
    ok(tpt_decoder_feed(decoder, s->tokens + at, count, &logits));
    double error = tpti_test_error_float(logits, all + (at + count - 1) * V, V);
    ck_assert_msg(error <= bound, "chunks of %zu, position %zu: %.3g", chunk, at + count - 1,
                  error);
  }
  ck_assert_uint_eq(position_of(decoder), MOST);
  tpt_decoder_destroy(decoder);
}

START_TEST(steps_chunks_and_the_full_forward) {
  session s = trained(variants[_i]);
  static float all[MOST * V];
  full_forward(&s, all);
  for (size_t chunk = 1; chunk <= MOST; chunk++) compare(&s, s.model, chunk, all, STEPS);
  end(&s);
}
END_TEST

START_TEST(folded) {
  session s = trained(variants[_i]);
  static float all[MOST * V];
  tpt_model *model, *twice;
  full_forward(&s, all);
  ok(tpt_model_fold(s.model, &model));
  ok(tpt_model_fold(model, &twice));
  for (size_t chunk = 1; chunk <= MOST; chunk += 5) {
    compare(&s, model, chunk, all, FOLDED);
    compare(&s, twice, chunk, all, FOLDED);
  }
  tpt_model_destroy(model);
  tpt_model_destroy(twice);
  end(&s);
}
END_TEST

/* Beyond the rows that go through the blocks at once. */
enum { LONG = 600 };

START_TEST(long_sequences) {
  static const size_t chunks[] = {1, 63, 64, 65, 255, 256, 257, 511, LONG};
  static int32_t tokens[LONG];
  session s = start(_i ? "model.max_seq_len=600; train.batch=1; model.dc.profile=logarithmic"
                       : "model.max_seq_len=600; train.batch=1; model.n_layers=1");
  const float *all, *logits;
  tpti_test_tokens(tokens, LONG, V, 5);
  ok(tpt_trainer_forward(s.trainer, tokens, 1, LONG));
  ok(tpt_trainer_logits(s.trainer, &all));
  tpt_decoder *decoder = decoder_of(s.model, 0);
  for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
    ok(tpt_decoder_rewind(decoder, 0));
    for (size_t at = 0; at < LONG; at += chunks[i]) {
      size_t count = LONG - at < chunks[i] ? LONG - at : chunks[i];
      ok(tpt_decoder_feed(decoder, tokens + at, count, &logits));
      double error = tpti_test_error_float(logits, all + (at + count - 1) * V, V);
      ck_assert_msg(error <= STEPS, "chunks of %zu, position %zu: %.3g", chunks[i], at + count - 1,
                    error);
    }
  }
  tpt_decoder_destroy(decoder);
  end(&s);
}
END_TEST

/* Weights are read at each feed: a change acts from the next one, by whichever way it came. */
START_TEST(a_change_acts_from_the_next_feed) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0);
  const float *logits;
  float before[V], *weights, gain[P];
  size_t count;
  ok(tpt_model_parameters(s.model, &weights, &count));
  for (int way = 0; way < 3; way++) {
    ok(tpt_decoder_rewind(a, 0));
    ok(tpt_decoder_feed(a, s.tokens, 3, &logits));
    memcpy(before, logits, sizeof before);
    for (size_t i = 0; i < P; i++) gain[i] = 2;
    if (way == 0) ok(tpt_model_set_tensor(s.model, "norm_f.norms.1.weight", gain, P));
    if (way == 1) weights[count - 1] += 1;
    if (way == 2) train_step(&s, 1), train_step(&s, 2);
    ok(tpt_decoder_rewind(a, 2));
    ok(tpt_decoder_feed(a, s.tokens + 2, 1, &logits));
    ck_assert_uint_ne(tpti_test_first_difference(before, logits, V), V);
  }
  tpt_decoder_destroy(a);
  end(&s);
}
END_TEST

START_TEST(rewound) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0), *fresh = decoder_of(s.model, 0);
  const float *got, *want;
  int32_t token = -5;
  double score[2] = {-5, -5};
  ok(tpt_decoder_feed(fresh, s.tokens, 7, &want));
  ok(tpt_decoder_feed(fresh, s.tokens + 20, 1, &want));
  ok(tpt_decoder_feed(a, s.tokens, 7, NULL));
  ok(tpt_decoder_feed(a, s.tokens + 30, 9, NULL));
  refused(a, tpt_decoder_rewind(a, 17), TPT_E_ARGUMENT, "position");
  ck_assert_uint_eq(position_of(a), 16);
  ok(tpt_decoder_sample(a, &token));
  token = -5;
  ok(tpt_decoder_rewind(a, 7));
  ck_assert_uint_eq(position_of(a), 7);
  refused(a, tpt_decoder_sample(a, &token), TPT_E_STATE, "rewind");
  refused(a, tpt_decoder_score(a, s.tokens, 2, score), TPT_E_STATE, "rewind");
  ck_assert(token == -5 && score[0] == -5 && position_of(a) == 7);
  ok(tpt_decoder_feed(a, s.tokens + 20, 1, &got));
  ck_assert_uint_eq(tpti_test_first_difference(got, want, V), V);
  ok(tpt_decoder_rewind(a, 8)); /* also to where it is */
  ck_assert_int_eq(tpt_decoder_sample(a, &token), TPT_E_STATE);
  ok(tpt_decoder_rewind(a, 0));
  ok(tpt_decoder_score(a, s.tokens, 2, score)); /* position 0 needs none */
  tpt_decoder_destroy(a);
  tpt_decoder_destroy(fresh);
  end(&s);
}
END_TEST

START_TEST(room) {
  session s = start("");
  tpt_decoder *a = NULL, *none = (tpt_decoder *)s.model;
  const float *logits = NULL;
  refused(s.model, tpt_decoder_create(s.model, MOST + 1, &none), TPT_E_ARGUMENT, "max_positions");
  ck_assert_ptr_null(none);
  refused(s.model, tpt_decoder_create(s.model, SIZE_MAX, &none), TPT_E_ARGUMENT, "max_positions");
  a = decoder_of(s.model, 5);
  refused(a, tpt_decoder_feed(a, s.tokens, 0, &logits), TPT_E_ARGUMENT, "count");
  refused(a, tpt_decoder_feed(a, s.tokens, 6, &logits), TPT_E_ARGUMENT, "max_positions");
  refused(a, tpt_decoder_feed(a, s.tokens, SIZE_MAX, &logits), TPT_E_ARGUMENT, "count");
  ok(tpt_decoder_feed(a, s.tokens, 5, NULL));
  refused(a, tpt_decoder_feed(a, s.tokens, 1, &logits), TPT_E_ARGUMENT, "max_positions");
  ck_assert(logits == NULL && position_of(a) == 5);
  tpt_decoder_destroy(a);
  a = decoder_of(s.model, 0);
  ok(tpt_decoder_feed(a, s.tokens, MOST, NULL));
  refused(a, tpt_decoder_feed(a, s.tokens, 1, &logits), TPT_E_ARGUMENT, "max_positions");
  tpt_decoder_destroy(a);
  end(&s);
}
END_TEST

/* The logits pointer of a feed stays what it was through a failed feed. */
START_TEST(a_refused_feed_leaves_all) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0);
  const float *logits, *unmoved = NULL;
  float before[V];
  int32_t bad[3] = {1, V, 2}, was, is;
  ok(tpt_decoder_feed(a, s.tokens, 4, &logits));
  memcpy(before, logits, sizeof before);
  ok(tpt_decoder_sample(a, &was));
  for (int i = 0; i < 4; i++) {
    bad[1] = (int32_t[]){V, -1, INT32_MAX, INT32_MIN}[i];
    refused(a, tpt_decoder_feed(a, bad, 3, &unmoved), TPT_E_ARGUMENT, "tokens[1]");
  }
  ck_assert(unmoved == NULL && position_of(a) == 4);
  ok(tpt_decoder_sample(a, &is));
  ck_assert_int_eq(was, is);
  ck_assert_uint_eq(tpti_test_first_difference(before, logits, V), V);
  tpt_decoder_destroy(a);
  end(&s);
}
END_TEST

/* Cancelled in the middle: position, cache and last logits as before, and the feed works again. */
START_TEST(a_cancelled_feed_leaves_all) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0), *twin = decoder_of(s.model, 0);
  const float *got, *want;
  double score[8] = {0};
  int32_t was, is;
  ok(tpt_decoder_feed(a, s.tokens, 4, NULL));
  ok(tpt_decoder_feed(twin, s.tokens, 4, NULL));
  ok(tpt_decoder_sample(a, &was));
  ok(tpt_context_cancel(s.context, 1));
  refused(a, tpt_decoder_feed(a, s.tokens + 20, 8, &got), TPT_E_CANCELLED, "cancel");
  refused(a, tpt_decoder_score(a, s.tokens + 20, 8, score), TPT_E_CANCELLED, "cancel");
  ck_assert_uint_eq(position_of(a), 4);
  ok(tpt_decoder_sample(a, &is));
  ck_assert_int_eq(was, is);
  ok(tpt_context_cancel(s.context, 0));
  ok(tpt_decoder_feed(a, s.tokens + 4, 8, &got));
  ok(tpt_decoder_feed(twin, s.tokens + 4, 8, &want));
  ck_assert_uint_eq(tpti_test_first_difference(got, want, V), V);
  tpt_decoder_destroy(a);
  tpt_decoder_destroy(twin);
  end(&s);
}
END_TEST

START_TEST(copies_go_on_alike) {
  session s = start("");
  tpt_decoder *a = decoder_of(s.model, 0), *b = decoder_of(s.model, 9),
              *small = decoder_of(s.model, 3);
  const float *x, *y;
  int32_t i, j;
  ok(tpt_decoder_feed(b, s.tokens + 9, 9, NULL));
  ok(tpt_decoder_set_sampling(a, 1.0, 0, 1.0, 42));
  ok(tpt_decoder_feed(a, s.tokens, 4, NULL));
  ok(tpt_decoder_sample(a, &i)); /* moves the random state */
  ok(tpt_decoder_copy(a, b));
  ck_assert_uint_eq(position_of(b), 4);
  for (int step = 0; step < 5; step++) {
    ok(tpt_decoder_sample(a, &i));
    ok(tpt_decoder_sample(b, &j));
    ck_assert_int_eq(i, j);
    ok(tpt_decoder_feed(a, &i, 1, &x));
    ok(tpt_decoder_feed(b, &j, 1, &y));
    ck_assert_uint_eq(tpti_test_first_difference(x, y, V), V);
  }
  refused(a, tpt_decoder_copy(a, small), TPT_E_ARGUMENT, "room");
  ck_assert_uint_eq(position_of(small), 0);
  ok(tpt_decoder_copy(a, a));
  ok(tpt_decoder_rewind(a, 3));
  ok(tpt_decoder_copy(a, small)); /* 3 fit */
  ck_assert_int_eq(tpt_decoder_sample(small, &i), TPT_E_STATE);
  tpt_model *other;
  ok(tpt_model_create(s.context, s.config, 7, &other));
  tpt_decoder *stranger = decoder_of(other, 0);
  refused(a, tpt_decoder_copy(a, stranger), TPT_E_ARGUMENT, "model");
  tpt_decoder_destroy(stranger);
  tpt_model_destroy(other);
  tpt_decoder_destroy(a);
  tpt_decoder_destroy(b);
  tpt_decoder_destroy(small);
  end(&s);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/decoder");
  TCase *tests = tcase_create("decoder");
  tcase_add_loop_test(tests, steps_chunks_and_the_full_forward, 0, VARIANTS);
  tcase_add_loop_test(tests, folded, 0, VARIANTS);
  tcase_add_loop_test(tests, long_sequences, 0, 2);
  tcase_add_test(tests, a_change_acts_from_the_next_feed);
  tcase_add_test(tests, rewound);
  tcase_add_test(tests, room);
  tcase_add_test(tests, a_refused_feed_leaves_all);
  tcase_add_test(tests, a_cancelled_feed_leaves_all);
  tcase_add_test(tests, copies_go_on_alike);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
