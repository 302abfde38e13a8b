/* The token table. */
#include "base/hash.h"
#include "text/vocab.h"

#include "make.h"

static tpti_vocab vocab;

static void fill(const char *const *texts, const uint32_t *ids, size_t count) {
  tpti_vocab_init(&vocab, &tpti_memory_default);
  for (size_t i = 0; i < count; i++)
    ck_assert(tpti_vocab_add(&vocab, texts[i], strlen(texts[i]), ids[i]));
}

START_TEST(both_ways_with_gaps) {
  static const char *const texts[] = {"x", "", "yy", "z\xc3\xa9"};
  static const uint32_t ids[] = {7, 2, 1000000000, 3};
  uint32_t id = 0;
  fill(texts, ids, 4);
  ck_assert_int_eq(tpti_vocab_seal(&vocab), TPT_OK);
  for (size_t i = 0; i < 4; i++) {
    ck_assert(tpti_vocab_find(&vocab, texts[i], strlen(texts[i]), &id));
    ck_assert_uint_eq(id, ids[i]);
    const tpti_token *token = tpti_vocab_token(&vocab, ids[i]);
    ck_assert_uint_eq(token->length, strlen(texts[i]));
    ck_assert_mem_eq(tpti_vocab_text(&vocab, token), texts[i], token->length);
  }
  ck_assert_ptr_null(tpti_vocab_token(&vocab, 0));
  ck_assert_ptr_null(tpti_vocab_token(&vocab, 4));
  ck_assert(!tpti_vocab_find(&vocab, "y", 1, &id));
  tpti_vocab_free(&vocab);
}
END_TEST

START_TEST(an_id_given_twice_is_refused) {
  static const char *const texts[] = {"one", "two"};
  static const uint32_t ids[] = {5, 5};
  fill(texts, ids, 2);
  ck_assert_int_eq(tpti_vocab_seal(&vocab), TPT_E_FORMAT);
  ck_assert_message("id 5 is given to both");
  tpti_vocab_free(&vocab);
}
END_TEST

START_TEST(empty_vocabulary) {
  uint32_t id;
  tpti_vocab_init(&vocab, &tpti_memory_default);
  ck_assert_int_eq(tpti_vocab_seal(&vocab), TPT_OK);
  ck_assert(!tpti_vocab_find(&vocab, "a", 1, &id));
  ck_assert_ptr_null(tpti_vocab_token(&vocab, 0));
  tpti_vocab_free(&vocab);
}
END_TEST

START_TEST(many_tokens_and_more_after_sealing) {
  char text[16];
  uint32_t id = 0;
  tpti_vocab_init(&vocab, &tpti_memory_default);
  for (uint32_t i = 0; i < 5000; i++) {
    int length = snprintf(text, sizeof text, "t%u", i * 7919);
    ck_assert(tpti_vocab_add(&vocab, text, (size_t)length, 4999 - i));
    if (i == 2000) ck_assert_int_eq(tpti_vocab_seal(&vocab), TPT_OK);
  }
  ck_assert_int_eq(tpti_vocab_seal(&vocab), TPT_OK);
  for (uint32_t i = 0; i < 5000; i++) {
    int length = snprintf(text, sizeof text, "t%u", i * 7919);
    ck_assert(tpti_vocab_find(&vocab, text, (size_t)length, &id));
    ck_assert_uint_eq(id, 4999 - i);
  }
  tpti_vocab_free(&vocab);
}
END_TEST

START_TEST(tables_are_half_empty) {
  for (size_t count = 0; count < 300; count++) {
    size_t places = tpti_table_mask(count) + 1;
    ck_assert_uint_ge(places, 2 * count);
    ck_assert_uint_eq(places & (places - 1), 0);
  }
}
END_TEST

TEST_MAIN("vocab", both_ways_with_gaps, an_id_given_twice_is_refused, empty_vocabulary,
          many_tokens_and_more_after_sealing, tables_are_half_empty)
