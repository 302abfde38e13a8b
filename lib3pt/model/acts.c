/* The activation plan: every array of a training step, laid out once. */
#include "model/acts.h"

#include "base/size.h"
#include "op/attention.h"
#include "op/linear.h"
#include "op/op.h"

/* Logits are held for as many rows as fit this: large enough that the head's weights are not packed
 * too often for one product, small enough to stay far below everything else a step needs. */
enum { LOGITS_BYTES = 32 << 20 };

/* And at least for so many rows; on matrix units, where reading and writing the gradient of a large
 * head would take as long as the products of a chunk, for more. */
enum { LEAST_CHUNK = TPTI_ROW_BLOCK, LEAST_UNIT_CHUNK = 1024 };

/* Rows that go through a block together: few enough that the work space stays small, many enough
 * that the weights' gradients, read and written once a group, cost little beside their products. */
enum { GROUP_ROWS = 2048 };

/* Rows that a thread takes through a chain of operations: what one of them writes is in its
 * second-level cache when the next one reads it (D 192, F 512: 11 KiB a row), and the block's
 * weights, read once a tile, still cost little beside the products. On matrix units products are
 * so fast that wide models want more rows to a reading of the weights. */
enum { TILE_ROWS = 128, WIDE_TILE_ROWS = 256, WIDE = 512 };

static size_t smallest(size_t a, size_t b) { return a < b ? a : b; }

static size_t chunk_rows(tpti_precision precision, size_t V, size_t room) {
  size_t rows = LOGITS_BYTES / (V * sizeof(float)) / TPTI_ROW_BLOCK * TPTI_ROW_BLOCK;
  size_t least = precision == TPTI_PRECISION_F32 ? LEAST_CHUNK : LEAST_UNIT_CHUNK;
  return smallest(room, tpti_most(rows, least));
}

static void *numbers(tpti_plan *plan, size_t rows, size_t cols, size_t bytes) {
  size_t count;
  if (!tpti_mul(&count, rows, cols)) plan->overflow = true;
  return tpti_place(plan, count, bytes);
}

static float *floats(tpti_plan *plan, size_t rows, size_t cols) {
  return numbers(plan, rows, cols, sizeof(float));
}

size_t tpti_acts_sequences(size_t T) { return T < GROUP_ROWS ? GROUP_ROWS / T : 1; }

/* What recompute lets all blocks share. */
static void layout_inside(tpti_block_acts *b, const tpti_dims *d, size_t M, tpti_plan *plan) {
  b->rstd1 = floats(plan, M, d->N);
  b->rstd2 = floats(plan, M, d->N);
  b->qkv = floats(plan, M, tpti_dims_qkv(d));
  b->lse = numbers(plan, M, d->H, sizeof *b->lse);
  b->y = floats(plan, M, d->D);
  b->attended = floats(plan, M, d->D);
  b->rotated = d->rotation == TPTI_ROTATION_NONE ? b->attended : floats(plan, M, d->D);
  b->gate_up = floats(plan, M, 2 * d->F);
}

static void layout_blocks(tpti_acts *a, const tpti_dims *d, tpti_plan *plan) {
  a->blocks = tpti_place(plan, d->L, sizeof *a->blocks);
  tpti_block_acts inside = {0};
  for (size_t l = 0; l < d->L; l++) {
    if (l == 0 || !a->recompute) layout_inside(&inside, d, a->recompute ? a->group : a->room, plan);
    inside.out = floats(plan, a->room, d->D);
    if (a->blocks) a->blocks[l] = inside;
  }
}

/* Where the units are not there the run is float32: there is room for either. */
static size_t in_either(const tpti_acts *a, size_t bytes(tpti_precision, const size_t[3]),
                        const size_t shape[3]) {
  return tpti_most(bytes(TPTI_PRECISION_F32, shape), bytes(a->precision, shape));
}

/* Of M rows, out, in. */
static size_t product_bytes(tpti_precision precision, const size_t s[3]) {
  return tpti_linear_pack(precision, s[0], s[1], s[2], true);
}

static size_t matrix_bytes(tpti_precision precision, const size_t s[3]) {
  return tpti_linear_packed_bytes(precision, s[1], s[2]);
}

static size_t pack_bytes(const tpti_acts *a, const tpti_dims *d) {
  size_t M = a->group, D = d->D, bytes = 0;
  const size_t shapes[][3] = {
      {a->chunk, d->V, D}, {M, tpti_dims_qkv(d), D}, {M, D, D}, {M, 2 * d->F, D}, {M, D, d->F}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    bytes = tpti_most(bytes, in_either(a, product_bytes, shapes[i]));
  return bytes;
}

static void *packed(const tpti_acts *a, size_t out, size_t in, tpti_plan *plan) {
  return tpti_place(plan, in_either(a, matrix_bytes, (const size_t[]){0, out, in}), 1);
}

/* Room for the matrices of a block in one form. */
static tpti_packed packed_block(const tpti_acts *a, const tpti_dims *d, tpti_plan *plan) {
  return (tpti_packed){.qkv = packed(a, tpti_dims_qkv(d), d->D, plan),
                       .o = packed(a, d->D, d->D, plan),
                       .gate_up = packed(a, 2 * d->F, d->D, plan),
                       .down = packed(a, d->D, d->F, plan)};
}

static void layout_work(tpti_acts *a, const tpti_dims *d, tpti_plan *plan) {
  size_t G = a->group, most = tpti_most(G, a->chunk);
  const tpti_attention heads = {.H = d->H, .K = d->K, .E = tpti_dims_E(d)};
  a->n = floats(plan, G, d->D);
  a->act = floats(plan, G, d->F);
  a->wide = floats(plan, G, tpti_most(d->F, tpti_dims_qkv(d)));
  a->attention = floats(plan, tpti_attention_work_most(&heads, G, d->max_seq_len), 1);
  a->dattended = floats(plan, G, d->D);
  a->dn = floats(plan, most, d->D);
  a->gain_partial = floats(plan, tpti_row_blocks(most), d->D);
  a->theta_partial = floats(plan, tpti_row_blocks(G), d->D / 2);
  a->logits = floats(plan, a->chunk, d->V);
  a->scratch = tpti_place(plan, TPTI_SCRATCH, 1);
  a->pack = tpti_place(plan, pack_bytes(a, d), 1);
}

static size_t tile_rows(const tpti_acts *a, const tpti_dims *d) {
  bool wide = a->precision != TPTI_PRECISION_F32 && d->D >= WIDE;
  return wide ? WIDE_TILE_ROWS : TILE_ROWS;
}

void tpti_acts_layout(tpti_acts *a, const tpti_dims *d, const tpti_recipe *r, tpti_plan *plan) {
  *a = (tpti_acts){.precision = r->precision, .recompute = r->recompute == TPTI_RECOMPUTE_BLOCK};
  if (!tpti_mul(&a->room, r->batch, r->seq_len)) plan->overflow = true;
  a->chunk = chunk_rows(a->precision, d->V, a->room);
  a->group = smallest(a->room, tpti_most(GROUP_ROWS, d->max_seq_len));
  a->tile = tile_rows(a, d);
  layout_blocks(a, d, plan);
  a->cosine = floats(plan, d->L, d->D / 2);
  a->sine = floats(plan, d->L, d->D / 2);
  a->embedding = floats(plan, a->room, d->D);
  a->rstd_f = floats(plan, a->room, d->N);
  a->final = floats(plan, a->room, d->D);
  a->row_loss = tpti_place(plan, a->room, sizeof(double));
  a->dh = floats(plan, a->room, d->D);
  a->sums = floats(plan, a->room, 1);
  a->tokens = tpti_place(plan, a->room, sizeof(int32_t));
  a->targets = tpti_place(plan, a->room, sizeof(int32_t));
  layout_work(a, d, plan);
  a->forward = packed_block(a, d, plan);
  a->input = a->recompute ? packed_block(a, d, plan) : a->forward;
}
