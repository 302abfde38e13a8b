/* What inspect shows a reader: tables, bars and sparklines. */
#ifndef EXAMPLES_INSPECT_TEXT_H
#define EXAMPLES_INSPECT_TEXT_H

#include "draw.h"

enum { FIRST_PLACES = 8 }; /* of the profile that are printed as numbers */

/* ---- names of rows and columns ---- */

static inline void name_layer(char *text, size_t size, const geometry *g, size_t index) {
  (void)g;
  snprintf(text, size, "block %zu", index);
}

static inline void name_point(char *text, size_t size, const geometry *g, size_t index) {
  if (index)
    name_layer(text, size, g, index - 1);
  else
    snprintf(text, size, "embedding");
}

static inline void name_phase(char *text, size_t size, const geometry *g, size_t index) {
  (void)g;
  snprintf(text, size, "phase %zu", index);
}

static inline void name_place(char *text, size_t size, const geometry *g, size_t index) {
  (void)g;
  snprintf(text, size, "p %zu", index);
}

static inline void name_drift(char *text, size_t size, const geometry *g, size_t index) {
  (void)g;
  snprintf(text, size, "%s", DRIFT_NAMES[index]);
}

static inline void name_profile(char *text, size_t size, const geometry *g, size_t index) {
  snprintf(text, size, "%s", !(g->has & LEARNED) ? "r(p)" : index ? "start" : "now");
}

/* Two phases, i below j, in the order 0 1, 0 2, ..., 1 2. */
static inline void pair_of_phases(size_t N, size_t index, size_t *i, size_t *j) {
  for (*i = 0; index >= N - 1 - *i; ++*i) index -= N - 1 - *i;
  *j = *i + 1 + index;
}

static inline void name_two_phases(char *text, size_t size, const geometry *g, size_t index) {
  size_t i, j;
  pair_of_phases(g->N, index, &i, &j);
  snprintf(text, size, "%zu and %zu", i, j);
}

/* ---- tables ---- */

static inline double *make_numbers(size_t rows, size_t columns) {
  double *values = calloc(rows * columns + 1, sizeof *values);
  if (!values) die("there is no memory for a table of %zu by %zu", rows, columns);
  return values;
}

/* All of a measure, to be freed. */
static inline double *read_all(const geometry *g, int which) {
  const measure *m = &measures[which];
  size_t rows = row_count(g, m), columns = column_count(g, m);
  double *values = make_numbers(rows, columns);
  for (size_t row = 0; row < rows; row++) {
    m->read(g, row);
    memcpy(values + row * columns, g->values, columns * sizeof *values);
  }
  return values;
}

typedef void show_fn(const paper *p, const table *t);

/* A measure of layers or points as it is, under a sentence. */
static inline void show_measure(const paper *p, const geometry *g, int which, label_fn *column,
                                show_fn *show) {
  const measure *m = &measures[which];
  double *values = read_all(g, which);
  show(p, &(table){g, m->rows == LAYERS ? name_layer : name_point, column, row_count(g, m),
                   column_count(g, m), values});
  free(values);
}

/* ---- of the weights ---- */

static inline void show_model(const paper *p, const geometry *g, const char *path) {
  static const char *const KEYS[][2] = {{"model.vocab_size", "V"}, {"model.d_model", "D"},
                                        {"model.n_layers", "L"},   {"model.n_phases", "N"},
                                        {"model.n_q_heads", "H"},  {"model.n_kv_heads", "K"},
                                        {"model.d_ff", "F"}};
  const tpt_config *config = tpt_model_config(g->model);
  char sizes[512] = "";
  size_t parameters;
  check(tpt_config_parameter_count(config, &parameters));
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    size_t used = strlen(sizes);
    snprintf(sizes + used, sizeof sizes - used, " %s=%llu", KEYS[i][1],
             (unsigned long long)count_setting(config, KEYS[i][0]));
  }
  char *mode = whole_setting(config, "model.rotation.mode");
  char *profile = whole_setting(config, "model.dc.profile");
  say(p, "%s: %zu parameters,%s, %zu positions, rotation %s, DC profile %s", path, parameters,
      sizes, g->longest, mode, *profile == '[' ? "a list" : profile);
  free(mode);
  free(profile);
}

static inline void show_change(const paper *p, const double *now, const double *start, size_t n) {
  size_t most = 0;
  for (size_t i = 0; i < n; i++)
    if (fabs(now[i] - start[i]) > fabs(now[most] - start[most])) most = i;
  say(p, "Its largest change is %+.4g, at position %zu.", now[most] - start[most], most);
}

static inline void show_profile(const paper *p, const geometry *g) {
  if (!(g->has & PROFILE)) {
    say(p, "There is no DC profile: model.dc.profile is none.");
    return;
  }
  size_t n = g->longest, few = n < FIRST_PLACES ? n : FIRST_PLACES;
  size_t rows = g->has & LEARNED ? 2 : 1;
  double *values = make_numbers(rows, n), first[2 * FIRST_PLACES];
  for (size_t row = 0; row < rows; row++) {
    measures[row ? DC_PROFILE_START : DC_PROFILE].read(g, 0);
    memcpy(values + row * n, g->values, n * sizeof *values);
    memcpy(first + row * few, g->values, few * sizeof *first);
  }
  char what[64];
  snprintf(what, sizeof what, "DC profile r(p), p from 0 to %zu:", n - 1);
  show_sparks(p, &(table){g, name_profile, NULL, rows, n, values}, what);
  show_table(p, &(table){g, name_profile, name_place, rows, few, first});
  if (rows == 2) show_change(p, values, values + n, n);
  free(values);
}

/* theta - start of each pair, on one scale: what training has moved, and where. */
static inline void show_moved(const paper *p, const geometry *g) {
  char what[96];
  double *values = read_all(g, THETA);
  for (size_t layer = 0; layer < g->L; layer++) {
    double start = (double)(float)drift_of(g, layer).start; /* as a weight holds it */
    for (size_t k = 0; k < g->pairs; k++) values[layer * g->pairs + k] -= start;
  }
  snprintf(what, sizeof what, "theta - start of the pairs 0 to %zu, radians:", g->pairs - 1);
  show_sparks(p, &(table){g, name_layer, NULL, g->L, g->pairs, values}, what);
  free(values);
}

static inline void show_l2(const paper *p, const geometry *g) {
  double *values = make_numbers(g->L, 1);
  for (size_t layer = 0; layer < g->L; layer++) values[layer] = drift_of(g, layer).l2;
  show_bars(p, &(table){g, name_layer, NULL, g->L, 1, values});
  free(values);
}

/* By what a phase turns, the mean over its pairs. */
static inline void show_angles(const paper *p, const geometry *g) {
  double *means = make_numbers(g->L, g->N);
  for (size_t layer = 0; layer < g->L; layer++) {
    read_angles(g, layer);
    for (size_t k = 0; k < g->N * g->pairs; k++)
      means[layer * g->N + k / g->pairs] += g->values[k] / (double)g->pairs;
  }
  show_table(p, &(table){g, name_layer, name_phase, g->L, g->N, means});
  free(means);
}

static inline void show_rotation(const paper *p, const geometry *g) {
  if (!(g->has & ANGLES)) {
    say(p, "There are no angles: model.rotation.mode is none.");
    return;
  }
  say(p, "Angles theta of each block, radians: start, mean, and distance from the start");
  show_measure(p, g, DRIFT, name_drift, show_table);
  putchar('\n');
  say(p, "How far they are from their start, l2, radians");
  show_l2(p, g);
  putchar('\n');
  show_moved(p, g);
  putchar('\n');
  say(p, "By what each phase turns, theta + 2 pi phase / %zu, radians, mean over pairs", g->N);
  show_angles(p, g);
}

/* ---- of a forward ---- */

static inline void show_zero_sum(const paper *p, const geometry *g) {
  measures[ZERO_SUM].read(g, 0);
  double measured = g->values[0], analytic = g->values[1];
  if (isnan(analytic))
    say(p, "Zero-sum residual at the embedding: %.6g; without a profile no equation gives it.",
        measured);
  else
    say(p, "Zero-sum residual at the embedding: %.6g; by the profile, N mean r(p): %.6g", measured,
        analytic);
}

/* Above the diagonal: the others are the same, or 1. */
static inline void show_cosines(const paper *p, const geometry *g) {
  if (g->N == 1) {
    say(p, "There is one phase: no cosine between phases.");
    return;
  }
  size_t columns = g->N * (g->N - 1) / 2, rows = g->L + 1, i, j;
  double *values = make_numbers(rows, columns);
  for (size_t row = 0; row < rows; row++) {
    read_cosine(g, row);
    for (size_t k = 0; k < columns; k++) {
      pair_of_phases(g->N, k, &i, &j);
      values[row * columns + k] = g->values[i * g->N + j];
    }
  }
  say(p, "Cosine between two phases, mean over tokens");
  show_table(p, &(table){g, name_point, name_two_phases, rows, columns, values});
  free(values);
}

static inline void show_positions(const paper *p, const geometry *g) {
  char what[96];
  double *values = read_all(g, DC);
  snprintf(what, sizeof what, "Mean over all channels at the positions 0 to %zu:", g->T - 1);
  show_sparks(p, &(table){g, name_point, NULL, g->L + 1, g->T, values}, what);
  free(values);
}

static inline void show_stream(const paper *p, const geometry *g) {
  static const struct {
    int which;
    const char *what;
  } TABLES[] = {{PHASE_MEANS, "Mean of each phase"},
                {PHASE_RMS, "Root mean square of each phase"},
                {DC_ENERGY, "Share of the energy that is a phase's mean"}};
  show_zero_sum(p, g);
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    putchar('\n');
    say(p, "%s", TABLES[i].what);
    show_measure(p, g, TABLES[i].which, name_phase, show_table);
  }
  putchar('\n');
  show_positions(p, g);
  if (has_measure(g, &measures[DISPLACEMENT])) {
    putchar('\n');
    say(p, "How far the rotation moves the stream, |R h - h| / |h|, mean over tokens");
    show_measure(p, g, DISPLACEMENT, NULL, show_bars);
  }
  putchar('\n');
  show_cosines(p, g);
}

#endif
