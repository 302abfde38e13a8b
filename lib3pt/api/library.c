/* Which library this is. */
#include "api/api.h"

#include <string.h>

#include "base/cpu.h"
#include "kernel/bf16.h"
#include "kernel/kernel.h"

#define TEXT_OF(number) #number
#define TEXT(macro)     TEXT_OF(macro)
#define VERSION         TEXT(TPT_VERSION_MAJOR) "." TEXT(TPT_VERSION_MINOR) "." TEXT(TPT_VERSION_PATCH)

const char *tpt_version(void) { return VERSION; }

tpt_status tpt_check_version(int32_t major, int32_t minor, int32_t patch) {
  bool later =
      minor < TPT_VERSION_MINOR || (minor == TPT_VERSION_MINOR && patch <= TPT_VERSION_PATCH);
  if (major == TPT_VERSION_MAJOR && later) return TPT_OK;
  return tpti_fail(TPT_E_UNSUPPORTED,
                   "lib3pt %s is in use; %d.%d.%d, or a later one of major version %d, is needed",
                   VERSION, major, minor, patch, major);
}

#if defined(__x86_64__)
#define TARGET "x86-64"
#elif defined(__aarch64__)
#define TARGET "aarch64"
#else
#define TARGET "a processor without kernels of its own"
#endif

#ifdef NDEBUG
#define CHECKS "off"
#else
#define CHECKS "on"
#endif

/* One text for each combination, so that nothing need be written at run time. */
#define TEXT_WITH(products, bf16, kernels)                                                         \
  "lib3pt " VERSION " for " TARGET ", products: " products ", of bf16 parts: " bf16                \
  ", other kernels: " kernels ", assertions: " CHECKS
#define INFO(products, kernels)                                                                    \
  {                                                                                                \
    products, kernels, {                                                                           \
      TEXT_WITH(products, "as float32", kernels), TEXT_WITH(products, "own avx512-bf16", kernels), \
          TEXT_WITH(products, "own amx", kernels)                                                  \
    }                                                                                              \
  }

static const struct {
  const char *products, *kernels, *text[3]; /* bf16: nowhere, on vectors, on tiles */
} infos[] = {
    INFO("blis", "plain"),        INFO("blis", "avx2"),       INFO("blis", "avx512"),
    INFO("blis", "neon"),         INFO("own plain", "plain"), INFO("own avx2", "avx2"),
    INFO("own avx512", "avx512"), INFO("own neon", "neon"),
};

const char *tpt_build_info(void) {
  const tpti_kernels *kernels = tpti_kernels_choose(tpti_cpu_flags());
  const char *products = tpti_gemm_name(kernels);
  size_t i = sizeof infos / sizeof infos[0] - 1;
  while (i > 0 && (strcmp(infos[i].kernels, kernels->name) || strcmp(infos[i].products, products)))
    i--;
  return infos[i].text[tpti_amx_here() ? 2 : tpti_bf16_vectors_fast()];
}
