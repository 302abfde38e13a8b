/* Forward, loss and backward of the whole network (DESIGN section 2). */
#include "model/step.h"

#include <math.h>
#include <string.h>

#include "op/cross_entropy.h"
#include "op/dc_inject.h"
#include "op/linear.h"
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

/* ---- the head, a chunk of rows at a time ---- */

/* Rows [first, first + rows) of the logits. */
typedef struct chunk {
  size_t first, rows;
} chunk;

static chunk chunk_at(const tpti_pass *pass, size_t first) {
  size_t left = pass->M - first;
  return (chunk){first, left < pass->acts->chunk ? left : pass->acts->chunk};
}

static void head_forward(const tpti_pass *pass, chunk c, float *logits) {
  const tpti_dims *d = &pass->net->dims;
  tpti_run_at(pass->run, (double)c.first / (double)pass->M);
  tpti_linear_forward(pass->run, logits, NULL, pass->acts->final + c.first * d->D,
                      (tpti_weight){.w = pass->net->weights + pass->net->params.head}, c.rows, d->V,
                      d->D);
}

/* dh's rows of the chunk, and the gradients of head and final norm, from dlogits. */
static void head_backward(const tpti_pass *pass, chunk c, const float *dlogits, float *gradients) {
  const tpti_network *net = pass->net;
  const tpti_dims *d = &net->dims;
  tpti_acts *a = pass->acts;
  size_t head = net->params.head, at = c.first * d->D;
  const float *before = pass->fresh && c.first == 0 ? NULL : gradients + head;
  tpti_linear_backward_weight(pass->run, gradients + head, before, dlogits, a->final + at, c.rows,
                              d->V, d->D);
  tpti_linear_backward_input(pass->run, a->dn, NULL, dlogits,
                             (tpti_weight){.w = net->weights + head}, c.rows, d->V, d->D);
  memset(a->dh + at, 0, c.rows * d->D * sizeof(float));
  tpti_phase_norm_backward(pass->run, a->dh + at, a->gain_partial, a->dn, entering(a, d->L) + at,
                           a->rstd_f + c.first * d->N, net->weights + net->params.norm_f, c.rows,
                           d->D, d->N);
  if (!pass->run->stopped)
    tpti_phase_norm_backward_gain(gradients + net->params.norm_f, a->gain_partial, c.rows, d->D);
}

static void chunk_loss(const tpti_pass *pass, const tpti_loss_rule *rule, chunk c) {
  tpti_acts *a = pass->acts;
  tpti_cross_entropy_forward(pass->run, a->head_lse + c.first, a->row_loss + c.first, a->logits,
                             a->targets + c.first, rule->ignore_index, c.rows, pass->net->dims.V);
}

static void chunk_both(const tpti_pass *pass, const tpti_loss_rule *rule, chunk c, float weight) {
  tpti_acts *a = pass->acts;
  tpti_cross_entropy_both(pass->run, a->row_loss + c.first, a->logits, a->targets + c.first,
                          rule->ignore_index, weight, c.rows, pass->net->dims.V);
}

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

void tpti_step_logits(const tpti_pass *pass, float *logits) {
  for (chunk c = chunk_at(pass, 0); c.rows; c = chunk_at(pass, c.first + c.rows))
    head_forward(pass, c, logits + c.first * pass->net->dims.V);
}

double tpti_step_loss(const tpti_pass *pass, const tpti_loss_rule *rule, const int32_t *targets) {
  memcpy(pass->acts->targets, targets, pass->M * sizeof *targets);
  for (chunk c = chunk_at(pass, 0); c.rows; c = chunk_at(pass, c.first + c.rows)) {
    head_forward(pass, c, pass->acts->logits);
    chunk_loss(pass, rule, c);
  }
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
  float weight = row_weight(pass, rule);
  tpti_run_span(pass->run, 0.0, head_begins);
  for (chunk c = chunk_at(pass, 0); c.rows; c = chunk_at(pass, c.first + c.rows)) {
    head_forward(pass, c, pass->acts->logits);
    chunk_both(pass, rule, c, weight);
    head_backward(pass, c, pass->acts->logits, gradients);
  }
  tpti_run_span(pass->run, head_begins, 1.0);
  stream_backward(pass, rule->aux_coef, gradients);
}

void tpti_step_backward_logits(const tpti_pass *pass, const float *dlogits, float *gradients) {
  for (chunk c = chunk_at(pass, 0); c.rows; c = chunk_at(pass, c.first + c.rows))
    head_backward(pass, c, dlogits + c.first * pass->net->dims.V, gradients);
  stream_backward(pass, 0.0, gradients);
}

double tpti_step_accumulate(const tpti_pass *pass, const tpti_loss_rule *rule,
                            const int32_t *targets, float *gradients) {
  memcpy(pass->acts->targets, targets, pass->M * sizeof *targets);
  float weight = row_weight(pass, rule);
  tpti_run_span(pass->run, head_begins, head_ends);
  for (chunk c = chunk_at(pass, 0); c.rows; c = chunk_at(pass, c.first + c.rows)) {
    head_forward(pass, c, pass->acts->logits);
    chunk_both(pass, rule, c, weight);
    head_backward(pass, c, pass->acts->logits, gradients);
  }
  double loss = total_loss(pass, rule);
  tpti_run_span(pass->run, head_ends, 1.0);
  if (isfinite(loss)) stream_backward(pass, rule->aux_coef, gradients);
  return loss;
}
