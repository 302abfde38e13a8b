/* Folding (DESIGN section 2). A `replace` rotation R_l acts on the residual stream, commutes with
 * the phase statistics, and pairs never change; so with Q_l = R_l ... R_0 and u = Q^T h every map
 * that reads the stream absorbs diag(gain) Q, every map that writes it Q^T, and the logits are the
 * same without rotations and gains. Of a network with a `residual` rotation, whose h + R h changes
 * norms, only the gains fold: its Q is the identity throughout. */
#include <math.h>
#include <string.h>

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

/* out = w diag(gain) Q for a map [rows, D] that reads the stream. */
static void fold_reader(float *out, const float *w, const float *gain, const double *turn,
                        size_t rows, size_t D) {
  for (size_t r = 0; r < rows; r++, w += D, out += D) {
    for (size_t j = 0; j < D; j += 2) {
      double a = (double)w[j] * (double)gain[j], b = (double)w[j + 1] * (double)gain[j + 1];
      double c = turn[j], s = turn[j + 1];
      out[j] = (float)(a * c + b * s);
      out[j + 1] = (float)(b * c - a * s);
    }
  }
}

/* out = Q^T w for a map [D, cols] that writes the stream. */
static void fold_writer(float *out, const float *w, const double *turn, size_t D, size_t cols) {
  for (size_t j = 0; j < D; j += 2, w += 2 * cols, out += 2 * cols) {
    double c = turn[j], s = turn[j + 1];
    for (size_t i = 0; i < cols; i++) {
      double a = (double)w[i], b = (double)w[cols + i];
      out[i] = (float)(c * a + s * b);
      out[cols + i] = (float)(c * b - s * a);
    }
  }
}

static void ones(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = 1.0f;
}

static void fold_block(const tpti_network *net, tpti_network *folded, size_t l, double *turn) {
  const tpti_dims *d = &net->dims;
  size_t D = d->D, qkv = D + 2 * d->K * tpti_dims_E(d);
  tpti_block_params from = tpti_params_block(&net->params, net->weights, l);
  tpti_block_params to = tpti_params_block(&folded->params, folded->weights, l);
  accumulate_turn(net, l, turn);
  fold_reader(to.qkv, from.qkv, from.n1, turn, qkv, D);
  fold_writer(to.o, from.o, turn, D, D);
  accumulate_turn(net, l + 1, turn);
  fold_reader(to.gate_up, from.gate_up, from.n2, turn, 2 * d->F, D);
  fold_writer(to.down, from.down, turn, D, d->F);
  ones(to.n1, D);
  ones(to.n2, D);
  if (to.theta) memcpy(to.theta, from.theta, tpti_dims_P(d) / 2 * sizeof(float));
}

void tpti_network_fold(const tpti_network *net, tpti_network *folded, double *turn) {
  const tpti_dims *d = &net->dims;
  const tpti_params *from = &net->params, *to = &folded->params;
  memcpy(folded->weights + to->token_emb, net->weights + from->token_emb,
         d->V * d->D * sizeof(float));
  if (net->profile) memcpy(folded->profile, net->profile, d->max_seq_len * sizeof(float));
  for (size_t l = 0; l < d->L; l++) fold_block(net, folded, l, turn);
  accumulate_turn(net, d->L, turn);
  fold_reader(folded->weights + to->head, net->weights + from->head, net->weights + from->norm_f,
              turn, d->V, d->D);
  ones(folded->weights + to->norm_f, d->D);
}
