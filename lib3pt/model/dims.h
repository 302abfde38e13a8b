/* The network's view of a description: plain numbers that spec/ fills and checks. Letters as in
 * op/op.h. */
#ifndef TPTI_MODEL_DIMS_H
#define TPTI_MODEL_DIMS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tpti_dc {
  TPTI_DC_NONE,        /* the mean over D is left as it is */
  TPTI_DC_ZERO,        /* r(p) = 0 */
  TPTI_DC_HORN,        /* 1 / (p + 1) */
  TPTI_DC_RAMP,        /* 1 - p / max_seq_len */
  TPTI_DC_EXPONENTIAL, /* exp(-p / tau) */
  TPTI_DC_LOGARITHMIC, /* 1 / (1 + ln(1 + p)) */
  TPTI_DC_LEARNED,     /* a parameter [max_seq_len] that starts at the horn */
  TPTI_DC_LIST         /* dc_values */
} tpti_dc;

typedef enum tpti_rotation {
  TPTI_ROTATION_REPLACE,
  TPTI_ROTATION_RESIDUAL,
  TPTI_ROTATION_NONE
} tpti_rotation;

typedef enum tpti_schedule {
  TPTI_SCHEDULE_LINEAR,   /* (l + 1) pi / (2 L) */
  TPTI_SCHEDULE_CONSTANT, /* pi / 4 */
  TPTI_SCHEDULE_U_SHAPED, /* the paper's converged profile of 12 layers, interpolated in l / (L - 1)
                           */
  TPTI_SCHEDULE_LIST      /* schedule_values */
} tpti_schedule;

typedef enum tpti_scale { TPTI_SCALE_NONE, TPTI_SCALE_SQRT_D } tpti_scale;

typedef struct tpti_dims {
  size_t V, D, L, H, K, F, N;
  size_t max_seq_len;
  double rope_base, norm_eps;
  bool phase_aligned; /* N | H and N | K are demanded; nothing else depends on it */
  tpti_scale scale;
  tpti_dc dc;
  double dc_tau; /* > 0; the description's own, or max_seq_len / 4 */
  tpti_rotation rotation;
  tpti_schedule schedule;
  /* Of the lists; NULL where there is none. The description owns them. */
  double *dc_values, *schedule_values;
  size_t dc_count, schedule_count;
} tpti_dims;

static inline size_t tpti_dims_P(const tpti_dims *d) { return d->D / d->N; } /* channels a phase */
static inline size_t tpti_dims_E(const tpti_dims *d) { return d->D / d->H; } /* channels a head */

/* Channels of q, k and v side by side: D + 2 K E. */
static inline size_t tpti_dims_qkv(const tpti_dims *d) { return d->D + 2 * d->K * tpti_dims_E(d); }

#endif
