/* A model's geometry as tables of numbers: what inspect prints, and what train writes into its log.
 * Each measure is a row of one table, so that a new one is named, shaped and read in one place. */
#ifndef EXAMPLES_GEOMETRY_H
#define EXAMPLES_GEOMETRY_H

#include "common.h"

/* What a measure needs. STREAM: a trainer's forward that came to its end; INSIDE: what it kept of
 * the inside of the blocks. */
enum { PROFILE = 1, LEARNED = 2, ANGLES = 4, STREAM = 8, INSIDE = 16 };

typedef struct geometry {
  const tpt_model *model;
  const tpt_trainer *trainer;     /* NULL: of the weights alone */
  unsigned has;                   /* of the above */
  size_t N, L, T, pairs, longest; /* T: positions of the forward; pairs: P / 2 */
  double *values;                 /* room for a row of any measure */
  float *floats;                  /* the same for those that the library gives in float */
} geometry;

/* POINTS: the embedding and each block, L + 1. */
typedef enum rows_of { ONCE, LAYERS, POINTS } rows_of;

typedef enum columns_of {
  ALONE,         /* a number */
  NAMED,         /* some with a name each */
  BY_PHASE,      /* N */
  BY_PHASES,     /* N x N */
  BY_PHASE_PAIR, /* N x P / 2 */
  BY_PAIR,       /* P / 2 */
  BY_PLACE,      /* model.max_seq_len */
  BY_POSITION,   /* T */
} columns_of;

typedef struct measure {
  const char *name;
  rows_of rows;
  columns_of columns;
  unsigned needs;
  void (*read)(const geometry *g, size_t row); /* into g->values */
  const char *const *names;                    /* of NAMED columns, NULL at the end */
} measure;

static inline size_t row_count(const geometry *g, const measure *m) {
  return m->rows == ONCE ? 1 : m->rows == LAYERS ? g->L : g->L + 1;
}

static inline size_t name_count(const char *const *names) {
  size_t count = 0;
  while (names[count]) count++;
  return count;
}

static inline size_t column_count(const geometry *g, const measure *m) {
  switch (m->columns) {
  case ALONE:
    return 1;
  case NAMED:
    return name_count(m->names);
  case BY_PHASE:
    return g->N;
  case BY_PHASES:
    return g->N * g->N;
  case BY_PHASE_PAIR:
    return g->N * g->pairs;
  case BY_PAIR:
    return g->pairs;
  case BY_PLACE:
    return g->longest;
  case BY_POSITION:
    return g->T;
  }
  return 0;
}

/* ---- reading ---- */

static inline void widen(const geometry *g, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) g->values[first + i] = (double)g->floats[i];
}

static inline void read_profile(const geometry *g, size_t row) {
  (void)row;
  check(tpt_geometry_dc_profile(g->model, 0, g->floats, g->longest));
  widen(g, 0, g->longest);
}

/* A learned profile starts at Gabriel's horn, held in float. */
static inline void read_profile_start(const geometry *g, size_t row) {
  (void)row;
  for (size_t p = 0; p < g->longest; p++) g->values[p] = (double)(float)(1 / ((double)p + 1));
}

static inline tpt_drift drift_of(const geometry *g, size_t layer) {
  tpt_drift drift;
  drift.size = sizeof drift;
  check(tpt_geometry_drift(g->model, layer, &drift));
  return drift;
}

static inline void read_start(const geometry *g, size_t layer) {
  g->values[0] = drift_of(g, layer).start;
}

static inline void read_drift(const geometry *g, size_t layer) {
  tpt_drift drift = drift_of(g, layer);
  const double values[] = {drift.start, drift.mean, drift.l2, drift.max};
  memcpy(g->values, values, sizeof values);
}

static inline void read_theta(const geometry *g, size_t layer) {
  check(tpt_geometry_theta(g->model, layer, g->floats, g->pairs));
  widen(g, 0, g->pairs);
}

static inline void read_angles(const geometry *g, size_t layer) {
  for (size_t i = 0; i < g->N; i++) {
    check(tpt_geometry_angles(g->model, layer, i, g->floats, g->pairs));
    widen(g, i * g->pairs, g->pairs);
  }
}

/* Row 0 is the embedding, row l + 1 what is after block l. */
static inline tpt_point point_of(size_t row) { return row ? TPT_POINT_BLOCK : TPT_POINT_EMBEDDING; }

static inline size_t layer_of(size_t row) { return row ? row - 1 : 0; }

static inline void read_means(const geometry *g, size_t row) {
  check(tpt_geometry_phase_means(g->trainer, point_of(row), layer_of(row), g->values, g->N));
}

static inline void read_rms(const geometry *g, size_t row) {
  check(tpt_geometry_phase_rms(g->trainer, point_of(row), layer_of(row), g->values, g->N));
}

static inline void read_energy(const geometry *g, size_t row) {
  check(tpt_geometry_dc_energy(g->trainer, point_of(row), layer_of(row), g->values, g->N));
}

static inline void read_cosine(const geometry *g, size_t row) {
  check(
      tpt_geometry_phase_cosine(g->trainer, point_of(row), layer_of(row), g->values, g->N * g->N));
}

static inline void read_dc(const geometry *g, size_t row) {
  check(tpt_geometry_dc(g->trainer, point_of(row), layer_of(row), g->floats, g->T));
  widen(g, 0, g->T);
}

static inline void read_zero_sum(const geometry *g, size_t row) {
  (void)row;
  check(tpt_geometry_zero_sum(g->trainer, &g->values[0], &g->values[1]));
}

static inline void read_displacement(const geometry *g, size_t layer) {
  check(tpt_geometry_displacement(g->trainer, layer, &g->values[0]));
}

/* ---- the table ---- */

enum {
  DC_PROFILE,
  DC_PROFILE_START,
  ANGLES_START,
  DRIFT,
  THETA,
  PHASE_ANGLES,
  ZERO_SUM,
  PHASE_MEANS,
  PHASE_RMS,
  DC_ENERGY,
  DC,
  DISPLACEMENT,
  PHASE_COSINE,
  MEASURES
};

static const char *const DRIFT_NAMES[] = {"start", "mean", "l2", "max", NULL};
static const char *const RESIDUAL_NAMES[] = {"measured", "analytic", NULL};

static const measure measures[MEASURES] = {
    [DC_PROFILE] = {"dc_profile", ONCE, BY_PLACE, PROFILE, read_profile, NULL},
    [DC_PROFILE_START] = {"dc_profile_start", ONCE, BY_PLACE, LEARNED, read_profile_start, NULL},
    [ANGLES_START] = {"angles_start", LAYERS, ALONE, ANGLES, read_start, NULL},
    [DRIFT] = {"drift", LAYERS, NAMED, ANGLES, read_drift, DRIFT_NAMES},
    [THETA] = {"theta", LAYERS, BY_PAIR, ANGLES, read_theta, NULL},
    [PHASE_ANGLES] = {"angles", LAYERS, BY_PHASE_PAIR, ANGLES, read_angles, NULL},
    [ZERO_SUM] = {"zero_sum", ONCE, NAMED, STREAM, read_zero_sum, RESIDUAL_NAMES},
    [PHASE_MEANS] = {"phase_means", POINTS, BY_PHASE, STREAM, read_means, NULL},
    [PHASE_RMS] = {"phase_rms", POINTS, BY_PHASE, STREAM, read_rms, NULL},
    [DC_ENERGY] = {"dc_energy", POINTS, BY_PHASE, STREAM, read_energy, NULL},
    [DC] = {"dc", POINTS, BY_POSITION, STREAM, read_dc, NULL},
    [DISPLACEMENT] = {"displacement", LAYERS, ALONE, STREAM | ANGLES | INSIDE, read_displacement,
                      NULL},
    [PHASE_COSINE] = {"phase_cosine", POINTS, BY_PHASES, STREAM, read_cosine, NULL},
};

static inline int has_measure(const geometry *g, const measure *m) {
  return (m->needs & ~g->has) == 0;
}

/* ---- what a model has ---- */

static inline int setting_is(const tpt_config *config, const char *key, const char *word) {
  char text[64];
  size_t length;
  check(tpt_config_get(config, key, text, sizeof text, &length));
  return strcmp(text, word) == 0;
}

static inline unsigned what_it_has(const tpt_config *config) {
  return (setting_is(config, "model.dc.profile", "none") ? 0u : PROFILE) |
         (setting_is(config, "model.dc.profile", "learned") ? LEARNED : 0u) |
         (setting_is(config, "model.rotation.mode", "none") ? 0u : ANGLES);
}

/* Of the weights; geometry_of_stream adds a forward. */
static inline geometry geometry_open(const tpt_model *model) {
  const tpt_config *config = tpt_model_config(model);
  geometry g = {.model = model,
                .has = what_it_has(config),
                .N = count_setting(config, "model.n_phases"),
                .L = count_setting(config, "model.n_layers"),
                .longest = count_setting(config, "model.max_seq_len")};
  g.pairs = count_setting(config, "model.d_model") / g.N / 2;
  size_t room = g.N * (g.N > g.pairs ? g.N : g.pairs);
  if (room < g.longest) room = g.longest;
  room += sizeof(tpt_drift) / sizeof(double); /* more than the named ones of any measure */
  g.values = calloc(room, sizeof *g.values);
  g.floats = calloc(room, sizeof *g.floats);
  if (!g.values || !g.floats) die("there is no memory for %zu numbers", room);
  return g;
}

/* The trainer has been given rows of T tokens.
 *   inside    whether it keeps the inside of blocks (not with train.recompute: block) */
static inline void geometry_of_stream(geometry *g, const tpt_trainer *trainer, size_t T,
                                      int inside) {
  g->trainer = trainer;
  g->T = T;
  g->has |= STREAM | (inside ? INSIDE : 0u);
}

static inline void geometry_close(geometry *g) {
  free(g->values);
  free(g->floats);
}

#endif
