/* The blocks over a few rows, each position reading its own r(p) and the cache of its sequence. */
#include "decode/forward.h"

#include <string.h>

#include "op/attention.h"
#include "op/dc_inject.h"
#include "op/linear.h"
#include "op/linear_rows.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"
#include "op/rope.h"
#include "op/swiglu.h"

/* Up to so many rows a product is bound by reading the weights once; above, by arithmetic. */
enum { FEW_ROWS = 4 };

typedef struct pass {
  tpti_run *run;
  const tpti_network *net;
  const tpti_dims *dims;
  tpti_decode_work *work;
  const tpti_batch *rows;
  size_t M, qkv, E, KE;
  float eps;
} pass;

/* y [M, out] = base + x W^T. Rows of several sequences always take the way that gives each row the
 * bits it has alone. */
static void linear(const pass *p, float *y, const float *base, const float *x, const float *w,
                   size_t out, size_t in) {
  if (p->rows->many || p->M <= FEW_ROWS)
    tpti_linear_rows(p->run, y, base, x, w, p->M, out, in);
  else
    tpti_linear_forward(p->run, y, base, x, (tpti_weight){.w = w}, p->M, out, in);
}

static tpti_sequence *sequence_of(const pass *p, size_t row) {
  return p->rows->sequences[p->rows->many ? row : 0];
}

/* Runs of rows that are consecutive positions of one sequence: all rows, or one. */
static size_t run_length(const pass *p) { return p->rows->many ? 1 : p->M; }

static size_t position_of(const pass *p, size_t row) {
  return sequence_of(p, row)->position + p->rows->ahead + (p->rows->many ? 0 : row);
}

static void embed(const pass *p) {
  const tpti_network *net = p->net;
  size_t step = run_length(p);
  for (size_t r = 0; r < p->M; r += step) {
    const float *profile = net->profile ? net->profile + position_of(p, r) : NULL;
    tpti_dc_inject_forward(p->run, p->work->h + r * p->dims->D, p->rows->tokens + r,
                           net->weights + net->params.token_emb, profile,
                           tpti_network_embedding_scale(net), 1, step, p->dims->D);
  }
}

/* Turns q and k by their positions and puts k and v into the caches of layer l. */
static void rope_and_store(const pass *p, size_t l) {
  const tpti_dims *d = p->dims;
  size_t step = run_length(p);
  for (size_t r = 0; r < p->M; r += step)
    tpti_rope_forward(p->run, p->work->qkv + r * p->qkv, p->qkv, d->H + d->K, p->net->rope_cosine,
                      p->net->rope_sine, position_of(p, r), step, step, p->E);
  for (size_t r = 0; r < p->M; r++) {
    tpti_sequence *s = sequence_of(p, r);
    size_t at = (l * s->room + position_of(p, r)) * p->KE;
    const float *k = p->work->qkv + r * p->qkv + d->D;
    memcpy(s->keys + at, k, p->KE * sizeof(float));
    memcpy(s->values + at, k + p->KE, p->KE * sizeof(float));
  }
}

/* Attention of `count` rows from `row`, consecutive positions of one sequence. */
static void attend_run(const pass *p, tpti_run *run, size_t l, size_t row, size_t count) {
  const tpti_dims *d = p->dims;
  const tpti_sequence *s = sequence_of(p, row);
  size_t layer = l * s->room * p->KE;
  const tpti_attention shape = {.B = 1,
                                .T = count,
                                .first = position_of(p, row),
                                .H = d->H,
                                .K = d->K,
                                .E = p->E,
                                .q_stride = p->qkv,
                                .kv_stride = p->KE,
                                .y_stride = d->D,
                                .kv_batch_stride = s->room * p->KE};
  tpti_attention_forward(run, p->work->y + row * d->D, NULL, p->work->qkv + row * p->qkv,
                         s->keys + layer, s->values + layer, &shape);
}

typedef struct each_row {
  const pass *pass;
  size_t layer;
} each_row;

static void attend_row(void *argument, size_t item, void *scratch) {
  const each_row *e = argument;
  tpti_run alone = {.kernels = e->pass->run->kernels, .scratch = scratch};
  attend_run(e->pass, &alone, e->layer, item, 1);
}

static void attend(const pass *p, size_t l) {
  each_row e = {p, l};
  if (p->rows->many)
    tpti_parallel(p->run, p->M, attend_row, &e);
  else
    attend_run(p, p->run, l, 0, p->M);
}

static void rotate(const pass *p, size_t l) {
  const tpti_dims *d = p->dims;
  if (d->rotation == TPTI_ROTATION_NONE) return;
  size_t at = l * (d->D / 2);
  tpti_phase_rotate_forward(p->run, p->work->h, p->work->h, p->work->cosine + at,
                            p->work->sine + at, d->rotation == TPTI_ROTATION_RESIDUAL, p->M, d->D);
}

static void norm(const pass *p, const float *gain) {
  tpti_phase_norm_forward(p->run, p->work->n, NULL, p->work->h, gain, p->eps, p->M, p->dims->D,
                          p->dims->N);
}

static void block(const pass *p, size_t l) {
  const tpti_dims *d = p->dims;
  const tpti_block_params w = tpti_params_block(&p->net->params, p->net->weights, l);
  tpti_decode_work *a = p->work;

  norm(p, w.n1);
  linear(p, a->qkv, NULL, a->n, w.qkv, p->qkv, d->D);
  rope_and_store(p, l);
  attend(p, l);
  linear(p, a->h, a->h, a->y, w.o, d->D, d->D);
  rotate(p, l);
  norm(p, w.n2);
  linear(p, a->gate_up, NULL, a->n, w.gate_up, 2 * d->F, d->D);
  tpti_swiglu_forward(p->run, a->act, a->gate_up, p->M, d->F);
  linear(p, a->h, a->h, a->act, w.down, d->D, d->F);
}

void tpti_decode_forward(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                         const tpti_batch *rows) {
  const tpti_dims *d = &net->dims;
  size_t E = tpti_dims_E(d), KE = d->K * E;
  const pass p = {.run = run,
                  .net = net,
                  .dims = d,
                  .work = work,
                  .rows = rows,
                  .M = rows->count,
                  .qkv = d->D + 2 * KE,
                  .E = E,
                  .KE = KE,
                  .eps = (float)d->norm_eps};
  embed(&p);
  for (size_t l = 0; l < d->L && !run->stopped; l++) {
    double share = (double)l / (double)d->L;
    tpti_run_at(run, ((double)rows->ahead + (double)p.M * share) / (double)rows->total);
    block(&p, l);
  }
  norm(&p, net->weights + net->params.norm_f);
}

void tpti_decode_head(tpti_run *run, const tpti_network *net, const tpti_decode_work *work,
                      size_t first, size_t count, bool alone, float *logits) {
  const tpti_dims *d = &net->dims;
  const float *x = work->n + first * d->D, *w = net->weights + net->params.head;
  if (alone || count <= FEW_ROWS)
    tpti_linear_rows(run, logits, NULL, x, w, count, d->V, d->D);
  else
    tpti_linear_forward(run, logits, NULL, x, (tpti_weight){.w = w}, count, d->V, d->D);
}
