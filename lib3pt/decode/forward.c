/* The blocks over the rows of a prompt, each position reading its own r(p) and the cache. */
#include "decode/forward.h"

#include "decode/attend.h"
#include "kernel/kernel.h"
#include "op/dc_inject.h"
#include "op/linear.h"
#include "op/linear_held.h"
#include "op/linear_rows.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"
#include "op/swiglu.h"

typedef struct pass {
  tpti_run *run;
  const tpti_network *net;
  const tpti_dims *dims;
  const tpti_decode_work *work;
  const tpti_batch *rows;
  const tpti_sequence *sequence;
  size_t M, first, qkv; /* first: position of the first row */
  float eps;
} pass;

/* y [M, out] = base + x W^T. */
static void linear(tpti_run *run, const tpti_decode_work *work, float *y, const float *base,
                   const float *x, tpti_matrix w, size_t M, size_t out, size_t in) {
  if (M <= TPTI_FEW_ROWS) {
    tpti_linear_rows_run(run, &(tpti_linear_rows){y, base, x, w, out, M, out, in});
  } else if (w.form == TPTI_FORM_F32) {
    tpti_linear_forward(run, y, base, x, (tpti_weight){.w = w.values}, M, out, in);
  } else {
    tpti_linear_held(run, y, base, x, &w, work->floats, M, out, in);
  }
}

static void map(const pass *p, float *y, const float *base, const float *x, tpti_matrix w,
                size_t out, size_t in) {
  linear(p->run, p->work, y, base, x, w, p->M, out, in);
}

void tpti_decode_embed(const tpti_run *run, const tpti_network *net, float *x, int32_t token,
                       size_t position) {
  const tpti_matrix table = tpti_network_matrix(net, net->params.token_emb);
  const tpti_matrix row = tpti_matrix_from(table, net->dims.D, (size_t)token);
  const float *profile = net->profile ? net->profile + position : NULL;
  tpti_run alone = {.kernels = run->kernels};
  run->kernels->expand(x, &row, 1, net->dims.D);
  tpti_dc_inject_forward(&alone, x, &(int32_t){0}, x, profile, tpti_network_embedding_scale(net), 1,
                         1, net->dims.D);
}

static void embed_row(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const pass *p = argument;
  tpti_decode_embed(p->run, p->net, p->work->h + item * p->dims->D, p->rows->tokens[item],
                    p->first + item);
}

static void attend(const pass *p, size_t l) {
  tpti_decode_attend(p->run, &(tpti_attend){.net = p->net,
                                            .sequence = p->sequence,
                                            .layer = l,
                                            .first = p->first,
                                            .count = p->M,
                                            .heads = p->dims->K,
                                            .qkv = p->work->qkv,
                                            .y = p->work->y});
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
  const tpti_block_view w = tpti_network_block(p->net, l);
  const tpti_decode_work *a = p->work;

  norm(p, w.n1);
  map(p, a->qkv, NULL, a->n, w.qkv, p->qkv, d->D);
  attend(p, l);
  map(p, a->h, a->h, a->y, w.o, d->D, d->D);
  rotate(p, l);
  norm(p, w.n2);
  map(p, a->gate_up, NULL, a->n, w.gate_up, 2 * d->F, d->D);
  tpti_swiglu_forward(p->run, a->act, a->gate_up, p->M, d->F);
  map(p, a->h, a->h, a->act, w.down, d->D, d->F);
}

void tpti_decode_forward(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                         const tpti_batch *rows) {
  const tpti_dims *d = &net->dims;
  pass p = {.run = run,
            .net = net,
            .dims = d,
            .work = work,
            .rows = rows,
            .sequence = rows->sequences[0],
            .M = rows->count,
            .first = rows->sequences[0]->position + rows->ahead,
            .qkv = tpti_dims_qkv(d),
            .eps = (float)d->norm_eps};
  tpti_parallel(run, p.M, embed_row, &p);
  for (size_t l = 0; l < d->L && !run->stopped; l++) {
    double share = (double)l / (double)d->L;
    tpti_run_at(run, ((double)rows->ahead + (double)p.M * share) / (double)rows->total);
    block(&p, l);
  }
  norm(&p, tpti_network_vector(net, net->params.norm_f));
}

void tpti_decode_head(tpti_run *run, const tpti_network *net, const tpti_decode_work *work,
                      size_t first, size_t count, float *logits) {
  const tpti_dims *d = &net->dims;
  linear(run, work, logits, NULL, work->n + first * d->D,
         tpti_network_matrix(net, net->params.head), count, d->V, d->D);
}
