/* One block:
 *
 *   attended = h + W_o Attn(PhaseNorm1(h))
 *   rotated  = R_l attended
 *   out      = rotated + W_down SwiGLU(PhaseNorm2(rotated))
 *
 * and the same lines read backward. */
#include "model/block.h"

#include "op/attention.h"
#include "op/linear.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"
#include "op/rope.h"
#include "op/swiglu.h"

/* What a block's lines need beside the pass. */
typedef struct block {
  const tpti_pass *pass;
  tpti_run *run;
  const tpti_dims *dims;
  tpti_acts *work;
  tpti_block_acts at;         /* the pass's rows of this block's activations */
  float *dh;                  /* and of the stream's gradient */
  tpti_block_params w;        /* its weights */
  const float *cosine, *sine; /* [D / 2] of its rotation */
  float eps;
  size_t M, qkv; /* rows; width of q, k, v side by side */
} block;

/* The same arrays from row `first` on; `out` is kept of all rows, the insides perhaps of one group.
 */
static tpti_block_acts acts_from(const tpti_acts *a, size_t l, const tpti_dims *d, size_t first) {
  tpti_block_acts at = a->blocks[l];
  size_t inside = a->recompute ? 0 : first;
  return (tpti_block_acts){.rstd1 = at.rstd1 + inside * d->N,
                           .rstd2 = at.rstd2 + inside * d->N,
                           .qkv = at.qkv + inside * (d->D + 2 * d->K * tpti_dims_E(d)),
                           .lse = at.lse + inside * d->H,
                           .y = at.y + inside * d->D,
                           .attended = at.attended + inside * d->D,
                           .rotated = at.rotated + inside * d->D,
                           .gate_up = at.gate_up + inside * 2 * d->F,
                           .out = at.out + first * d->D};
}

static block block_of(const tpti_pass *pass, size_t l) {
  const tpti_dims *d = &pass->net->dims;
  return (block){.pass = pass,
                 .run = pass->run,
                 .dims = d,
                 .work = pass->acts,
                 .at = acts_from(pass->acts, l, d, pass->first),
                 .dh = pass->acts->dh + pass->first * d->D,
                 .w = tpti_params_block(&pass->net->params, pass->net->weights, l),
                 .cosine = pass->acts->cosine + l * (d->D / 2),
                 .sine = pass->acts->sine + l * (d->D / 2),
                 .eps = (float)d->norm_eps,
                 .M = pass->M,
                 .qkv = d->D + 2 * d->K * tpti_dims_E(d)};
}

static tpti_attention attention_shape(const block *b) {
  const tpti_dims *d = b->dims;
  return (tpti_attention){.B = b->pass->B,
                          .T = b->pass->T,
                          .H = d->H,
                          .K = d->K,
                          .E = tpti_dims_E(d),
                          .q_stride = b->qkv,
                          .kv_stride = b->qkv,
                          .y_stride = d->D,
                          .kv_batch_stride = b->pass->T * b->qkv};
}

/* ---- forward ---- */

static void attend(const block *b, const float *h) {
  const tpti_dims *d = b->dims;
  const tpti_network *net = b->pass->net;
  const tpti_attention shape = attention_shape(b);
  float *q = b->at.qkv, *k = q + d->D, *v = k + d->K * shape.E;

  tpti_phase_norm_forward(b->run, b->work->n, b->at.rstd1, h, b->w.n1, b->eps, b->M, d->D, d->N);
  tpti_linear_forward(b->run, q, NULL, b->work->n, (tpti_weight){.w = b->w.qkv}, b->M, b->qkv,
                      d->D);
  tpti_rope_forward(b->run, q, b->qkv, d->H + d->K, net->rope_cosine, net->rope_sine, 0, b->M,
                    b->pass->T, shape.E);
  tpti_attention_forward(b->run, b->at.y, b->at.lse, q, k, v, &shape);
  tpti_linear_forward(b->run, b->at.attended, h, b->at.y, (tpti_weight){.w = b->w.o}, b->M, d->D,
                      d->D);
}

static void rotate(const block *b) {
  const tpti_dims *d = b->dims;
  if (d->rotation == TPTI_ROTATION_NONE) return;
  tpti_phase_rotate_forward(b->run, b->at.rotated, b->at.attended, b->cosine, b->sine,
                            d->rotation == TPTI_ROTATION_RESIDUAL, b->M, d->D);
}

static void gate(const block *b) {
  const tpti_dims *d = b->dims;
  tpti_phase_norm_forward(b->run, b->work->n, b->at.rstd2, b->at.rotated, b->w.n2, b->eps, b->M,
                          d->D, d->N);
  tpti_linear_forward(b->run, b->at.gate_up, NULL, b->work->n, (tpti_weight){.w = b->w.gate_up},
                      b->M, 2 * d->F, d->D);
}

static void feed_forward(const block *b) {
  const tpti_dims *d = b->dims;
  tpti_swiglu_forward(b->run, b->work->act, b->at.gate_up, b->M, d->F);
  tpti_linear_forward(b->run, b->at.out, b->at.rotated, b->work->act, (tpti_weight){.w = b->w.down},
                      b->M, d->D, d->F);
}

void tpti_block_forward(const tpti_pass *pass, size_t l, const float *h) {
  const block b = block_of(pass, l);
  attend(&b, h);
  rotate(&b);
  gate(&b);
  feed_forward(&b);
}

/* ---- backward: dh comes in as the gradient of `out` and leaves as that of h ---- */

static void feed_forward_backward(const block *b, const tpti_block_params *g) {
  const tpti_dims *d = b->dims;
  tpti_acts *w = b->work;
  float *dact = w->wide, *dgate_up = b->at.gate_up;

  tpti_swiglu_forward(b->run, w->act, b->at.gate_up, b->M, d->F);
  tpti_linear_backward_weight(b->run, g->down, b->dh, w->act, b->M, d->D, d->F);
  tpti_linear_backward_input(b->run, dact, NULL, b->dh, (tpti_weight){.w = b->w.down}, b->M, d->D,
                             d->F);
  tpti_swiglu_backward(b->run, dgate_up, dact, b->at.gate_up, b->M, d->F);

  tpti_phase_norm_forward(b->run, w->n, NULL, b->at.rotated, b->w.n2, b->eps, b->M, d->D, d->N);
  tpti_linear_backward_weight(b->run, g->gate_up, dgate_up, w->n, b->M, 2 * d->F, d->D);
  tpti_linear_backward_input(b->run, w->dn, NULL, dgate_up, (tpti_weight){.w = b->w.gate_up}, b->M,
                             2 * d->F, d->D);
  tpti_phase_norm_backward(b->run, b->dh, g->n2, w->partial, w->dn, b->at.rotated, b->at.rstd2,
                           b->w.n2, b->M, d->D, d->N);
}

static void rotate_backward(const block *b, const tpti_block_params *g) {
  const tpti_dims *d = b->dims;
  if (d->rotation == TPTI_ROTATION_NONE) return;
  tpti_phase_rotate_backward(b->run, b->dh, g->theta, b->work->partial, b->dh, b->at.attended,
                             b->cosine, b->sine, d->rotation == TPTI_ROTATION_RESIDUAL, b->M, d->D,
                             d->N);
}

/* dqkv from the gradient of attended. */
static void attention_backward(const block *b, const tpti_block_params *g, float *dqkv) {
  const tpti_dims *d = b->dims;
  tpti_acts *w = b->work;
  const tpti_network *net = b->pass->net;
  const tpti_attention shape = attention_shape(b);
  size_t KE = d->K * shape.E;
  const float *q = b->at.qkv;
  float *dy = w->dn;

  tpti_linear_backward_weight(b->run, g->o, b->dh, b->at.y, b->M, d->D, d->D);
  tpti_linear_backward_input(b->run, dy, NULL, b->dh, (tpti_weight){.w = b->w.o}, b->M, d->D, d->D);
  tpti_attention_backward(b->run, dqkv, dqkv + d->D, dqkv + d->D + KE, w->attention, dy, b->at.y,
                          b->at.lse, q, q + d->D, q + d->D + KE, &shape);
  tpti_rope_backward(b->run, dqkv, b->qkv, d->H + d->K, net->rope_cosine, net->rope_sine, 0, b->M,
                     b->pass->T, shape.E);
}

static void attend_backward(const block *b, const float *h, const tpti_block_params *g) {
  const tpti_dims *d = b->dims;
  tpti_acts *w = b->work;
  float *dqkv = w->wide;

  attention_backward(b, g, dqkv);
  tpti_phase_norm_forward(b->run, w->n, NULL, h, b->w.n1, b->eps, b->M, d->D, d->N);
  tpti_linear_backward_weight(b->run, g->qkv, dqkv, w->n, b->M, b->qkv, d->D);
  tpti_linear_backward_input(b->run, w->dn, NULL, dqkv, (tpti_weight){.w = b->w.qkv}, b->M, b->qkv,
                             d->D);
  tpti_phase_norm_backward(b->run, b->dh, g->n1, w->partial, w->dn, h, b->at.rstd1, b->w.n1, b->M,
                           d->D, d->N);
}

/* Others have used the shared insides since: fill them again, all but what no gradient reads. */
static void recompute(const block *b, const float *h) {
  attend(b, h);
  rotate(b);
  gate(b);
}

void tpti_block_backward(const tpti_pass *pass, size_t l, const float *h, float *gradients) {
  const block b = block_of(pass, l);
  const tpti_block_params g = tpti_params_block(&pass->net->params, gradients, l);
  if (pass->acts->recompute) recompute(&b, h);
  feed_forward_backward(&b, &g);
  rotate_backward(&b, &g);
  attend_backward(&b, h, &g);
}
