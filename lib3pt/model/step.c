/* Forward, loss and backward of the whole network (DESIGN section 2). */
#include "model/step.h"

#include <math.h>
#include <string.h>

#include "op/dc_inject.h"
#include "op/phase_norm.h"
#include "op/zero_sum.h"

/* Of a whole step, for progress: the forward is some third, the head's part, the rest of the
 * backward. */
static const double head_begins = TPTI_FORWARD_SHARE, head_ends = 0.5;

/* The stream that enters block l. */
static const float *entering(const tpti_acts *a, size_t l) {
  return l ? a->blocks[l - 1].out : a->embedding;
}

void tpti_step_forward(const tpti_pass *pass, const int32_t *tokens) {
  const tpti_network *net = pass->net;
  const tpti_dims *d = &net->dims;
  tpti_acts *a = pass->acts;

  memcpy(a->tokens, tokens, pass->M * sizeof *tokens);
  tpti_network_rotations(net, a->cosine, a->sine);
  tpti_dc_inject_forward(pass->run, a->embedding, a->tokens, net->weights + net->params.token_emb,
                         net->profile, tpti_network_embedding_scale(net), pass->B, pass->T, d->D);
  for (size_t l = 0; l < d->L; l++) tpti_block_forward(pass, l, entering(a, l));
  tpti_phase_norm_forward(pass->run, a->final, a->rstd_f, entering(a, d->L),
                          net->weights + net->params.norm_f, (float)d->norm_eps, pass->M, d->D,
                          d->N);
}

/* ---- loss ---- */

/* Targets that count. */
static size_t counted(const tpti_pass *pass, int32_t ignore_index) {
  size_t count = 0;
  for (size_t m = 0; m < pass->M; m++) count += pass->acts->targets[m] != ignore_index;
  return count;
}

/* Mean of the rows' losses plus the auxiliary loss. */
static double total_loss(const tpti_pass *pass, const tpti_loss_rule *rule) {
  const tpti_dims *d = &pass->net->dims;
  tpti_acts *a = pass->acts;
  size_t count = counted(pass, rule->ignore_index);
  double sum = 0.0;
  for (size_t m = 0; m < pass->M; m++) sum += a->row_loss[m];
  double loss = count ? sum / (double)count : 0.0;
  if (rule->aux_coef > 0.0)
    loss += rule->aux_coef *
            tpti_zero_sum_forward(pass->run, a->sums, a->embedding, pass->M, d->D, d->N);
  return loss;
}

static float row_weight(const tpti_pass *pass, const tpti_loss_rule *rule) {
  size_t count = counted(pass, rule->ignore_index);
  return count ? (float)(1.0 / (double)count) : 0.0f;
}

void tpti_step_logits(const tpti_pass *pass, float *logits) { tpti_head_logits(pass, logits); }

double tpti_step_loss(const tpti_pass *pass, const tpti_loss_rule *rule, const int32_t *targets) {
  memcpy(pass->acts->targets, targets, pass->M * sizeof *targets);
  tpti_head_loss(pass, rule);
  return total_loss(pass, rule);
}

/* ---- backward ---- */

/* From dh, the gradient of the last block's output, to the embedding. aux_coef 0: no auxiliary
 * loss. */
static void stream_backward(const tpti_pass *pass, double aux_coef, float *gradients) {
  const tpti_network *net = pass->net;
  const tpti_dims *d = &net->dims;
  const tpti_params *p = &net->params;
  tpti_acts *a = pass->acts;

  for (size_t l = d->L; l-- > 0;) tpti_block_backward(pass, l, entering(a, l), gradients);
  if (aux_coef > 0.0)
    tpti_zero_sum_backward(pass->run, a->dh, a->sums, (float)aux_coef, pass->M, d->D, d->N);
  float *dprofile = p->dc_profile == SIZE_MAX ? NULL : gradients + p->dc_profile;
  tpti_dc_inject_backward(pass->run, gradients + p->token_emb, dprofile, a->sums, a->dh, a->tokens,
                          net->profile != NULL, tpti_network_embedding_scale(net), pass->B, pass->T,
                          d->D);
}

void tpti_step_backward(const tpti_pass *pass, const tpti_loss_rule *rule, float *gradients) {
  tpti_run_span(pass->run, 0.0, head_begins);
  tpti_head_gradients(pass, rule, row_weight(pass, rule), gradients);
  tpti_run_span(pass->run, head_begins, 1.0);
  stream_backward(pass, rule->aux_coef, gradients);
}

void tpti_step_backward_logits(const tpti_pass *pass, const float *dlogits, float *gradients) {
  tpti_run_span(pass->run, 0.0, head_begins);
  tpti_head_backward(pass, dlogits, gradients);
  tpti_run_span(pass->run, head_begins, 1.0);
  stream_backward(pass, 0.0, gradients);
}

double tpti_step_accumulate(const tpti_pass *pass, const tpti_loss_rule *rule,
                            const int32_t *targets, float *gradients) {
  memcpy(pass->acts->targets, targets, pass->M * sizeof *targets);
  tpti_run_span(pass->run, head_begins, head_ends);
  tpti_head_gradients(pass, rule, row_weight(pass, rule), gradients);
  double loss = total_loss(pass, rule);
  tpti_run_span(pass->run, head_ends, 1.0);
  if (isfinite(loss)) stream_backward(pass, rule->aux_coef, gradients);
  return loss;
}
