/* A measure as lines of one long table: measure,point,layer,phase,index,value. */
#ifndef EXAMPLES_CSV_H
#define EXAMPLES_CSV_H

#include "geometry.h"

/* The place of a value; what a measure has not stays empty. */
static inline void csv_row(FILE *to, const measure *m, size_t row) {
  if (m->rows == LAYERS) fprintf(to, ",,%zu,", row);
  if (m->rows == POINTS && row == 0) fputs(",embedding,,", to);
  if (m->rows == POINTS && row > 0) fprintf(to, ",block,%zu,", row - 1);
  if (m->rows == ONCE) fputs(",,,", to);
}

/* Phase and index. The second of two phases, like a pair of channels or a position, is an index. */
static inline void csv_column(FILE *to, const geometry *g, const measure *m, size_t column) {
  size_t inner = m->columns == BY_PHASES ? g->N : m->columns == BY_PHASE_PAIR ? g->pairs : 0;
  if (inner)
    fprintf(to, "%zu,%zu,", column / inner, column % inner);
  else if (m->columns == BY_PHASE)
    fprintf(to, "%zu,,", column);
  else if (m->columns == ALONE || m->columns == NAMED)
    fputs(",,", to);
  else
    fprintf(to, ",%zu,", column);
}

/* The digits that float needs to be read back; nothing where there is no number. */
static inline void csv_measure(FILE *to, const geometry *g, const measure *m) {
  size_t rows = has_measure(g, m) ? row_count(g, m) : 0, columns = column_count(g, m);
  for (size_t row = 0; row < rows; row++) {
    m->read(g, row);
    for (size_t i = 0; i < columns; i++) {
      fputs(m->name, to);
      if (m->columns == NAMED) fprintf(to, "_%s", m->names[i]);
      csv_row(to, m, row);
      csv_column(to, g, m, i);
      if (isfinite(g->values[i])) fprintf(to, "%.9g", g->values[i]);
      fputc('\n', to);
    }
  }
}

/* All, under the names of the columns. */
static inline void csv_measures(FILE *to, const geometry *g) {
  fputs("measure,point,layer,phase,index,value\n", to);
  for (int i = 0; i < MEASURES; i++) csv_measure(to, g, &measures[i]);
}

#endif
