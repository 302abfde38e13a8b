/* What train shows while it works: one moving line on a terminal, else a plain line now and then.
 */
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include <time.h>

#include "common.h"
#include "terminal.h"

enum { TIME_MOST = 64 }; /* bytes of the time that is left */

typedef struct report {
  double began, shown, smooth_loss, held_loss;
  uint64_t first_step;
} report;

typedef struct figures {
  uint64_t step, tokens_a_step;
  double loss, norm, lr, share; /* share of the whole training that is done, 0 to 1 */
} figures;

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline report report_start(uint64_t step) {
  return (report){.began = now(), .shown = -1e9, .held_loss = NAN, .first_step = step};
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
  size_t width = line_width(STDERR_FILENO);
  if ((size_t)snprintf(text, sizeof text, "%s%s", line, left) > width)
    snprintf(text, sizeof text, "step %llu  loss %.3f%s", (unsigned long long)f->step,
             r->smooth_loss, left);
  fprintf(stderr, "%-*.*s\r", (int)width, (int)width, text);
}

/* "4:07 left", and from an hour on "19 h 39 min left". */
static inline void time_text(double seconds, char text[TIME_MOST]) {
  double minutes = floor(seconds / 60);
  if (minutes < 60)
    snprintf(text, TIME_MOST, "  %.0f:%02.0f left", minutes, floor(seconds - 60 * minutes));
  else
    snprintf(text, TIME_MOST, "  %.0f h %02.0f min left", floor(minutes / 60), fmod(minutes, 60));
}

static inline void report_step(report *r, const figures *f, double share_at_start) {
  double used = now() - r->began, done = f->share - share_at_start;
  double left = done > 0 ? fmax(0, used / done * (1 - f->share)) : 0;
  char line[LINE_MOST], time_left[TIME_MOST];
  /* A running mean over some 20 steps, started at the first loss. */
  r->smooth_loss += (f->loss - r->smooth_loss) /
                    (f->step - r->first_step < 20 ? (double)(f->step - r->first_step) : 20.0);
  int moving = isatty(STDERR_FILENO);
  if (now() - r->shown < (moving ? 0.2 : 10.0)) return;
  r->shown = now();
  report_line(r, f, line);
  time_text(left, time_left);
  if (moving)
    show_moving(r, f, line, time_left);
  else
    fprintf(stderr, "%s%s\n", line, time_left);
}

/* Takes the moving line away, so that a message stands alone. */
static inline void report_clear(void) {
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%*s\r", (int)line_width(STDERR_FILENO), "");
}

static inline void report_end(const report *r, const figures *f) {
  char line[LINE_MOST];
  report_clear();
  if (f->step == r->first_step) return;
  report_line(r, f, line);
  printf("%s  %.1f s\n", line, now() - r->began);
}

#endif
