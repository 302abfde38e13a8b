/* The bodies of all kernels in kernels.inc; vec_*.h comes first. UNROLL stands before a loop with a
 * constant count whose vectors must stay in registers. */
#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#include "kernel/adamw_tmpl.h"
#include "kernel/attention_tmpl.h"
#include "kernel/dots_tmpl.h"
#include "kernel/gemm_tmpl.h"
#include "kernel/norm_tmpl.h"
#include "kernel/rope_tmpl.h"
#include "kernel/rotate_tmpl.h"
#include "kernel/softmax_tmpl.h"
#include "kernel/sum_tmpl.h"
#include "kernel/swiglu_tmpl.h"
