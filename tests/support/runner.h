/* How a test program runs: a Check suite, reported as TAP on stdout for Meson. */
#ifndef TPTI_TESTS_SUPPORT_RUNNER_H
#define TPTI_TESTS_SUPPORT_RUNNER_H

#include <check.h>

/* Runs and frees the suite; what main returns: 0 when every test passed. With CK_FORK=no in the
 * environment all tests run in this process (valgrind, debuggers). Check's own time limit is off
 * unless CK_DEFAULT_TIMEOUT says otherwise: Meson watches the clock. */
int tpti_test_main(Suite *suite);

/* From here on the system gives this process no leave to use matrix units, although the processor
 * may have them: every precision is float32, or bf16 on vectors. */
void tpti_test_refuse_tiles(void);

/* For a program whose tests cannot run here: reports the whole of it as skipped, with the reason.
 * The result is what main returns. */
int tpti_test_skip(const char *reason);

#endif
