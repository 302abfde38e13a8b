/* Measures of a residual stream. */
#include "model/geometry.h"

#include <math.h>

static size_t phase_width(const tpti_stream *s) { return s->D / s->N; }

/* Adds what it measures of one phase of one token to out[phase]. */
typedef void phase_fn(double *out, size_t phase, const float *values, size_t P);

static void for_phases(const tpti_stream *s, double *out, phase_fn *each) {
  size_t P = phase_width(s);
  for (size_t i = 0; i < s->N; i++) out[i] = 0.0;
  for (size_t m = 0; m < s->B * s->T; m++)
    for (size_t i = 0; i < s->N; i++) each(out, i, s->x + m * s->D + i * P, P);
}

static double sum(const float *x, size_t n) {
  double total = 0.0;
  for (size_t i = 0; i < n; i++) total += (double)x[i];
  return total;
}

static double dot(const float *x, const float *y, size_t n) {
  double total = 0.0;
  for (size_t i = 0; i < n; i++) total += (double)x[i] * (double)y[i];
  return total;
}

static void add_sum(double *out, size_t phase, const float *x, size_t P) {
  out[phase] += sum(x, P);
}

static void add_squares(double *out, size_t phase, const float *x, size_t P) {
  out[phase] += dot(x, x, P);
}

/* P mu^2 = (sum over the phase)^2 / P. */
static void add_dc_energy(double *out, size_t phase, const float *x, size_t P) {
  double total = sum(x, P);
  out[phase] += total * total / (double)P;
}

void tpti_geometry_means(const tpti_stream *s, double *mean) {
  for_phases(s, mean, add_sum);
  for (size_t i = 0; i < s->N; i++) mean[i] /= (double)(s->B * s->T * phase_width(s));
}

void tpti_geometry_rms(const tpti_stream *s, double *rms) {
  for_phases(s, rms, add_squares);
  for (size_t i = 0; i < s->N; i++) rms[i] = sqrt(rms[i] / (double)(s->B * s->T * phase_width(s)));
}

void tpti_geometry_energy(const tpti_stream *s, double *share) {
  double all = 0.0;
  for (size_t m = 0; m < s->B * s->T; m++) all += dot(s->x + m * s->D, s->x + m * s->D, s->D);
  for_phases(s, share, add_dc_energy);
  for (size_t i = 0; i < s->N; i++) share[i] = all > 0.0 ? share[i] / all : 0.0;
}

static double cosine_between(const float *x, const float *y, size_t n) {
  double norms = sqrt(dot(x, x, n)) * sqrt(dot(y, y, n));
  return norms > 0.0 ? dot(x, y, n) / norms : 0.0;
}

void tpti_geometry_cosines(const tpti_stream *s, double *cosine) {
  size_t P = phase_width(s), M = s->B * s->T;
  for (size_t i = 0; i < s->N; i++) {
    for (size_t j = 0; j <= i; j++) {
      double total = 0.0;
      for (const float *x = s->x; x < s->x + M * s->D; x += s->D)
        total += cosine_between(x + i * P, x + j * P, P);
      cosine[i * s->N + j] = cosine[j * s->N + i] = total / (double)M;
    }
  }
}

void tpti_geometry_positions(const tpti_stream *s, float *dc) {
  for (size_t t = 0; t < s->T; t++) {
    double total = 0.0;
    for (size_t b = 0; b < s->B; b++) total += sum(s->x + (b * s->T + t) * s->D, s->D);
    dc[t] = (float)(total / (double)(s->B * s->D));
  }
}

double tpti_geometry_residual(const tpti_stream *s) {
  size_t count = s->B * s->T * s->D;
  return sum(s->x, count) / (double)count * (double)s->N;
}

double tpti_geometry_analytic(const float *profile, size_t T, size_t N) {
  return sum(profile, T) / (double)T * (double)N;
}

static double moved(const float *before, const float *after, size_t n) {
  double distance = 0.0, norm = dot(before, before, n);
  for (size_t i = 0; i < n; i++) {
    double step = (double)after[i] - (double)before[i];
    distance += step * step;
  }
  return norm > 0.0 ? sqrt(distance / norm) : 0.0;
}

double tpti_geometry_moved(const tpti_stream *before, const float *after) {
  size_t M = before->B * before->T, D = before->D;
  double total = 0.0;
  for (size_t m = 0; m < M; m++) total += moved(before->x + m * D, after + m * D, D);
  return total / (double)M;
}
