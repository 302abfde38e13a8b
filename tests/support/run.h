/* A run for tests of operations: a pool of its own, the kernels of this processor, scratch, and
 * room for packed operands. */
#ifndef TPTI_TESTS_SUPPORT_RUN_H
#define TPTI_TESTS_SUPPORT_RUN_H

#include "base/threads.h"

/* Bytes of run->pack: enough for a product of 2048 x 2048 by 2048. */
enum { TPTI_TEST_PACK = 32 << 20 };

/* threads 1 or more; ends the running test where memory is short. */
tpti_run *tpti_test_run(int32_t threads);
void tpti_test_run_free(tpti_run *run); /* NULL is accepted */

#endif
