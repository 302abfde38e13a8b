/* See runner.h. */
#include "support/runner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Check reads this when a test case is made, which is before main calls tpti_test_main. */
__attribute__((constructor)) static void no_time_limit(void) {
  setenv("CK_DEFAULT_TIMEOUT", "0", 0);
}

int tpti_test_main(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int tpti_test_skip(const char *reason) {
  /* TAP's own way; a status of 77 beside it would be an error to Meson. */
  printf("1..0 # SKIP %s\n", reason);
  return EXIT_SUCCESS;
}

/* A signal stack too small for the frames of a thread with tiles. */
void tpti_test_refuse_tiles(void) {
  static char stack[8192];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}
