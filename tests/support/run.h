/* A run for tests of operations: a pool of its own, the kernels of this processor, scratch, and
 * room for packed operands. */
#ifndef TPTI_TESTS_SUPPORT_RUN_H
#define TPTI_TESTS_SUPPORT_RUN_H

#include "base/threads.h"

/* Bytes of run->pack; tpti_gemm_pack asks for at most 16 x 192 x 192 floats, 2.4 MB. */
enum { TPTI_TEST_PACK = 4 << 20 };

/* threads 1 or more; ends the running test where memory is short. */
tpti_run *tpti_test_run(int32_t threads);
void tpti_test_run_free(tpti_run *run); /* NULL is accepted */

#endif
