/* What train shows while it works: one moving line on a terminal, else a plain line now and then;
 * and a CSV line a step where a log is asked for. */
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

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

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline report report_start(const char *log_path, int append, uint64_t step) {
  report r = {.began = now(), .shown = -1e9, .held_loss = NAN, .first_step = step};
  if (!log_path) return r;
  r.log = fopen(log_path, append ? "a" : "w");
  if (!r.log) die("%s cannot be written: %s", log_path, strerror(errno));
  setvbuf(r.log, NULL, _IOLBF, 0);
  if (!append) fputs("step,tokens,seconds,loss,learning_rate,gradient_norm,held_loss\n", r.log);
  return r;
}

static inline void report_line(const report *r, const figures *f, FILE *to) {
  double used = now() - r->began, speed = (double)(f->step - r->first_step) / used;
  fprintf(to, "step %llu  loss %.3f  perplexity %.1f  %.0f tokens/s", (unsigned long long)f->step,
          r->smooth_loss, exp(r->smooth_loss), speed * (double)f->tokens_a_step);
  if (!isnan(r->held_loss)) fprintf(to, "  held-out %.3f", r->held_loss);
}

static inline void report_step(report *r, const figures *f, double share_at_start) {
  double used = now() - r->began, done = f->share - share_at_start;
  double left = done > 0 ? fmax(0, used / done * (1 - f->share)) : 0;
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
  report_line(r, f, stderr);
  fprintf(stderr, "  %.0f:%02d left%s", floor(left / 60), (int)fmod(left, 60),
          moving ? "   \r" : "\n");
}

static inline void report_end(report *r, const figures *f) {
  if (isatty(STDERR_FILENO)) fprintf(stderr, "%*s\r", 100, "");
  if (f->step > r->first_step) {
    report_line(r, f, stdout);
    printf("  %.1f s\n", now() - r->began);
  }
  if (r->log && fclose(r->log)) die("the log could not be written whole: is the disk full?");
}

#endif
