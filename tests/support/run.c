/* See run.h. */
#include "support/run.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "kernel/kernel.h"

tpti_run *tpti_test_run(int32_t threads) {
  tpti_run *run = calloc(1, sizeof *run);
  ck_assert_ptr_nonnull(run);
  run->pool = tpti_pool_create(&tpti_memory_default);
  run->scratch = tpti_take(&tpti_memory_default, TPTI_SCRATCH);
  run->pack = tpti_take(&tpti_memory_default, TPTI_TEST_PACK);
  ck_assert(run->pool != NULL && run->scratch != NULL && run->pack != NULL);
  tpti_pool_set_threads(run->pool, threads);
  run->kernels = tpti_kernels_choose(tpti_cpu_flags());
  run->done = NAN;
  return run;
}

void tpti_test_run_free(tpti_run *run) {
  if (!run) return;
  tpti_give(&tpti_memory_default, run->scratch, TPTI_SCRATCH);
  tpti_give(&tpti_memory_default, run->pack, TPTI_TEST_PACK);
  tpti_pool_destroy(run->pool);
  free(run);
}
