/* What the files of attention's inner loops on AMX tiles share; included by them alone. */
#ifndef TPTI_KERNEL_ATTENTION_AMX_WORDS_H
#define TPTI_KERNEL_ATTENTION_AMX_WORDS_H

#include "kernel/attention_amx.h"

/* TPTI_SCORES_AMX: the compiler has the instructions. clang 14 says __AMXBF16__. */
#if defined __AVX512BF16__ && (defined __AMX_BF16__ || defined __AMXBF16__)
#define TPTI_SCORES_AMX

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "kernel/amx_words.h"
#include "kernel/vec_avx512.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL        _Pragma("GCC unroll 16")

/* The first n lanes, or all. */
static inline v_mask tpti_first_lanes(size_t n) { return v_mask_n(tpti_least(n, V_LANES)); }

/* Of the table tpti_scores_amx. */
void tpti_scores_pack_rows(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs);
void tpti_scores_pack_columns(uint16_t *out, size_t step, const tpti_score_source *x, bool pairs);

#endif

#endif
