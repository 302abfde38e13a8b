/* What the public functions say of a failure. */
#include <3pt/3pt.h>

#include <stdio.h>
#include <string.h>

#include "support/runner.h"

/* The values of tpt_status as the header has them: one that is added and has no name fails here. */
START_TEST(every_status_of_the_header_has_its_name) {
  char line[512], name[64];
  int value, seen = 0, inside = 0;
  FILE *header = fopen(TPT_TEST_HEADER, "r");
  ck_assert_ptr_nonnull(header);
  while (fgets(line, sizeof line, header)) {
    if (strncmp(line, "typedef enum tpt_status {", 25) == 0) inside = 1;
    if (inside && line[0] == '}') break;
    if (!inside || sscanf(line, " %63[A-Z_] = %d", name, &value) != 2) continue;
    if (strcmp(name, "TPT_STATUS_FORCE") == 0) continue;
    ck_assert_str_eq(tpt_status_name((tpt_status)value), name);
    seen++;
  }
  fclose(header);
  ck_assert_int_ge(seen, 11); /* of version 1.0.0: none is ever taken away */
  ck_assert_str_eq(tpt_status_name((tpt_status)seen), "(not a tpt_status)");
}
END_TEST

START_TEST(every_status_has_its_name) {
  static const char *const names[] = {"TPT_OK",          "TPT_E_ARGUMENT",    "TPT_E_MEMORY",
                                      "TPT_E_IO",        "TPT_E_FORMAT",      "TPT_E_CONFIG",
                                      "TPT_E_STATE",     "TPT_E_UNSUPPORTED", "TPT_E_NUMERIC",
                                      "TPT_E_CANCELLED", "TPT_E_INTERNAL"};
  for (int i = 0; i <= TPT_E_INTERNAL; i++)
    ck_assert_str_eq(tpt_status_name((tpt_status)i), names[i]);
  ck_assert_ptr_nonnull(tpt_status_name((tpt_status)11));
  ck_assert_ptr_nonnull(tpt_status_name(TPT_STATUS_FORCE));
}
END_TEST

START_TEST(the_message_is_the_last_failure) {
  ck_assert_str_eq(tpt_error_message(), "");
  ck_assert_int_eq(tpt_context_create(NULL), TPT_E_ARGUMENT);
  ck_assert_str_eq(tpt_error_message(), "context is NULL");
}
END_TEST

START_TEST(a_handle_remembers_its_own) {
  tpt_context *a, *b;
  char text[128] = "";
  size_t length = 0;
  ck_assert_int_eq(tpt_context_create(&a), TPT_OK);
  ck_assert_int_eq(tpt_context_create(&b), TPT_OK);
  ck_assert_int_eq(tpt_error_of(a, text, sizeof text, &length), TPT_OK);
  ck_assert_uint_eq(length, 0);
  tpt_context_set_threads(a, -1);
  tpt_context_threads(b, NULL);
  ck_assert_str_eq(tpt_error_message(), "threads is NULL");
  ck_assert_int_eq(tpt_error_of(a, text, sizeof text, &length), TPT_OK);
  ck_assert_ptr_nonnull(strstr(text, "-1"));
  ck_assert_ptr_nonnull(strstr(text, "256"));
  ck_assert_uint_eq(length, strlen(text));
  tpt_context_destroy(a);
  tpt_context_destroy(b);
}
END_TEST

START_TEST(a_short_buffer_is_no_failure) {
  tpt_context *context;
  char text[8];
  size_t length = 0;
  ck_assert_int_eq(tpt_context_create(&context), TPT_OK);
  tpt_context_threads(context, NULL);
  ck_assert_int_eq(tpt_error_of(context, NULL, 0, &length), TPT_OK);
  ck_assert_uint_eq(length, strlen("threads is NULL"));
  ck_assert_int_eq(tpt_error_of(context, text, sizeof text, &length), TPT_OK);
  ck_assert_str_eq(text, "threads");
  tpt_context_destroy(context);
}
END_TEST

START_TEST(what_is_no_handle_is_refused) {
  char text[128] = "kept";
  size_t length = 9, zeros[16] = {0};
  ck_assert_int_eq(tpt_error_of(NULL, text, sizeof text, &length), TPT_E_ARGUMENT);
  ck_assert_int_eq(tpt_error_of(zeros, text, sizeof text, &length), TPT_E_ARGUMENT);
  ck_assert_str_eq(text, "kept");
  ck_assert_uint_eq(length, 9);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("api/error");
  TCase *c = tcase_create("error");
  tcase_add_test(c, every_status_of_the_header_has_its_name);
  tcase_add_test(c, every_status_has_its_name);
  tcase_add_test(c, the_message_is_the_last_failure);
  tcase_add_test(c, a_handle_remembers_its_own);
  tcase_add_test(c, a_short_buffer_is_no_failure);
  tcase_add_test(c, what_is_no_handle_is_refused);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
