/* Versions and the line about this build. */
#include <3pt/3pt.h>

#include <stdio.h>
#include <string.h>

#include "support/runner.h"

START_TEST(the_version_is_the_headers) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH);
  ck_assert_str_eq(tpt_version(), text);
}
END_TEST

START_TEST(this_version_and_earlier_ones_will_do) {
  ck_assert_int_eq(tpt_check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH),
                   TPT_OK);
  ck_assert_int_eq(tpt_check_version(TPT_VERSION_MAJOR, 0, 0), TPT_OK);
}
END_TEST

START_TEST(later_and_other_ones_will_not) {
  const int32_t wanted[][3] = {
      {TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH + 1},
      {TPT_VERSION_MAJOR, TPT_VERSION_MINOR + 1, 0},
      {TPT_VERSION_MAJOR + 1, 0, 0},
      {TPT_VERSION_MAJOR - 1, 9, 9},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    char text[48];
    snprintf(text, sizeof text, "%d.%d.%d", wanted[i][0], wanted[i][1], wanted[i][2]);
    ck_assert_int_eq(tpt_check_version(wanted[i][0], wanted[i][1], wanted[i][2]),
                     TPT_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(tpt_error_message(), tpt_version()));
    ck_assert_ptr_nonnull(strstr(tpt_error_message(), text));
  }
}
END_TEST

START_TEST(the_build_is_one_line) {
  const char *info = tpt_build_info();
  ck_assert_ptr_nonnull(strstr(info, tpt_version()));
  ck_assert_ptr_nonnull(strstr(info, "kernels"));
  ck_assert_ptr_nonnull(strstr(info, "of bf16 parts: "));
  ck_assert_ptr_null(strchr(info, '\n'));
  ck_assert_ptr_eq(info, tpt_build_info());
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("api/library");
  TCase *c = tcase_create("library");
  tcase_add_test(c, the_version_is_the_headers);
  tcase_add_test(c, this_version_and_earlier_ones_will_do);
  tcase_add_test(c, later_and_other_ones_will_not);
  tcase_add_test(c, the_build_is_one_line);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
