/* Check, with exceptions shown: TEST(name) { ... }, and in main `return run_tests({name, ...});`.
 */
#ifndef TEST_HPP
#define TEST_HPP

#include <check.h>
#undef fail /* an old macro of Check's, which the headers of C++ do not outlive */

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(__cpp_exceptions)
#include <exception>
inline void run_shown(void (*body)()) {
  try {
    body();
  } catch (const std::exception &failure) {
    ck_abort_msg("exception: %s", failure.what());
  }
}
#else
inline void run_shown(void (*body)()) { body(); }
#endif

#define TEST(name)                                                                                 \
  static void name##_body();                                                                       \
  START_TEST(name) { run_shown(name##_body); }                                                     \
  END_TEST                                                                                         \
  static void name##_body()

inline void check_text(std::string_view got, std::string_view wanted) {
  ck_assert_msg(got == wanted, "'%s' is not '%s'", std::string(got).c_str(),
                std::string(wanted).c_str());
}

inline std::string setting_of(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

inline int run_tests(std::initializer_list<const TTest *> tests) {
  Suite *suite = suite_create("cpp");
  TCase *group = tcase_create("cpp");
  tcase_set_timeout(group, 120);
  for (const TTest *test : tests) tcase_add_test(group, test);
  suite_add_tcase(suite, group);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}

#endif
