/* Causal attention (op/attention.h) with its products of bf16 on AMX tiles.
 *
 * q, k, v and dy, p = exp(s - max) and ds are rounded to bf16 where they are an operand; products
 * are summed in float32, and everything else is float32 as in the other way. */
#ifndef TPTI_OP_ATTENTION_AMX_H
#define TPTI_OP_ATTENTION_AMX_H

#include "kernel/attention_amx.h"
#include "op/attention_cut.h"

/* The table of inner loops, or NULL where the run's precision or the shape asks for float32. */
const tpti_scores *tpti_attention_amx_choose(const tpti_run *run, const tpti_attention *a);

/* How forward is cut; backward is cut as in float32. */
cut tpti_attention_amx_cut(const tpti_attention *a);

/* Items of a forward and of a backward, whose `scores` are set. */
void tpti_attention_amx_forward(void *argument, size_t item, void *scratch);
void tpti_attention_amx_backward(void *argument, size_t item, void *scratch);

#endif
