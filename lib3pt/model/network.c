/* A network's arrays and tables. */
#include "model/network.h"

#include <math.h>

#include "base/error.h"
#include "op/phase_rotate.h"
#include "op/rope.h"

void tpti_network_layout(tpti_network *net, const tpti_dims *dims, tpti_form form,
                         tpti_plan *plan) {
  *net = (tpti_network){.dims = *dims};
  tpti_params_layout(&net->params, dims, plan);
  size_t half = dims->max_seq_len * (tpti_dims_E(dims) / 2);
  net->rope_cosine = tpti_place(plan, half, sizeof(float));
  net->rope_sine = tpti_place(plan, half, sizeof(float));
  tpti_held_layout(&net->held, form, &net->params, dims, plan);
  net->weights = form == TPTI_FORM_F32 ? net->held.matrices : NULL;
  if (dims->dc == TPTI_DC_LEARNED)
    net->profile = net->held.matrices ? tpti_network_vector(net, net->params.dc_profile) : NULL;
  else if (dims->dc != TPTI_DC_NONE)
    net->profile = tpti_place(plan, dims->max_seq_len, sizeof(float));
}

tpt_status tpti_network_need_floats(const tpti_network *net) {
  if (net->held.form == TPTI_FORM_F32) return TPT_OK;
  return tpti_fail(TPT_E_UNSUPPORTED,
                   "the model was converted to %s: it is for decoding and evaluation only",
                   net->held.form == TPTI_FORM_BF16 ? "bf16" : "int8");
}

tpti_matrix tpti_network_matrix(const tpti_network *net, size_t offset) {
  return tpti_held_matrix(&net->held, &net->params, &net->dims, offset);
}

float *tpti_network_vector(const tpti_network *net, size_t offset) {
  return tpti_held_vector(&net->held, &net->params, &net->dims, offset);
}

tpti_block_view tpti_network_block(const tpti_network *net, size_t layer) {
  const tpti_params *p = &net->params;
  size_t first = p->block_first + layer * p->block_stride;
  return (tpti_block_view){
      .qkv = tpti_network_matrix(net, first + p->qkv),
      .o = tpti_network_matrix(net, first + p->o),
      .gate_up = tpti_network_matrix(net, first + p->gate_up),
      .down = tpti_network_matrix(net, first + p->down),
      .n1 = tpti_network_vector(net, first + p->n1),
      .n2 = tpti_network_vector(net, first + p->n2),
      .theta = p->theta == SIZE_MAX ? NULL : tpti_network_vector(net, first + p->theta)};
}

/* r(p) of a fixed profile (paper 3.4, 4.9). */
static double profile_at(const tpti_dims *d, size_t position) {
  double p = (double)position;
  switch (d->dc) {
  case TPTI_DC_HORN:
    return 1.0 / (p + 1.0);
  case TPTI_DC_RAMP:
    return 1.0 - p / (double)d->max_seq_len;
  case TPTI_DC_EXPONENTIAL:
    return exp(-p / d->dc_tau);
  case TPTI_DC_LOGARITHMIC:
    return 1.0 / (1.0 + log1p(p));
  case TPTI_DC_LIST:
    return d->dc_values[position];
  case TPTI_DC_NONE:
  case TPTI_DC_ZERO:
  case TPTI_DC_LEARNED:
    break;
  }
  return 0.0;
}

/* Positions of a profile that are one item. */
enum { PROFILE_BLOCK = 4096 };

static void profile_rows(void *argument, size_t item, void *scratch) {
  (void)scratch;
  const tpti_network *net = argument;
  size_t first = item * PROFILE_BLOCK, left = net->dims.max_seq_len - first;
  size_t end = first + (left < PROFILE_BLOCK ? left : PROFILE_BLOCK);
  for (size_t p = first; p < end; p++) net->profile[p] = (float)profile_at(&net->dims, p);
}

void tpti_network_tables(tpti_run *run, tpti_network *net) {
  const tpti_dims *d = &net->dims;
  tpti_rope_table(run, net->rope_cosine, net->rope_sine, d->rope_base, d->max_seq_len,
                  tpti_dims_E(d));
  if (!net->profile || d->dc == TPTI_DC_LEARNED) return;
  tpti_parallel(run, (d->max_seq_len - 1) / PROFILE_BLOCK + 1, profile_rows, net);
}

float tpti_network_embedding_scale(const tpti_network *net) {
  return net->dims.scale == TPTI_SCALE_SQRT_D ? (float)sqrt((double)net->dims.D) : 1.0f;
}

void tpti_network_rotations(const tpti_network *net, float *cosine, float *sine) {
  const tpti_dims *d = &net->dims;
  if (d->rotation == TPTI_ROTATION_NONE) return;
  for (size_t l = 0; l < d->L; l++) {
    const float *theta = tpti_network_block(net, l).theta;
    tpti_phase_rotate_table(cosine + l * (d->D / 2), sine + l * (d->D / 2), theta, d->D, d->N);
  }
}
