/* Groups and tiles of a block's rows: see block_rows.h. */
#include "model/block_rows.h"

#include "base/size.h"
#include "op/rows.h"

tpti_block_weights tpti_block_weights_of(const tpti_pass *pass, size_t l) {
  const tpti_network *net = pass->net;
  const tpti_acts *a = pass->acts;
  const tpti_block_params w = tpti_params_block(&net->params, net->weights, l);
  return (tpti_block_weights){.qkv = {w.qkv, a->forward.qkv, a->input.qkv},
                              .o = {w.o, a->forward.o, a->input.o},
                              .gate_up = {w.gate_up, a->forward.gate_up, a->input.gate_up},
                              .down = {w.down, a->forward.down, a->input.down},
                              .n1 = w.n1,
                              .n2 = w.n2,
                              .cosine = a->cosine + l * (net->dims.D / 2),
                              .sine = a->sine + l * (net->dims.D / 2)};
}

/* ---- groups of rows ---- */

tpti_group tpti_group_at(const tpti_pass *pass, size_t first) {
  size_t left = pass->M - first, most = tpti_acts_sequences(pass->T) * pass->T;
  return (tpti_group){first, pass->run->stopped ? 0 : tpti_least(left, most)};
}

tpti_group tpti_group_next(const tpti_pass *pass, tpti_group g) {
  return tpti_group_at(pass, g.first + g.rows);
}

/* A block's activations of the group: kept of all rows, or shared by all groups. */
static tpti_block_acts acts_of(const tpti_acts *a, size_t l, const tpti_dims *d, size_t first) {
  tpti_block_acts at = a->blocks[l];
  size_t inside = a->recompute ? 0 : first;
  at.rstd1 += inside * d->N;
  at.rstd2 += inside * d->N;
  at.qkv += inside * tpti_dims_qkv(d);
  at.lse += inside * d->H;
  at.y += inside * d->D;
  at.attended += inside * d->D;
  at.rotated += inside * d->D;
  at.gate_up += inside * 2 * d->F;
  at.out += first * d->D;
  return at;
}

tpti_block_rows tpti_block_group(const tpti_pass *pass, size_t l, const float *h, tpti_group g) {
  const tpti_dims *d = &pass->net->dims;
  const tpti_acts *a = pass->acts;
  return (tpti_block_rows){.run = pass->run,
                           .net = pass->net,
                           .dims = d,
                           .w = tpti_block_weights_of(pass, l),
                           .M = g.rows,
                           .fresh = pass->fresh && g.first == 0,
                           .qkv = tpti_dims_qkv(d),
                           .T = pass->T,
                           .at = acts_of(a, l, d, g.first),
                           .h = h + g.first * d->D,
                           .dh = a->dh + g.first * d->D,
                           .dattended = a->dattended,
                           .n = a->n,
                           .act = a->act,
                           .wide = a->wide,
                           .dn = a->dn,
                           .gain_partial = a->gain_partial,
                           .theta_partial = a->theta_partial};
}

/* ---- tiles of a group ---- */

typedef struct tiles {
  const tpti_block_rows *group;
  tpti_tile_fn *work;
  size_t rows; /* of a tile, whole blocks of rows */
} tiles;

/* Rows [first, first + rows) of a group, for which `run` works. */
static tpti_block_rows tile_of(const tpti_block_rows *group, tpti_run *run, size_t first,
                               size_t rows) {
  const tpti_dims *d = group->dims;
  size_t stream = first * d->D, row_block = first / TPTI_ROW_BLOCK;
  tpti_block_rows b = *group;
  b.run = run;
  b.M = rows;
  b.first = first;
  b.at.rstd1 += first * d->N;
  b.at.rstd2 += first * d->N;
  b.at.qkv += first * b.qkv;
  b.at.y += stream;
  b.at.attended += stream;
  b.at.rotated += stream;
  b.at.gate_up += first * 2 * d->F;
  b.at.out += stream;
  b.h += stream;
  b.dh += stream;
  b.dattended += stream;
  b.n += stream;
  b.dn += stream;
  b.act += first * d->F;
  b.gain_partial += row_block * d->D;
  b.theta_partial += row_block * (d->D / 2);
  return b;
}

static void do_tile(void *argument, size_t item, void *scratch) {
  const tiles *t = argument;
  size_t first = item * t->rows, left = t->group->M - first;
  tpti_run run = tpti_run_begin_item(t->group->run, scratch);
  const tpti_block_rows tile = tile_of(t->group, &run, first, tpti_least(left, t->rows));
  t->work(&tile);
  tpti_run_end_item(t->group->run, &run);
}

void tpti_by_tiles(const tpti_block_rows *group, size_t most, tpti_tile_fn *work) {
  const tpti_pool *pool = group->run->pool;
  size_t threads = pool ? (size_t)tpti_pool_threads(pool) : 1;
  size_t fair = tpti_row_blocks(group->M / (2 * threads) + 1) * TPTI_ROW_BLOCK;
  tiles t = {group, work, tpti_least(fair, most)};
  tpti_parallel(group->run, tpti_ceil_div(group->M, t.rows), do_tile, &t);
}
