/* One block:
 *
 *   attended = h + W_o Attn(PhaseNorm1(h))
 *   rotated  = R_l attended
 *   out      = rotated + W_down SwiGLU(PhaseNorm2(rotated))
 *
 * and the same lines read backward. Some sequences at a time, a group, go through it. What each
 * position does alone is done by tiles of rows: a thread takes a tile through a whole chain of
 * operations, which find it in its cache. Attention, and the weights' gradients, which sum over
 * rows, are done for the group at once. */
#include "model/block.h"

#include <string.h>

#include "base/size.h"
#include "model/block_rows.h"
#include "op/attention.h"
#include "op/linear.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"
#include "op/rope.h"
#include "op/swiglu.h"

/* RoPE on q and k, or its inverse, sequence by sequence: a tile may begin within one. */
static void turn(const tpti_block_rows *b, float *qkv,
                 void rope(tpti_run *, float *, size_t, size_t, const float *, const float *,
                           size_t, size_t, size_t, size_t)) {
  const tpti_dims *d = b->dims;
  size_t position = b->first % b->T;
  for (size_t row = 0, rows; row < b->M; row += rows, position = 0) {
    rows = tpti_least(b->T - position, b->M - row);
    rope(b->run, qkv + row * b->qkv, b->qkv, d->H + d->K, b->net->rope_cosine, b->net->rope_sine,
         position, rows, rows, tpti_dims_E(d));
  }
}

static tpti_attention attention_shape(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  return (tpti_attention){.B = b->M / b->T,
                          .T = b->T,
                          .H = d->H,
                          .K = d->K,
                          .E = tpti_dims_E(d),
                          .q_stride = b->qkv,
                          .kv_stride = b->qkv,
                          .y_stride = d->D,
                          .kv_batch_stride = b->T * b->qkv};
}

/* ---- forward ---- */

static void ask(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_phase_norm_forward(b->run, b->n, b->at.rstd1, b->h, b->w.n1, (float)d->norm_eps, b->M, d->D,
                          d->N);
  tpti_linear_forward(b->run, b->at.qkv, NULL, b->n, b->w.qkv, b->M, b->qkv, d->D);
  turn(b, b->at.qkv, tpti_rope_forward);
}

static void attend(const tpti_block_rows *b) {
  const tpti_attention shape = attention_shape(b);
  const float *q = b->at.qkv, *k = q + b->dims->D, *v = k + shape.K * shape.E;
  tpti_attention_forward(b->run, b->at.y, b->at.lse, q, k, v, &shape);
}

static void rotate(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_linear_forward(b->run, b->at.attended, b->h, b->at.y, b->w.o, b->M, d->D, d->D);
  if (d->rotation == TPTI_ROTATION_NONE) return;
  tpti_phase_rotate_forward(b->run, b->at.rotated, b->at.attended, b->w.cosine, b->w.sine,
                            d->rotation == TPTI_ROTATION_RESIDUAL, b->M, d->D);
}

static void gate(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_phase_norm_forward(b->run, b->n, b->at.rstd2, b->at.rotated, b->w.n2, (float)d->norm_eps,
                          b->M, d->D, d->N);
  tpti_linear_forward(b->run, b->at.gate_up, NULL, b->n, b->w.gate_up, b->M, 2 * d->F, d->D);
}

static void feed_forward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  rotate(b);
  gate(b);
  tpti_swiglu_forward(b->run, b->act, b->at.gate_up, b->M, d->F);
  tpti_linear_forward(b->run, b->at.out, b->at.rotated, b->act, b->w.down, b->M, d->D, d->F);
}

/* The block's matrices, packed by `form` to where `to` says. */
typedef void pack_form(tpti_run *run, void *packed, const float *w, size_t out, size_t in);

static void pack(const tpti_pass *pass, size_t l, const tpti_packed *to, pack_form *form) {
  const tpti_dims *d = &pass->net->dims;
  const tpti_block_weights w = tpti_block_weights_of(pass, l);
  form(pass->run, to->qkv, w.qkv.w, tpti_dims_qkv(d), d->D);
  form(pass->run, to->o, w.o.w, d->D, d->D);
  form(pass->run, to->gate_up, w.gate_up.w, 2 * d->F, d->D);
  form(pass->run, to->down, w.down.w, d->D, d->F);
}

/* How far a walk over the blocks is, after `blocks` of them and the rows before g. */
static void report(const tpti_pass *pass, size_t blocks, tpti_group g) {
  double share = (double)g.first / (double)pass->M;
  tpti_run_at(pass->run, ((double)blocks + share) / (double)pass->net->dims.L);
}

void tpti_block_forward(const tpti_pass *pass, size_t l, const float *h) {
  size_t rows = pass->acts->tile;
  pack(pass, l, &pass->acts->forward, tpti_linear_pack_forward);
  for (tpti_group g = tpti_group_at(pass, 0); g.rows; g = tpti_group_next(pass, g)) {
    const tpti_block_rows b = tpti_block_group(pass, l, h, g);
    report(pass, l, g);
    tpti_by_tiles(&b, rows, ask);
    attend(&b);
    tpti_by_tiles(&b, rows, feed_forward);
  }
}

/* ---- backward: dh comes in as the gradient of `out` and leaves as that of h ---- */

static void rotate_and_gate(const tpti_block_rows *b) {
  rotate(b);
  gate(b);
}

/* What the shared insides held: all that a gradient reads. */
static void recompute(const tpti_block_rows *b, size_t rows) {
  tpti_by_tiles(b, rows, ask);
  attend(b);
  tpti_by_tiles(b, rows, rotate_and_gate);
}

/* gate_up becomes its gradient, and n and act what its and down's weights multiplied. */
static void gate_backward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  float *dact = b->wide + b->first * d->F, *dgate_up = b->at.gate_up;
  tpti_linear_backward_input(b->run, dact, NULL, b->dh, b->w.down, b->M, d->D, d->F);
  tpti_swiglu_backward(b->run, dgate_up, b->act, dact, b->at.gate_up, b->M, d->F);
}

/* dattended from dh, through the norm and the rotation. */
static void stream_backward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_linear_backward_input(b->run, b->dn, NULL, b->at.gate_up, b->w.gate_up, b->M, 2 * d->F,
                             d->D);
  memcpy(b->dattended, b->dh, b->M * d->D * sizeof *b->dh);
  tpti_phase_norm_backward(b->run, b->dattended, b->gain_partial, b->dn, b->at.rotated, b->at.rstd2,
                           b->w.n2, b->M, d->D, d->N);
  if (d->rotation == TPTI_ROTATION_NONE) return;
  tpti_phase_rotate_backward(b->run, b->dattended, b->theta_partial, b->dattended, b->at.attended,
                             b->w.cosine, b->w.sine, d->rotation == TPTI_ROTATION_RESIDUAL, b->M,
                             d->D);
}

/* dn becomes the gradient of y. */
static void output_backward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_linear_backward_input(b->run, b->dn, NULL, b->dattended, b->w.o, b->M, d->D, d->D);
}

static void feed_forward_backward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  tpti_phase_norm_forward(b->run, b->n, NULL, b->at.rotated, b->w.n2, (float)d->norm_eps, b->M,
                          d->D, d->N);
  gate_backward(b);
  stream_backward(b);
  output_backward(b);
}

/* The gradient of a matrix, to be added to, or NULL where this group is the first to write it. */
static const float *before(const tpti_block_rows *b, const float *gradient) {
  return b->fresh ? NULL : gradient;
}

static void feed_forward_gradients(const tpti_block_rows *b, const tpti_block_params *g) {
  const tpti_dims *d = b->dims;
  if (b->run->stopped) return;
  tpti_linear_backward_weight(b->run, g->down, before(b, g->down), b->dh, b->act, b->M, d->D, d->F);
  tpti_linear_backward_weight(b->run, g->gate_up, before(b, g->gate_up), b->at.gate_up, b->n, b->M,
                              2 * d->F, d->D);
  tpti_linear_backward_weight(b->run, g->o, before(b, g->o), b->dattended, b->at.y, b->M, d->D,
                              d->D);
  tpti_phase_norm_backward_gain(g->n2, b->gain_partial, b->M, d->D);
  if (d->rotation != TPTI_ROTATION_NONE)
    tpti_phase_rotate_backward_theta(g->theta, b->theta_partial, b->M, d->D, d->N);
}

/* wide becomes the gradient of q, k and v. */
static void attention_backward(const tpti_block_rows *b, float *work) {
  const tpti_attention shape = attention_shape(b);
  const float *q = b->at.qkv, *k = q + b->dims->D, *v = k + shape.K * shape.E;
  float *dq = b->wide, *dk = dq + b->dims->D, *dv = dk + shape.K * shape.E;
  tpti_attention_backward(b->run, dq, dk, dv, work, b->dn, b->at.y, b->at.lse, q, k, v, &shape);
}

/* dh from dattended and what attention gave, and n again. */
static void ask_backward(const tpti_block_rows *b) {
  const tpti_dims *d = b->dims;
  float *dqkv = b->wide + b->first * b->qkv;
  turn(b, dqkv, tpti_rope_backward);
  tpti_phase_norm_forward(b->run, b->n, NULL, b->h, b->w.n1, (float)d->norm_eps, b->M, d->D, d->N);
  tpti_linear_backward_input(b->run, b->dn, NULL, dqkv, b->w.qkv, b->M, b->qkv, d->D);
  memcpy(b->dh, b->dattended, b->M * d->D * sizeof *b->dh);
  tpti_phase_norm_backward(b->run, b->dh, b->gain_partial, b->dn, b->h, b->at.rstd1, b->w.n1, b->M,
                           d->D, d->N);
}

static void ask_gradients(const tpti_block_rows *b, const tpti_block_params *g) {
  const tpti_dims *d = b->dims;
  if (b->run->stopped) return;
  tpti_linear_backward_weight(b->run, g->qkv, before(b, g->qkv), b->wide, b->n, b->M, b->qkv, d->D);
  tpti_phase_norm_backward_gain(g->n1, b->gain_partial, b->M, d->D);
}

void tpti_block_backward(const tpti_pass *pass, size_t l, const float *h, float *gradients) {
  const tpti_acts *a = pass->acts;
  const tpti_block_params to = tpti_params_block(&pass->net->params, gradients, l);
  pack(pass, l, &a->input, tpti_linear_pack_input);
  if (a->recompute) pack(pass, l, &a->forward, tpti_linear_pack_forward);
  for (tpti_group g = tpti_group_at(pass, 0); g.rows; g = tpti_group_next(pass, g)) {
    const tpti_block_rows b = tpti_block_group(pass, l, h, g);
    report(pass, pass->net->dims.L - 1 - l, g);
    if (a->recompute) recompute(&b, a->tile);
    tpti_by_tiles(&b, a->tile, feed_forward_backward);
    feed_forward_gradients(&b, &to);
    attention_backward(&b, a->attention);
    tpti_by_tiles(&b, a->tile, ask_backward);
    ask_gradients(&b, &to);
  }
}
