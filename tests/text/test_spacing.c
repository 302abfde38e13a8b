/* Prose through a word tokenizer and back. */
#include "text/spacing.h"

#include "make.h"

static void comes_back(const char *text) {
  static int32_t ids[256];
  tpti_run run = {0};
  tpti_ids out = {.ids = ids, .capacity = 256};
  tpti_tokenizer *t;
  ck_assert_int_eq(tpti_tokenizer_words(&tpti_memory_default, &run, text, strlen(text), 1000, &t),
                   TPT_OK);
  ck_assert_int_eq(tpti_tokenizer_encode(t, &run, text, strlen(text), false, &out), TPT_OK);
  ck_assert_str_eq(decoded(t, ids, out.count), text);
  tpti_tokenizer_free(t);
}

START_TEST(marks_close) {
  comes_back("Hello, world! How are you? Fine; thanks: very... well.");
  comes_back("It rose by 5% (or so), he said.");
}
END_TEST

START_TEST(apostrophes) {
  comes_back("It's what they'd said: we'll go, I'm sure, you've won, DON'T.");
  comes_back("The dogs' tails wagged at ten o'clock.");
}
END_TEST

START_TEST(quotes_in_turn) {
  comes_back("\"Go,\" she said. \"Go now!\" And he went \"home\".");
  comes_back("He said, 'yes' and left.");
  comes_back("\xe2\x80\x9cGo,\xe2\x80\x9d she said.");
}
END_TEST

START_TEST(numbers) { comes_back("At 10:30 it cost $3.50, or 1,000 in 1990, 12 times (3.14)."); }
END_TEST

START_TEST(hyphens_and_openers) {
  comes_back("A well-known (but old) trick [see 3] and/or {this} #1.");
  comes_back("\xc2\xbfQu\xc3\xa9? \xc2\xa1S\xc3\xad! \xd0\x94\xd0\xb0, \xd0\xbd\xd0\xb5\xd1\x82.");
}
END_TEST

START_TEST(first_token_has_no_space) {
  tpti_spacing spacing = {0};
  ck_assert(!tpti_spacing_next(&spacing, "a", 1));
  ck_assert(tpti_spacing_next(&spacing, "b", 1));
  ck_assert(!tpti_spacing_next(&spacing, ".", 1));
  ck_assert(tpti_spacing_next(&spacing, "<unk>", 5));
  ck_assert(tpti_spacing_next(&spacing, "c", 1));
}
END_TEST

TEST_MAIN("spacing", marks_close, apostrophes, quotes_in_turn, numbers, hyphens_and_openers,
          first_token_has_no_space)
