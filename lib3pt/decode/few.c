/* Few rows through the whole network as one chain of stages: decoding, one token or one of each of
 * many sequences. Every map is cut into items of some rows of its weights; what lies between two of
 * them is small and is one item a row.
 *
 *   embed | norm 1 | qkv | attend | o | rotate, norm 2 | gate and up | down |, block by block |
 *   final norm | head
 */
#include <string.h>

#include "base/chain.h"
#include "decode/attend.h"
#include "decode/forward.h"
#include "kernel/kernel.h"
#include "op/linear_rows.h"
#include "op/phase_norm.h"
#include "op/phase_rotate.h"

typedef enum stage {
  EMBED,
  NORM_1, /* the first stage of a block */
  QKV,
  ATTEND,
  O,
  NORM_2,
  GATE_UP,
  DOWN, /* the last */
  NORM_F,
  HEAD,
  STAGES
} stage;

typedef struct few {
  tpti_run *run;
  const tpti_network *net;
  const tpti_dims *dims;
  const tpti_decode_work *work;
  const tpti_batch *rows;
  size_t M, qkv;
  tpti_rows_cut cuts[STAGES]; /* of the maps */
  size_t items[STAGES], block_items;
} few;

/* An item: the index-th of a stage. */
typedef struct place {
  stage stage;
  size_t layer, index;
  size_t first; /* number of the stage's first item */
} place;

static place place_of(const few *f, size_t item) {
  place p = {.stage = EMBED, .index = item};
  size_t blocks = f->dims->L * f->block_items;
  if (item < f->items[EMBED]) return p;
  p.first = f->items[EMBED];
  if (item - p.first < blocks) {
    p.layer = (item - p.first) / f->block_items;
    p.first += p.layer * f->block_items;
    p.stage = NORM_1;
  } else {
    p.first += blocks;
    p.stage = NORM_F;
  }
  while (item - p.first >= f->items[p.stage]) p.first += f->items[p.stage++];
  p.index = item - p.first;
  return p;
}

static tpti_sequence *sequence_of(const few *f, size_t row) {
  return f->rows->sequences[f->rows->many ? row : 0];
}

static size_t position_of(const few *f, size_t row) {
  return sequence_of(f, row)->position + f->rows->ahead + (f->rows->many ? 0 : row);
}

/* ---- rows ---- */

static void normalize(const few *f, size_t row, const float *gain) {
  const tpti_dims *d = f->dims;
  tpti_run alone = {.kernels = f->run->kernels};
  tpti_phase_norm_forward(&alone, f->work->n + row * d->D, NULL, f->work->h + row * d->D, gain,
                          (float)d->norm_eps, 1, d->D, d->N);
}

static const float *block_vector(const few *f, size_t l, size_t offset) {
  const tpti_params *p = &f->net->params;
  return tpti_network_vector(f->net, p->block_first + l * p->block_stride + offset);
}

static void rotate(const few *f, size_t l, size_t row) {
  const tpti_dims *d = f->dims;
  if (d->rotation == TPTI_ROTATION_NONE) return;
  float *h = f->work->h + row * d->D;
  size_t at = l * (d->D / 2);
  tpti_run alone = {.kernels = f->run->kernels};
  tpti_phase_rotate_forward(&alone, h, h, f->work->cosine + at, f->work->sine + at,
                            d->rotation == TPTI_ROTATION_RESIDUAL, 1, d->D);
}

/* ---- attention: an item is one key/value head with its queries, of one sequence ---- */

static void attend(const few *f, size_t l, size_t item, void *scratch) {
  const tpti_dims *d = f->dims;
  size_t row = item / d->K;
  tpti_run alone = {.kernels = f->run->kernels, .scratch = scratch};
  tpti_decode_attend(&alone, &(tpti_attend){.net = f->net,
                                            .sequence = sequence_of(f, row),
                                            .layer = l,
                                            .first = position_of(f, row),
                                            .count = f->rows->many ? 1 : f->M,
                                            .head = item % d->K,
                                            .heads = 1,
                                            .qkv = f->work->qkv + row * f->qkv,
                                            .y = f->work->y + row * d->D});
}

/* ---- maps ---- */

static tpti_matrix block_matrix(const few *f, size_t l, size_t offset) {
  const tpti_params *p = &f->net->params;
  return tpti_network_matrix(f->net, p->block_first + l * p->block_stride + offset);
}

/* The head's map: of one sequence it reads the last row alone. */
static tpti_linear_rows head_map(const few *f) {
  const tpti_dims *d = f->dims;
  const tpti_matrix w = tpti_network_matrix(f->net, f->net->params.head);
  if (f->rows->many) return (tpti_linear_rows){NULL, NULL, f->work->n, w, 0, f->M, d->V, d->D};
  const float *x = f->work->n + (f->M - 1) * d->D;
  return (tpti_linear_rows){sequence_of(f, 0)->spare, NULL, x, w, d->V, 1, d->V, d->D};
}

/* The map of a stage; y of GATE_UP and of many sequences' HEAD is the item's own scratch. */
static tpti_linear_rows map_of(const few *f, stage which, size_t l) {
  const tpti_params *p = &f->net->params;
  const tpti_decode_work *a = f->work;
  size_t D = f->dims->D, F = f->dims->F, M = f->M;
  switch (which) {
  case QKV:
    return (tpti_linear_rows){a->qkv, NULL, a->n, block_matrix(f, l, p->qkv), f->qkv, M, f->qkv, D};
  case O:
    return (tpti_linear_rows){a->h, a->h, a->y, block_matrix(f, l, p->o), D, M, D, D};
  case GATE_UP: /* of gate; up follows it */
    return (tpti_linear_rows){NULL, NULL, a->n, block_matrix(f, l, p->gate_up), 0, M, F, D};
  case DOWN:
    return (tpti_linear_rows){a->h, a->h, a->act, block_matrix(f, l, p->down), D, M, D, F};
  default:
    return head_map(f);
  }
}

/* An item's own results, behind the work space of its map. */
static float *results_in(void *scratch) {
  return (float *)scratch + TPTI_LINEAR_WORK / sizeof(float);
}
_Static_assert((size_t)TPTI_MANY_ROWS * 2 * TPTI_LINEAR_STEP * sizeof(float) + TPTI_LINEAR_WORK <=
                   TPTI_SCRATCH,
               "an item's results fit the scratch");

/* Rows [first, first + count) of the weights; y is of these alone, y_row floats a row. */
static void map_part(const few *f, const tpti_linear_rows *map, size_t first, size_t count,
                     float *y, size_t y_row, void *scratch) {
  tpti_linear_rows m = *map;
  m.w = tpti_matrix_from(m.w, m.in, first);
  m.y = y;
  m.y_row = y_row;
  tpti_linear_rows_part(f->run->kernels, &m, 0, count, scratch);
}

/* act = silu(gate) up, of some channels: gate and up of a row lie side by side in scratch. */
static void gate_up(const few *f, const tpti_linear_rows *map, tpti_rows_span at, void *scratch) {
  size_t F = f->dims->F;
  float *both = results_in(scratch);
  map_part(f, map, at.first, at.count, both, 2 * at.count, scratch);
  map_part(f, map, F + at.first, at.count, both + at.count, 2 * at.count, scratch);
  for (size_t r = 0; r < f->M; r++)
    f->run->kernels->swiglu_forward(f->work->act + r * F + at.first, both + r * 2 * at.count,
                                    at.count);
}

/* Some logits of every sequence. */
static void head_many(const few *f, const tpti_linear_rows *map, tpti_rows_span at, void *scratch) {
  float *logits = results_in(scratch);
  map_part(f, map, at.first, at.count, logits, at.count, scratch);
  for (size_t r = 0; r < f->M; r++)
    memcpy(sequence_of(f, r)->spare + at.first, logits + r * at.count, at.count * sizeof *logits);
}

static void do_map(const few *f, const place *p, void *scratch) {
  const tpti_linear_rows m = map_of(f, p->stage, p->layer);
  tpti_rows_span at = tpti_linear_rows_span(&f->cuts[p->stage], p->index);
  if (p->stage == GATE_UP)
    gate_up(f, &m, at, scratch);
  else if (!m.y)
    head_many(f, &m, at, scratch);
  else
    tpti_linear_rows_part(f->run->kernels, &m, at.first, at.count, scratch);
}

/* ---- the chain ---- */

static size_t stage_begin(const void *argument, size_t item) {
  return place_of(argument, item).first;
}

static bool is_map(stage which) {
  return which == QKV || which == O || which == GATE_UP || which == DOWN || which == HEAD;
}

/* The map whose weights a thread that waits for p will most likely read: p itself, or the next one,
 * and of that not the first item: another thread takes it while this one does p. */
static place map_after(const few *f, place p) {
  if (is_map(p.stage)) return p;
  if (p.stage == EMBED) p.stage = NORM_1;
  while (!is_map(p.stage)) p.stage++;
  size_t items = f->items[p.stage];
  p.index = (p.index + 1) % 2;
  if (p.index >= items) p.index = 0;
  return p;
}

/* Pieces that a thread fetches at most: a part of the second-level cache. */
enum { FETCH_MOST = (1 << 18) / TPTI_FETCH_BYTES };

/* Where another thread takes every other item, the weights of p, of the item after the next, ... */
static bool fetch(const void *argument, size_t item, size_t piece) {
  const few *f = argument;
  place p = map_after(f, place_of(f, item));
  const tpti_linear_rows m = map_of(f, p.stage, p.layer);
  const tpti_rows_cut *cut = &f->cuts[p.stage];
  size_t matrices = p.stage == GATE_UP ? 2 : 1;
  size_t pieces = tpti_linear_rows_pieces(&m.w, m.in, tpti_linear_rows_span(cut, p.index).count);
  size_t index = p.index + piece / (pieces * matrices) * 2, rest = piece % (pieces * matrices);
  if (index >= cut->items || piece >= FETCH_MOST) return false;
  tpti_rows_span at = tpti_linear_rows_span(cut, index);
  at.first += rest / pieces * m.out;
  tpti_linear_rows_fetch(&m.w, m.in, at, rest % pieces);
  return true;
}

/* The calling thread says how far the call is. */
static void report(const few *f, const place *p) {
  double through = (double)p->layer / (double)f->dims->L;
  if (p->stage >= NORM_F) through = 1;
  tpti_run_at(f->run, ((double)f->rows->ahead + (double)f->M * through) / (double)f->rows->total);
}

static void do_item(void *argument, size_t item, void *scratch) {
  const few *f = argument;
  const place p = place_of(f, item);
  if (scratch == f->run->scratch) report(f, &p);
  switch (p.stage) {
  case EMBED:
    tpti_decode_embed(f->run, f->net, f->work->h + p.index * f->dims->D, f->rows->tokens[p.index],
                      position_of(f, p.index));
    break;
  case NORM_1:
    normalize(f, p.index, block_vector(f, p.layer, f->net->params.n1));
    break;
  case ATTEND:
    attend(f, p.layer, p.index, scratch);
    break;
  case NORM_2:
    rotate(f, p.layer, p.index);
    normalize(f, p.index, block_vector(f, p.layer, f->net->params.n2));
    break;
  case NORM_F:
    normalize(f, p.index, tpti_network_vector(f->net, f->net->params.norm_f));
    break;
  default:
    do_map(f, &p, scratch);
  }
}

static void count_items(few *f) {
  for (stage s = EMBED; s < STAGES; s++) {
    f->items[s] = f->M;
    if (!is_map(s)) continue;
    const tpti_linear_rows m = map_of(f, s, 0);
    f->cuts[s] = tpti_linear_rows_cut(&m, s == GATE_UP ? 2 : 1);
    f->items[s] = f->cuts[s].items;
  }
  f->items[ATTEND] = (f->rows->many ? f->M : 1) * f->dims->K;
  for (stage s = NORM_1; s <= DOWN; s++) f->block_items += f->items[s];
}

void tpti_decode_few(tpti_run *run, const tpti_network *net, tpti_decode_work *work,
                     const tpti_batch *rows) {
  const tpti_dims *d = &net->dims;
  few f = {.run = run,
           .net = net,
           .dims = d,
           .work = work,
           .rows = rows,
           .M = rows->count,
           .qkv = tpti_dims_qkv(d)};
  count_items(&f);
  tpti_chain_run(run, &(tpti_chain){.items = f.items[EMBED] + d->L * f.block_items +
                                             f.items[NORM_F] + f.items[HEAD],
                                    .stage = stage_begin,
                                    .fetch = fetch,
                                    .task = do_item,
                                    .argument = &f});
}
