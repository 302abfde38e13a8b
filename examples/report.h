/* What train shows while it works: one moving line on a terminal, else a plain line now and then;
 * and a CSV line a step where a log is asked for. */
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include <sys/ioctl.h>
#include <time.h>

#include "common.h"

typedef struct report {
  FILE *log; /* NULL: none */
  double began, shown, smooth_loss, held_loss;
  uint64_t first_step;
} report;

typedef struct figures {
  uint64_t step, tokens_a_step;
  double loss, norm, lr, share; /* share of the whole training that is done, 0 to 1 */
} figures;

enum { LINE_MOST = 256, NARROWEST = 8 };

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline report report_start(const char *log_path, int append, uint64_t step) {
  report r = {.began = now(), .shown = -1e9, .held_loss = NAN, .first_step = step};
  if (!log_path) return r;
  r.log = fopen(log_path, append ? "a" : "w");
  if (!r.log) die("%s: cannot be written: %s", log_path, strerror(errno));
  setvbuf(r.log, NULL, _IOLBF, 0);
  fseek(r.log, 0, SEEK_END);
  if (ftell(r.log) == 0)
    fputs("step,tokens,seconds,loss,learning_rate,gradient_norm,held_loss\n", r.log);
  return r;
}

/* Columns of the terminal; the last one is left free, where some terminals break the line. */
static inline size_t line_width(void) {
  struct winsize window = {0};
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width <= 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0) width = window.ws_col;
  if (width <= 0) width = 80;
  if (width > LINE_MOST) width = LINE_MOST;
  return (size_t)(width < NARROWEST ? NARROWEST : width) - 1;
}

static inline void report_line(const report *r, const figures *f, char line[LINE_MOST]) {
  double used = now() - r->began, speed = (double)(f->step - r->first_step) / used;
  int at = snprintf(line, LINE_MOST, "step %llu  loss %.3f  perplexity %.1f  %.0f tokens/s",
                    (unsigned long long)f->step, r->smooth_loss, exp(r->smooth_loss),
                    speed * (double)f->tokens_a_step);
  if (!isnan(r->held_loss) && at < LINE_MOST)
    snprintf(line + at, LINE_MOST - (size_t)at, "  held-out %.3f", r->held_loss);
}

/* The whole line where it fits, else what matters most, else as much of that as fits. */
static inline void show_moving(const report *r, const figures *f, const char *line,
                               const char *left) {
  char text[2 * LINE_MOST];
  size_t width = line_width();
  if ((size_t)snprintf(text, sizeof text, "%s%s", line, left) > width)
    snprintf(text, sizeof text, "step %llu  loss %.3f%s", (unsigned long long)f->step,
             r->smooth_loss, left);
  fprintf(stderr, "%-*.*s\r", (int)width, (int)width, text);
}

static inline void report_step(report *r, const figures *f, double share_at_start) {
  double used = now() - r->began, done = f->share - share_at_start;
  double left = done > 0 ? fmax(0, used / done * (1 - f->share)) : 0;
  char line[LINE_MOST], time_left[64];
  /* A running mean over some 20 steps, started at the first loss. */
  r->smooth_loss += (f->loss - r->smooth_loss) /
                    (f->step - r->first_step < 20 ? (double)(f->step - r->first_step) : 20.0);
  if (r->log)
    fprintf(r->log, "%llu,%llu,%.3f,%.6f,%.6g,%.6g,%.6f\n", (unsigned long long)f->step,
            (unsigned long long)(f->step * f->tokens_a_step), used, f->loss, f->lr, f->norm,
            r->held_loss);
  int moving = isatty(STDERR_FILENO);
  if (now() - r->shown < (moving ? 0.2 : 10.0)) return;
  r->shown = now();
  report_line(r, f, line);
  snprintf(time_left, sizeof time_left, "  %.0f:%02d left", floor(left / 60), (int)fmod(left, 60));
  if (moving)
    show_moving(r, f, line, time_left);
  else
    fprintf(stderr, "%s%s\n", line, time_left);
}

/* Takes the moving line away, so that a message stands alone. */
static inline void report_clear(void) {
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%*s\r", (int)line_width(), "");
}

/* 0: the log is not whole. */
static inline int report_end(report *r, const figures *f) {
  char line[LINE_MOST];
  report_clear();
  if (f->step > r->first_step) {
    report_line(r, f, line);
    printf("%s  %.1f s\n", line, now() - r->began);
  }
  if (!r->log) return 1;
  int failed = ferror(r->log);
  return !(fclose(r->log) | failed);
}

#endif
