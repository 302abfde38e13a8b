/* Other numbers of phases for the small model of api/session.h, heads as the paper's sweep has them
 * (2 query heads and 1 key/value head a phase; N 1: 6 and 3), cut to what D 24 allows. */
#ifndef TPTI_TESTS_PAPER_SIZES_H
#define TPTI_TESTS_PAPER_SIZES_H

#include "api/session.h"

typedef struct swept_size {
  size_t count; /* N */
  const char *settings;
} swept_size;

static const swept_size sweep[] = {
    {1, "model.n_phases=1; model.n_q_heads=6; model.n_kv_heads=3;"},
    {2, "model.n_phases=2; model.n_q_heads=4; model.n_kv_heads=2;"},
    {3, "model.n_phases=3; model.n_q_heads=6; model.n_kv_heads=3;"},
    {6, "model.n_phases=6; model.n_q_heads=6; model.n_kv_heads=6;"},
};

enum { SWEEP = sizeof sweep / sizeof *sweep, MOST_PHASES = 6 };

/* One of them with more settings, after some steps of training. */
static inline session swept(int index, const char *more, uint64_t steps) {
  char settings[300];
  int length = snprintf(settings, sizeof settings, "%s%s", sweep[index].settings, more);
  ck_assert_int_lt(length, (int)sizeof settings);
  session s = start(settings);
  for (uint64_t i = 0; i < steps; i++) train_step(&s, i);
  return s;
}

#endif
