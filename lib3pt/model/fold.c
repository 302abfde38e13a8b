/* Folding (DESIGN section 2). A `replace` rotation R_l acts on the residual stream, commutes with
 * the phase statistics, and pairs never change; so with Q_l = R_l ... R_0 and u = Q^T h every map
 * that reads the stream absorbs diag(gain) Q, every map that writes it Q^T, and the logits are the
 * same without rotations and gains. Of a network with a `residual` rotation, whose h + R h changes
 * norms, only the gains fold: its Q is the identity throughout. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "model/network.h"

#define PI 3.14159265358979323846

/* turn [D]: (cos, sin) of each pair's angle in Q, the product of the first `layers` rotations. */
static void accumulate_turn(const tpti_network *net, size_t layers, double *turn) {
  const tpti_dims *d = &net->dims;
  size_t half = tpti_dims_P(d) / 2;
  if (d->rotation != TPTI_ROTATION_REPLACE) layers = 0;
  for (size_t j = 0; j < d->D / 2; j++) {
    double angle = (double)layers * (2.0 * PI * (double)(j / half) / (double)d->N);
    for (size_t l = 0; l < layers; l++)
      angle += (double)tpti_params_block(&net->params, net->weights, l).theta[j % half];
    turn[2 * j] = cos(angle);
    turn[2 * j + 1] = sin(angle);
  }
}

/* One map to fold: out [rows, cols], in any form, from w. */
typedef struct folding {
  tpti_matrix out;
  const float *w, *gain; /* gain [D] of a reader */
  const double *turn;
  size_t rows, cols;
} folding;

/* Rows that one task folds, an even number: a writer turns pairs of rows. Columns that are folded
 * before they are rounded and stored: 8 KB of each row. */
enum { FOLD_ROWS = 64, FOLD_COLUMNS = 2048 };
_Static_assert(FOLD_COLUMNS % TPTI_SCALE_BLOCK == 0, "whole blocks are stored");

static size_t fold_end(const folding *f, size_t item) {
  size_t end = (item + 1) * FOLD_ROWS;
  return end < f->rows ? end : f->rows;
}

static size_t fold_width(const folding *f, size_t first) {
  return f->cols - first < FOLD_COLUMNS ? f->cols - first : FOLD_COLUMNS;
}

/* out = w diag(gain) Q, of a map [rows, D] that reads the stream. */
static void fold_reader(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const folding *f = argument;
  float out[FOLD_COLUMNS];
  for (size_t r = item * FOLD_ROWS; r < fold_end(f, item); r++) {
    for (size_t first = 0; first < f->cols; first += FOLD_COLUMNS) {
      const float *w = f->w + r * f->cols + first, *gain = f->gain + first;
      const double *turn = f->turn + first;
      size_t width = fold_width(f, first);
      for (size_t j = 0; j < width; j += 2) {
        double a = (double)w[j] * (double)gain[j], b = (double)w[j + 1] * (double)gain[j + 1];
        double c = turn[j], s = turn[j + 1];
        out[j] = (float)(a * c + b * s);
        out[j + 1] = (float)(b * c - a * s);
      }
      tpti_held_store(&f->out, f->cols, r, first, out, width);
    }
  }
}

/* out = Q^T w, of a map [D, cols] that writes the stream. */
static void fold_writer(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const folding *f = argument;
  float out[2][FOLD_COLUMNS];
  for (size_t j = item * FOLD_ROWS; j < fold_end(f, item); j += 2) {
    double c = f->turn[j], s = f->turn[j + 1];
    for (size_t first = 0; first < f->cols; first += FOLD_COLUMNS) {
      const float *w = f->w + j * f->cols + first;
      size_t width = fold_width(f, first);
      for (size_t i = 0; i < width; i++) {
        double a = (double)w[i], b = (double)w[f->cols + i];
        out[0][i] = (float)(c * a + s * b);
        out[1][i] = (float)(c * b - s * a);
      }
      tpti_held_store(&f->out, f->cols, j, first, out[0], width);
      tpti_held_store(&f->out, f->cols, j + 1, first, out[1], width);
    }
  }
}

/* out = w: the embedding stands before the first rotation. */
static void store_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const folding *f = argument;
  for (size_t r = item * FOLD_ROWS; r < fold_end(f, item); r++)
    tpti_held_store(&f->out, f->cols, r, 0, f->w + r * f->cols, f->cols);
}

/* The call and how far it is: each map counts with its numbers. */
typedef struct course {
  tpti_run *run;
  size_t done, all;
} course;

static void fold_map(course *c, tpti_task task, folding f) {
  tpti_run_at(c->run, (double)c->done / (double)c->all);
  tpti_parallel(c->run, tpti_ceil_div(f.rows, FOLD_ROWS), task, &f);
  c->done += f.rows * f.cols;
}

static void ones(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = 1.0f;
}

static void fold_block(course *c, const tpti_network *net, tpti_network *folded, size_t l,
                       double *turn) {
  const tpti_dims *d = &net->dims;
  size_t D = d->D, qkv = tpti_dims_qkv(d);
  tpti_block_params from = tpti_params_block(&net->params, net->weights, l);
  tpti_block_view to = tpti_network_block(folded, l);
  accumulate_turn(net, l, turn);
  fold_map(c, fold_reader, (folding){to.qkv, from.qkv, from.n1, turn, qkv, D});
  fold_map(c, fold_writer, (folding){to.o, from.o, NULL, turn, D, D});
  accumulate_turn(net, l + 1, turn);
  fold_map(c, fold_reader, (folding){to.gate_up, from.gate_up, from.n2, turn, 2 * d->F, D});
  fold_map(c, fold_writer, (folding){to.down, from.down, NULL, turn, D, d->F});
}

/* Gains, angles, DC profile. */
static void fold_vectors(const tpti_network *net, tpti_network *folded) {
  const tpti_dims *d = &net->dims;
  const tpti_params *p = &folded->params;
  if (net->profile) memcpy(folded->profile, net->profile, d->max_seq_len * sizeof(float));
  for (size_t l = 0; l < d->L; l++) {
    size_t first = p->block_first + l * p->block_stride;
    ones(tpti_network_vector(folded, first + p->n1), d->D);
    ones(tpti_network_vector(folded, first + p->n2), d->D);
    if (p->theta != SIZE_MAX)
      memcpy(tpti_network_vector(folded, first + p->theta),
             tpti_params_block(&net->params, net->weights, l).theta,
             tpti_dims_P(d) / 2 * sizeof(float));
  }
  ones(tpti_network_vector(folded, p->norm_f), d->D);
}

void tpti_network_fold(tpti_run *run, const tpti_network *net, tpti_network *folded, double *turn) {
  const tpti_dims *d = &net->dims;
  const tpti_params *from = &net->params, *to = &folded->params;
  fold_vectors(net, folded);
  size_t D = d->D, block = (tpti_dims_qkv(d) + D + 3 * d->F) * D;
  course c = {.run = run, .all = 2 * d->V * D + d->L * block};
  fold_map(&c, store_rows,
           (folding){.out = tpti_network_matrix(folded, to->token_emb),
                     .w = net->weights + from->token_emb,
                     .rows = d->V,
                     .cols = d->D});
  for (size_t l = 0; l < d->L && !run->stopped; l++) {
    fold_block(&c, net, folded, l, turn);
  }
  accumulate_turn(net, d->L, turn);
  fold_map(&c, fold_reader,
           (folding){tpti_network_matrix(folded, to->head), net->weights + from->head,
                     net->weights + from->norm_f, turn, d->V, d->D});
  tpti_run_at(run, (double)c.done / (double)c.all);
  tpti_run_tick(run);
}
