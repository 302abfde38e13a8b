/* One token to each of many decoders: the bits of single feeds, and all or none move. */
#include "api/session.h"

enum { MANY = 40 };

typedef struct crowd {
  session s;
  tpt_decoder *many[MANY], *single[MANY];
} crowd;

/* Decoders at different positions, of different room, each with a twin. */
static crowd gather(const char *settings) {
  crowd c = {.s = start(settings)};
  for (size_t i = 0; i < MANY; i++) {
    size_t ahead = i % 11, room = i % 3 ? 0 : ahead + 4;
    ok(tpt_decoder_create(c.s.model, room, &c.many[i]));
    ok(tpt_decoder_create(c.s.model, room, &c.single[i]));
    if (ahead == 0) continue;
    ok(tpt_decoder_feed(c.many[i], c.s.tokens + i % 20, ahead, NULL));
    ok(tpt_decoder_feed(c.single[i], c.s.tokens + i % 20, ahead, NULL));
  }
  return c;
}

static void part(crowd *c) {
  for (size_t i = 0; i < MANY; i++) {
    tpt_decoder_destroy(c->many[i]);
    tpt_decoder_destroy(c->single[i]);
  }
  end(&c->s);
}

static void positions_are(const crowd *c, size_t more) {
  for (size_t i = 0; i < MANY; i++) {
    size_t position;
    ok(tpt_decoder_position(c->many[i], &position));
    ck_assert_uint_eq(position, i % 11 + more);
  }
}

static void check_round(const crowd *c, size_t count, const int32_t *tokens, bool wanted) {
  const float *logits[MANY], *want;
  ok(tpt_decoder_feed_many(c->many, count, tokens, wanted ? logits : NULL));
  for (size_t i = 0; i < count; i++) {
    int32_t got_next, want_next;
    ok(tpt_decoder_feed(c->single[i], &tokens[i], 1, &want));
    if (wanted) ck_assert_uint_eq(tpti_test_first_difference(logits[i], want, V), V);
    ok(tpt_decoder_sample(c->many[i], &got_next));
    ok(tpt_decoder_sample(c->single[i], &want_next));
    ck_assert_int_eq(got_next, want_next);
  }
}

static const char *const variants[] = {"", "model.rotation.mode=residual; model.dc.profile=learned",
                                       "model.rotation.mode=none; model.dc.profile=none"};

START_TEST(the_bits_of_single_feeds) {
  for (size_t count = 1; count <= MANY; count += count < 8 ? 1 : 16) {
    crowd c = gather(variants[_i]);
    int32_t tokens[MANY];
    for (uint64_t round = 0; round < 3; round++) {
      tpti_test_tokens(tokens, MANY, V, round);
      check_round(&c, count, tokens, round != 1);
    }
    part(&c);
  }
}
END_TEST

START_TEST(every_count) {
  crowd c = gather("");
  int32_t tokens[MANY];
  tpti_test_tokens(tokens, MANY, V, 3);
  for (size_t count = 1; count <= MANY; count++) {
    for (size_t i = 0; i < count; i++) {
      ok(tpt_decoder_rewind(c.many[i], i % 11));
      ok(tpt_decoder_rewind(c.single[i], i % 11));
    }
    check_round(&c, count, tokens, true);
  }
  part(&c);
}
END_TEST

/* After a refusal nobody has moved, and the same call with the fault mended works. */
START_TEST(all_or_none) {
  crowd c = gather("");
  int32_t tokens[MANY] = {0};
  const float *logits[MANY] = {NULL};
  static const int32_t bad[] = {V, -1, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < 4; i++) {
    tokens[MANY - 1 - i] = bad[i];
    refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, logits), TPT_E_ARGUMENT,
            "tokens[");
    tokens[MANY - 1 - i] = 0;
    positions_are(&c, 0);
  }
  ok(tpt_context_cancel(c.s.context, 1));
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, logits), TPT_E_CANCELLED,
          "cancel");
  ok(tpt_context_cancel(c.s.context, 0));
  positions_are(&c, 0);
  check_round(&c, MANY, tokens, true);
  positions_are(&c, 1);
  part(&c);
}
END_TEST

START_TEST(one_that_is_full) {
  crowd c = gather("");
  int32_t tokens[MANY] = {0};
  for (int i = 0; i < 4; i++) ok(tpt_decoder_feed(c.many[3], tokens, 1, NULL)); /* 3 + 4 */
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[3]");
  ok(tpt_decoder_rewind(c.many[3], 3));
  positions_are(&c, 0);
  ok(tpt_decoder_feed_many(c.many, MANY, tokens, NULL));
  part(&c);
}
END_TEST

START_TEST(one_given_twice) {
  crowd c = gather("");
  int32_t tokens[MANY] = {0};
  tpt_decoder *kept = c.many[30];
  c.many[30] = c.many[0];
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[30]");
  c.many[30] = c.many[29];
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[30]");
  c.many[30] = kept;
  positions_are(&c, 0);
  ok(tpt_decoder_feed_many(c.many, MANY, tokens, NULL)); /* no mark was left behind */
  part(&c);
}
END_TEST

START_TEST(null_and_strangers) {
  crowd c = gather("");
  int32_t tokens[MANY] = {0};
  tpt_decoder *kept = c.many[7], *stranger;
  tpt_model *other;
  c.many[7] = NULL;
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[7] is NULL");
  c.many[7] = (tpt_decoder *)c.s.model;
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[7] is not a decoder");
  ok(tpt_model_create(c.s.context, c.s.config, 7, &other));
  ok(tpt_decoder_create(other, 0, &stranger));
  c.many[7] = stranger;
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT,
          "decoders[7]");
  c.many[7] = kept;
  kept = c.many[0];
  c.many[0] = NULL;
  refused(NULL, tpt_decoder_feed_many(c.many, MANY, tokens, NULL), TPT_E_ARGUMENT, "decoders[0]");
  c.many[0] = kept;
  refused(NULL, tpt_decoder_feed_many(NULL, MANY, tokens, NULL), TPT_E_ARGUMENT, "decoders");
  refused(NULL, tpt_decoder_feed_many(c.many, 0, tokens, NULL), TPT_E_ARGUMENT, "count");
  refused(c.many[0], tpt_decoder_feed_many(c.many, MANY, NULL, NULL), TPT_E_ARGUMENT, "tokens");
  positions_are(&c, 0);
  ok(tpt_decoder_feed_many(c.many, MANY, tokens, NULL));
  tpt_decoder_destroy(stranger);
  tpt_model_destroy(other);
  part(&c);
}
END_TEST

static Suite *suite(void) {
  Suite *suite = suite_create("api/feed_many");
  TCase *tests = tcase_create("feed_many");
  tcase_add_loop_test(tests, the_bits_of_single_feeds, 0, 3);
  tcase_add_test(tests, every_count);
  tcase_add_test(tests, all_or_none);
  tcase_add_test(tests, one_that_is_full);
  tcase_add_test(tests, one_given_twice);
  tcase_add_test(tests, null_and_strangers);
  suite_add_tcase(suite, tests);
  return suite;
}

int main(void) { return tpti_test_main(suite()); }
