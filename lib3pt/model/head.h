/* The head: logits = W PhaseNorm_f(stream), their loss, and both read backward. Logits are held for
 * a chunk of rows at a time. */
#ifndef TPTI_MODEL_HEAD_H
#define TPTI_MODEL_HEAD_H

#include "model/block.h"

/* Settings of a loss. */
typedef struct tpti_loss_rule {
  int32_t ignore_index;
  double aux_coef;
} tpti_loss_rule;

/* logits [M, V] of acts->final. */
void tpti_head_logits(const tpti_pass *pass, float *logits);

/* acts->row_loss [M] for acts->targets. */
void tpti_head_loss(const tpti_pass *pass, const tpti_loss_rule *rule);

/* The same, and the gradients of weight times the rows' sum: those of head and final norm in
 * `gradients`, that of the stream in acts->dh. */
void tpti_head_gradients(const tpti_pass *pass, const tpti_loss_rule *rule, float weight,
                         float *gradients);

/* The gradients alone, of a loss whose derivatives by the logits are dlogits [M, V]. */
void tpti_head_backward(const tpti_pass *pass, const float *dlogits, float *gradients);

#endif
