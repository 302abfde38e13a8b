/* A training step of the whole network: forward, loss, backward. Every call leaves unfinished
 * arrays behind when the run was stopped; the caller asks tpti_run_status. */
#ifndef TPTI_MODEL_STEP_H
#define TPTI_MODEL_STEP_H

#include "model/head.h"

/* What part of a whole step the forward is, for progress. */
#define TPTI_FORWARD_SHARE 0.3

/* The stream, block by block, up to what the head reads; tokens [B, T] are copied. */
void tpti_step_forward(const tpti_pass *pass, const int32_t *tokens);

/* logits [M, V] of the last forward. */
void tpti_step_logits(const tpti_pass *pass, float *logits);

/* Loss of the last forward; targets [B, T] are copied. */
double tpti_step_loss(const tpti_pass *pass, const tpti_loss_rule *rule, const int32_t *targets);

/* Gradients of that loss, added to `gradients` (but for pass->fresh); the logits are computed
 * again, chunk by chunk. */
void tpti_step_backward(const tpti_pass *pass, const tpti_loss_rule *rule, float *gradients);

/* Gradients of a loss of the caller's own, dlogits [M, V]; without the auxiliary loss. */
void tpti_step_backward_logits(const tpti_pass *pass, const float *dlogits, float *gradients);

/* Loss and backward of the last forward in one, the same bits: each chunk of logits is computed
 * once. NaN or infinity: the loss is not finite, and the backward was not finished. */
double tpti_step_accumulate(const tpti_pass *pass, const tpti_loss_rule *rule,
                            const int32_t *targets, float *gradients);

#endif
