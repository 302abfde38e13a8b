/* The head, a chunk of rows at a time (head.h). */
#include "model/head.h"

#include <string.h>

#include "op/cross_entropy.h"
#include "op/linear.h"
#include "op/phase_norm.h"

/* Rows [first, first + count) of the pass. */
typedef struct chunk {
  const tpti_pass *pass;
  size_t first, count;
} chunk;

/* The next chunk; count is 0 past the last, and where the run was stopped. */
static chunk chunk_at(const tpti_pass *pass, size_t first) {
  size_t left = pass->run->stopped ? 0 : pass->M - first, most = pass->acts->chunk;
  tpti_run_at(pass->run, (double)first / (double)pass->M);
  return (chunk){pass, first, left < most ? left : most};
}

static chunk next_chunk(const chunk *c) { return chunk_at(c->pass, c->first + c->count); }

/* Their rows of what the head reads. */
static const float *final_of(const chunk *c) {
  return c->pass->acts->final + c->first * c->pass->net->dims.D;
}

static tpti_weight weight_of(const chunk *c) {
  return (tpti_weight){.w = c->pass->net->weights + c->pass->net->params.head};
}

static void forward(const chunk *c, float *logits) {
  const tpti_dims *d = &c->pass->net->dims;
  tpti_touch(c->pass->run, logits, c->count * d->V * sizeof *logits);
  tpti_linear_forward(c->pass->run, logits, NULL, final_of(c), weight_of(c), c->count, d->V, d->D);
}

/* dh's rows, and the gain's part. */
static void norm_backward(const chunk *c, float *dgain) {
  const tpti_network *net = c->pass->net;
  const tpti_dims *d = &net->dims;
  const tpti_acts *a = c->pass->acts;
  float *dh = a->dh + c->first * d->D;
  const float *h = a->blocks[d->L - 1].out + c->first * d->D;
  memset(dh, 0, c->count * d->D * sizeof *dh);
  tpti_phase_norm_backward(c->pass->run, dh, a->gain_partial, a->dn, h, a->rstd_f + c->first * d->N,
                           net->weights + net->params.norm_f, c->count, d->D, d->N);
  if (!c->pass->run->stopped) tpti_phase_norm_backward_gain(dgain, a->gain_partial, c->count, d->D);
}

/* dh's rows and the gradients of head and final norm, from dlogits. */
static void backward(const chunk *c, const float *dlogits, float *gradients) {
  const tpti_params *p = &c->pass->net->params;
  const tpti_dims *d = &c->pass->net->dims;
  float *dw = gradients + p->head;
  const float *before = c->pass->fresh && c->first == 0 ? NULL : dw;
  tpti_linear_backward_weight(c->pass->run, dw, before, dlogits, final_of(c), c->count, d->V, d->D);
  tpti_linear_backward_input(c->pass->run, c->pass->acts->dn, NULL, dlogits, weight_of(c), c->count,
                             d->V, d->D);
  norm_backward(c, gradients + p->norm_f);
}

void tpti_head_logits(const tpti_pass *pass, float *logits) {
  for (chunk c = chunk_at(pass, 0); c.count; c = next_chunk(&c))
    forward(&c, logits + c.first * pass->net->dims.V);
}

void tpti_head_loss(const tpti_pass *pass, const tpti_loss_rule *rule) {
  tpti_acts *a = pass->acts;
  for (chunk c = chunk_at(pass, 0); c.count; c = next_chunk(&c)) {
    forward(&c, a->logits);
    tpti_cross_entropy_forward(pass->run, a->row_loss + c.first, a->logits, a->targets + c.first,
                               rule->ignore_index, c.count, pass->net->dims.V);
  }
}

void tpti_head_gradients(const tpti_pass *pass, const tpti_loss_rule *rule, float weight,
                         float *gradients) {
  tpti_acts *a = pass->acts;
  for (chunk c = chunk_at(pass, 0); c.count; c = next_chunk(&c)) {
    forward(&c, a->logits);
    tpti_cross_entropy_both(pass->run, a->row_loss + c.first, a->logits, a->targets + c.first,
                            rule->ignore_index, weight, c.count, pass->net->dims.V);
    backward(&c, a->logits, gradients);
  }
}

void tpti_head_backward(const tpti_pass *pass, const float *dlogits, float *gradients) {
  for (chunk c = chunk_at(pass, 0); c.count; c = next_chunk(&c))
    backward(&c, dlogits + c.first * pass->net->dims.V, gradients);
}
