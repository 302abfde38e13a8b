/* Causal attention (op/attention.h): how much work space it takes, and which way it goes, in
 * float32 or on bf16 tiles. */
#include "op/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/attention_amx.h"
#include "op/attention_f32.h"

void tpti_attention_forward(tpti_run *run, float *y, double *lse, const float *q, const float *k,
                            const float *v, const tpti_attention *a) {
  const tpti_scores *scores = tpti_attention_amx_choose(run, a);
  tpti_attention_forward_job f = {
      run->kernels, scores, y, lse, q, k, v, a, {0}, 1.0f / sqrtf((float)a->E)};
  if (a->T == 1) {
    tpti_attention_f32_single(run, &f);
    return;
  }
  f.cut = scores ? tpti_attention_amx_cut(a) : tpti_attention_f32_cut(a);
  tpti_parallel(run, tpti_attention_items(&f.cut, a),
                scores ? tpti_attention_amx_forward : tpti_attention_f32_forward, &f);
}

/* ---- backward ---- */

static tpti_attention_cut backward_cut(const tpti_attention *a) {
  return tpti_attention_cut_of(a, a->T, 1, SIZE_MAX);
}

size_t tpti_attention_work(const tpti_attention *a) {
  tpti_attention_cut c = backward_cut(a);
  return a->B * a->T * a->H * (c.chunks > 1 ? 2 * a->E + 1 : 1);
}

size_t tpti_attention_work_most(const tpti_attention *a, size_t room, size_t longest) {
  if (a->H == a->K) return room * a->H;
  size_t sequences = (TPTI_ATTENTION_ENOUGH - 1) / a->K; /* with more, heads stay together */
  size_t apart = tpti_least(room, sequences * longest);
  size_t together = room * a->H, cut_apart = apart * a->H * (2 * a->E + 1);
  return tpti_most(together, cut_apart);
}

/* dk and dv of a block of positions of one key/value head: sums over its query heads, in order. */
static void gather_item(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const tpti_attention_backward_job *g = argument;
  const tpti_attention *a = g->a;
  size_t group = a->H / a->K, blocks = tpti_row_blocks(a->T), lane = item / blocks;
  size_t u = item % blocks * TPTI_ROW_BLOCK, end = tpti_least(a->T, u + TPTI_ROW_BLOCK);
  tpti_attention_piece p = {.b = lane / a->K, .kv = lane % a->K, .head = lane % a->K * group};
  for (; u < end; u++) {
    tpti_attention_sink from = tpti_attention_sink_of(g, &p, u);
    size_t kv = tpti_kv_at(a, p.b, u, p.kv), apart = a->T * a->E;
    float *dk = g->dk + kv, *dv = g->dv + kv;
    memcpy(dk, from.dk, a->E * sizeof *dk), memcpy(dv, from.dv, a->E * sizeof *dv);
    for (size_t h = 1; h < group; h++)
      for (size_t e = 0; e < a->E; e++) {
        dk[e] += from.dk[h * apart + e];
        dv[e] += from.dv[h * apart + e];
      }
  }
}

void tpti_attention_backward(tpti_run *run, float *dq, float *dk, float *dv, float *work,
                             const float *dy, const float *y, const double *lse, const float *q,
                             const float *k, const float *v, const tpti_attention *a) {
  assert(a->first == 0);
  const tpti_scores *scores = tpti_attention_amx_choose(run, a);
  tpti_attention_backward_job g = {
      .run = run, .kernels = run->kernels, .scores = scores, .dq = dq, .dk = dk, .dv = dv};
  g.work = work;
  g.dy = dy, g.y = y, g.lse = lse, g.q = q, g.k = k, g.v = v, g.a = a;
  g.cut = backward_cut(a), g.scale = 1.0f / sqrtf((float)a->E);
  tpti_parallel(run, tpti_attention_items(&g.cut, a),
                scores ? tpti_attention_amx_backward : tpti_attention_f32_backward, &g);
  if (g.cut.chunks == 1) return;
  tpti_parallel(run, a->B * a->K * tpti_row_blocks(a->T), gather_item, &g);
}
