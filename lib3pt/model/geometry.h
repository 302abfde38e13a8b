/* The geometry of a residual stream x [B, T, D] (paper 4.11, 4.12): what the phases and the DC
 * direction look like after a forward pass. All sums in double. */
#ifndef TPTI_MODEL_GEOMETRY_H
#define TPTI_MODEL_GEOMETRY_H

#include <stddef.h>

typedef struct tpti_stream {
  const float *x; /* [B, T, D] */
  size_t B, T, D, N;
} tpti_stream;

/* mean [N]: over B, T and the phase's channels. */
void tpti_geometry_means(const tpti_stream *s, double *mean);

/* rms [N]: root of the mean square over the same. */
void tpti_geometry_rms(const tpti_stream *s, double *rms);

/* cosine [N, N]: mean over tokens of the cosine between two phases; a phase of norm 0 counts as 0.
 */
void tpti_geometry_cosines(const tpti_stream *s, double *cosine);

/* share [N]: sum over tokens of P mu_i^2 / sum over tokens of |x|^2, mu_i the phase's mean. */
void tpti_geometry_energy(const tpti_stream *s, double *share);

/* dc [T]: mean over B and D at each position. */
void tpti_geometry_positions(const tpti_stream *s, float *dc);

/* Sum of the phase means: N times the mean over everything. */
double tpti_geometry_residual(const tpti_stream *s);

/* What a DC profile makes of it: N times the mean of r(p) over T positions. */
double tpti_geometry_analytic(const float *profile, size_t T, size_t N);

/* Mean over tokens of |after - before| / |before|; tokens of norm 0 count as 0. */
double tpti_geometry_moved(const tpti_stream *before, const float *after);

#endif
