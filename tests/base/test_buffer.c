/* A buffer grows, tells of a failure once, and gives all back. */
#include "base/buffer.h"

#include <stdint.h>
#include <string.h>

#include "support/allocator.h"
#include "support/runner.h"

START_TEST(appends_in_order) {
  tpti_buffer buffer;
  tpti_buffer_init(&buffer, &tpti_memory_default);
  for (int i = 0; i < 1000; i++) ck_assert(tpti_buffer_printf(&buffer, "%d,", i));
  ck_assert(tpti_buffer_append(&buffer, "end", 4));
  ck_assert_uint_eq(buffer.used, 10 * 2 + 90 * 3 + 900 * 4 + 4);
  ck_assert_int_eq(memcmp(buffer.data, "0,1,2,3,", 8), 0);
  ck_assert_str_eq(buffer.data + buffer.used - 12, "998,999,end");
  tpti_buffer_free(&buffer);
  ck_assert(buffer.data == NULL && buffer.used == 0);
}
END_TEST

START_TEST(nothing_is_a_fine_length) {
  tpti_buffer buffer;
  tpti_buffer_init(&buffer, &tpti_memory_default);
  ck_assert(tpti_buffer_append(&buffer, NULL, 0));
  ck_assert(tpti_buffer_printf(&buffer, "%s", ""));
  ck_assert_ptr_nonnull(tpti_buffer_reserve(&buffer, 0));
  ck_assert_uint_eq(buffer.used, 0);
  tpti_buffer_free(&buffer);
}
END_TEST

START_TEST(reserved_room_is_not_used_yet) {
  tpti_buffer buffer;
  tpti_buffer_init(&buffer, &tpti_memory_default);
  tpti_buffer_append(&buffer, "abc", 3);
  char *place = tpti_buffer_reserve(&buffer, 5000);
  memset(place, 'x', 5000);
  ck_assert_uint_eq(buffer.used, 3);
  buffer.used += 5000;
  ck_assert_int_eq(memcmp(buffer.data, "abcx", 4), 0);
  tpti_buffer_free(&buffer);
}
END_TEST

START_TEST(a_failure_sticks_and_spoils_nothing) {
  tpti_test_allocator a;
  tpti_buffer buffer;
  tpti_test_allocator_init(&a);
  tpti_buffer_init(&buffer, &a.memory);
  tpti_buffer_append(&buffer, "abc", 3);
  tpti_test_allocator_fail_at(&a, 1);
  ck_assert_ptr_null(tpti_buffer_reserve(&buffer, 5000));
  ck_assert(buffer.failed && buffer.used == 3 && memcmp(buffer.data, "abc", 3) == 0);
  tpti_test_allocator_fail_at(&a, 0);
  ck_assert(!tpti_buffer_append(&buffer, "d", 1));
  ck_assert(!tpti_buffer_printf(&buffer, "d"));
  ck_assert_uint_eq(buffer.used, 3);
  tpti_buffer_free(&buffer);
  ck_assert(!buffer.failed);
  ck_assert_uint_eq(tpti_test_allocator_live(&a), 0);
}
END_TEST

START_TEST(an_impossible_size_fails) {
  tpti_buffer buffer;
  tpti_buffer_init(&buffer, &tpti_memory_default);
  tpti_buffer_append(&buffer, "abc", 3);
  ck_assert_ptr_null(tpti_buffer_reserve(&buffer, SIZE_MAX - 1));
  ck_assert(buffer.failed);
  tpti_buffer_free(&buffer);
}
END_TEST

static Suite *suite(void) {
  Suite *s = suite_create("base/buffer");
  TCase *c = tcase_create("buffer");
  tcase_add_test(c, appends_in_order);
  tcase_add_test(c, nothing_is_a_fine_length);
  tcase_add_test(c, reserved_room_is_not_used_yet);
  tcase_add_test(c, a_failure_sticks_and_spoils_nothing);
  tcase_add_test(c, an_impossible_size_fails);
  suite_add_tcase(s, c);
  return s;
}

int main(void) { return tpti_test_main(suite()); }
