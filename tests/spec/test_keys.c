/* The table of keys itself: complete, in order, and right about its own defaults. */
#include "spec/keys.h"

#include <string.h>

#include "support/runner.h"

START_TEST(every_key_is_whole) {
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const tpti_key *key = &tpti_keys[i];
    ck_assert_ptr_nonnull(key->name);
    ck_assert_ptr_nonnull(key->meaning);
    ck_assert_msg(key->meaning[strlen(key->meaning) - 1] == '.', "%s", key->name);
    ck_assert_msg(!key->initial == (key->follows != NULL), "%s", key->name);
    ck_assert_msg(key->type < TPTI_KEY_WORD || key->words, "%s", key->name);
    ck_assert_msg(key->type != TPTI_KEY_REAL || key->low < key->high, "%s", key->name);
    ck_assert_ptr_eq(tpti_key_find(key->name), key);
  }
  ck_assert_uint_le(TPTI_KEYS, 64); /* bits of tpti_spec.given */
}
END_TEST

/* A nested text needs that: a section that was left is not opened again. */
START_TEST(keys_of_a_section_are_neighbours) {
  for (size_t i = 1; i < TPTI_KEYS; i++)
    for (const char *dot = strchr(tpti_keys[i].name, '.'); dot; dot = strchr(dot + 1, '.')) {
      size_t length = (size_t)(dot - tpti_keys[i].name) + 1, before = i;
      while (before > 0 && strncmp(tpti_keys[before - 1].name, tpti_keys[i].name, length) == 0)
        before--;
      for (size_t j = 0; j < before; j++)
        ck_assert_msg(strncmp(tpti_keys[j].name, tpti_keys[i].name, length) != 0, "%s",
                      tpti_keys[i].name);
    }
}
END_TEST

START_TEST(every_default_is_allowed_and_read_back) {
  tpti_spec spec;
  tpti_spec_init(&spec);
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const tpti_key *key = &tpti_keys[i];
    if (!key->initial) continue;
    tpti_spec changed;
    memset(&changed, 0xff, sizeof changed);
    changed.model.dc_values = changed.model.schedule_values = NULL;
    tpti_yaml_node node = {.key = key->name, .plain = true, .count = 1, .items = &key->initial};
    ck_assert_msg(tpti_key_store(&changed, key, &node) == TPT_OK, "%s", tpti_error_text());
    ck_assert_msg(tpti_key_equal(&changed, &spec, key), "%s", key->name);
  }
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("keys");
  TCase *c = tcase_create("table");
  tcase_add_test(c, every_key_is_whole);
  tcase_add_test(c, keys_of_a_section_are_neighbours);
  tcase_add_test(c, every_default_is_allowed_and_read_back);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
