/* Tables, bars and sparklines of text, as wide as the terminal at most. */
#ifndef EXAMPLES_DRAW_H
#define EXAMPLES_DRAW_H

#include <langinfo.h>
#include <locale.h>

#include "geometry.h"
#include "terminal.h"

enum { LABEL = 10, CELL = 10, LEAST_BAR = 8 }; /* columns of a label, of a number, of a bar */

typedef struct paper {
  size_t width;
  int ascii;
} paper;

/* Blocks where the locale is UTF-8 and the terminal is not a dumb one. */
static inline paper paper_for(int ascii) {
  const char *term = getenv("TERM");
  setlocale(LC_CTYPE, ""); /* numbers keep their point: LC_NUMERIC stays "C" */
  int utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && !(term && strcmp(term, "dumb") == 0);
  return (paper){.width = line_width(STDOUT_FILENO), .ascii = ascii || !utf8};
}

/* ---- sentences ---- */

/* Characters, each taken for one column. */
static inline size_t columns_of_text(const char *text, size_t bytes) {
  size_t columns = 0;
  for (size_t i = 0; i < bytes; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
  return columns;
}

/* Prints words, and breaks lines between them. */
static inline void say(const paper *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void say(const paper *p, const char *format, ...) {
  char text[2 * PATH_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  size_t at = 0;
  for (const char *word = text + strspn(text, " "), *end; *word; word = end + strspn(end, " ")) {
    end = word + strcspn(word, " ");
    size_t columns = columns_of_text(word, (size_t)(end - word));
    if (at && at + 1 + columns > p->width) {
      fputs("\n ", stdout);
      at = 1;
    }
    if (at) putchar(' ');
    fwrite(word, 1, (size_t)(end - word), stdout);
    at += (at > 0) + columns;
  }
  putchar('\n');
}

/* ---- numbers ---- */

/* Five digits of the largest number of a table, as far as a cell holds them with a sign. */
static inline int decimals_for(double largest) {
  int decimals = 6;
  for (double power = 0.1; decimals > 0 && largest >= power; power *= 10) decimals--;
  return decimals;
}

static inline void show_number(double value, double largest) {
  int wide = largest > 0 && (largest < 1e-4 || largest >= 1e6);
  if (!isfinite(value))
    printf("%*s", CELL, "-");
  else if (wide)
    printf("%*.2e", CELL, value);
  else
    printf("%*.*f", CELL, decimals_for(largest), value);
}

static inline double largest_of(const double *values, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i])) largest = fmax(largest, fabs(values[i]));
  return largest;
}

/* The name of a row or column. */
typedef void label_fn(char *text, size_t size, const geometry *g, size_t index);

static inline void show_label(label_fn *label, const geometry *g, size_t index) {
  char text[32];
  label(text, sizeof text, g, index);
  printf("%-*s", LABEL, text);
}

/* ---- a table ---- */

typedef struct table {
  const geometry *g;
  label_fn *row, *column;
  size_t rows, columns;
  const double *values; /* [rows, columns] */
} table;

static inline void show_columns(const table *t, size_t first, size_t end, double largest) {
  printf("%*s", LABEL, "");
  for (size_t i = first; i < end; i++) {
    char text[32];
    t->column(text, sizeof text, t->g, i);
    printf("%*s", CELL, text);
  }
  putchar('\n');
  for (size_t row = 0; row < t->rows; row++) {
    show_label(t->row, t->g, row);
    for (size_t i = first; i < end; i++) show_number(t->values[row * t->columns + i], largest);
    putchar('\n');
  }
}

/* What the line is too narrow for goes on below, with the names of the rows again. */
static inline void show_table(const paper *p, const table *t) {
  double largest = largest_of(t->values, t->rows * t->columns);
  size_t fit = p->width > LABEL + CELL ? (p->width - LABEL) / CELL : 1;
  for (size_t first = 0; first < t->columns; first += fit)
    show_columns(t, first, first + fit < t->columns ? first + fit : t->columns, largest);
}

/* ---- pictures ---- */

/* Levels from low to high. */
static inline void show_level(const paper *p, double share) {
  static const char *const BLOCKS[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  enum { LEVELS = 8 };
  if (!isfinite(share)) {
    putchar('?');
    return;
  }
  int level = (int)(share * LEVELS);
  level = level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
  if (p->ascii)
    putchar("_.-=+*#@"[level]);
  else
    fputs(BLOCKS[level], stdout);
}

/* A column of the picture is the mean of the values that fall into it. */
static inline void show_spark(const paper *p, const double *values, size_t count, double low,
                              double high, size_t width) {
  if (width > count) width = count;
  for (size_t i = 0; i < width; i++) {
    size_t first = i * count / width, end = (i + 1) * count / width;
    double sum = 0;
    for (size_t k = first; k < end; k++) sum += values[k];
    double value = sum / (double)(end - first);
    show_level(p, high > low ? (value - low) / (high - low) : isfinite(value) ? 0 : (double)NAN);
  }
}

/* Finite values; [0, 0] where there is none. */
static inline void range_of(const double *values, size_t count, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) continue;
    *low = fmin(*low, values[i]);
    *high = fmax(*high, values[i]);
  }
  if (*low > *high) *low = *high = 0;
}

/* A sparkline a row, all on one scale, which the sentence before them tells. */
static inline void show_sparks(const paper *p, const table *t, const char *what) {
  double low, high;
  size_t width = p->width > LABEL + LEAST_BAR ? p->width - LABEL : LEAST_BAR;
  range_of(t->values, t->rows * t->columns, &low, &high);
  say(p, "%s %.3g %s to %.3g %s", what, low, p->ascii ? "_" : "▁", high, p->ascii ? "@" : "█");
  for (size_t row = 0; row < t->rows; row++) {
    show_label(t->row, t->g, row);
    show_spark(p, t->values + row * t->columns, t->columns, low, high, width);
    putchar('\n');
  }
}

/* `share` of the width, in eighths of a column. */
static inline void show_bar(const paper *p, double share, size_t width) {
  static const char *const EIGHTHS[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  size_t eighths = isfinite(share) ? (size_t)(share * (double)width * 8 + 0.5) : 0;
  for (size_t i = 0; i < eighths / 8; i++) fputs(p->ascii ? "#" : "█", stdout);
  if (!p->ascii) fputs(EIGHTHS[eighths % 8], stdout);
}

/* A number a row, none below 0, and a bar beside it. */
static inline void show_bars(const paper *p, const table *t) {
  double largest = largest_of(t->values, t->rows);
  size_t used = LABEL + CELL + 2, width = p->width > used ? p->width - used : 0;
  for (size_t row = 0; row < t->rows; row++) {
    show_label(t->row, t->g, row);
    show_number(t->values[row], largest);
    fputs("  ", stdout);
    show_bar(p, largest > 0 ? t->values[row] / largest : 0, width);
    putchar('\n');
  }
}

#endif
