/* The log of a training. A name that ends in .jsonl gets JSON lines, with held-out losses and the
 * geometry; any other a CSV line a step. */
#ifndef EXAMPLES_LOG_H
#define EXAMPLES_LOG_H

#include "session.h"

static const char LOG_HEAD[] = "step,tokens,seconds,loss,learning_rate,gradient_norm,held_loss\n";
static const char LOG_START[] = "{\"kind\":\"start\",";

typedef struct training_log {
  FILE *file; /* NULL: none is asked for */
  int json;
  geometry geometry;
} training_log;

/* ,"name":value */
static inline void log_value(FILE *to, const char *name, double value) {
  fprintf(to, ",\"%s\":", name);
  json_number(to, value);
}

/* ---- opening ---- */

static inline int byte_at(FILE *file, long at) {
  return fseek(file, at, SEEK_SET) ? EOF : fgetc(file);
}

/* A program that was killed may have left half a line, which would spoil the next one. Where it
 * cannot be read or taken away, it stays. */
static inline void cut_half_line(const char *path) {
  struct stat found;
  FILE *file = stat(path, &found) == 0 && S_ISREG(found.st_mode) ? fopen(path, "r+") : NULL;
  if (!file) return;
  long end = fseek(file, 0, SEEK_END) ? 0 : ftell(file), whole = end;
  int byte = 0;
  while (whole > 0 && (byte = byte_at(file, whole - 1)) != '\n' && byte != EOF) whole--;
  if (byte == EOF || (whole < end && ftruncate(fileno(file), whole)))
    warn("%s: its last line is not whole", path);
  fclose(file);
}

static inline int is_json(const char *path) { return ends_with(path, ".jsonl"); }

/* Whether it is a log of the kind that its name asks for. */
static inline int is_log(const char *path) {
  char head[sizeof LOG_HEAD] = "";
  const char *wanted = is_json(path) ? LOG_START : LOG_HEAD;
  FILE *file = is_filled(path) ? fopen(path, "rb") : NULL;
  if (!file) return 0;
  size_t got = fread(head, 1, strlen(wanted), file);
  fclose(file);
  return got == strlen(wanted) && memcmp(head, wanted, got) == 0;
}

/* A training that is resumed goes on in its log; no other file is written over or into. */
static inline void check_log(const char *path, int resumed) {
  if (!resumed) check_unused("--log", path);
  if (is_filled(path) && !is_log(path))
    die("%s: is no log of this kind: --force replaces it, and --log gives the new one another name",
        path);
}

static inline size_t token_count(const tpt_dataset *data) {
  size_t count;
  check(tpt_dataset_count(data, &count));
  return count;
}

static inline void log_description(FILE *to, const session *s, const char *name,
                                   const tpt_context *context) {
  int32_t threads;
  check(tpt_context_threads(context, &threads));
  fprintf(to, "%s\"name\":", LOG_START);
  json_text(to, name);
  fputs(",\"config\":", to);
  json_config(to, s->config);
  fprintf(to,
          ",\"seed\":%llu,\"build\":", (unsigned long long)count_setting(s->config, "train.seed"));
  json_text(to, tpt_build_info());
  fprintf(to, ",\"threads\":%d,\"data\":{\"tokens\":%zu,\"held\":", (int)threads,
          token_count(s->data));
  if (s->held)
    fprintf(to, "%zu", token_count(s->held));
  else
    fputs("null", to);
  fprintf(to, "},\"steps\":%llu", (unsigned long long)count_setting(s->config, "train.steps"));
  log_value(to, "limit", s->seconds > 0 ? s->seconds : (double)NAN);
  fputs("}\n", to);
}

/* Lines are appended to those of the training that is resumed. */
static inline training_log log_open(const char *path, int resumed, const session *s,
                                    const char *name, const tpt_context *context) {
  training_log log = {.json = path && is_json(path)};
  if (!path) return log;
  int append = resumed && is_log(path);
  if (append) cut_half_line(path);
  log.file = fopen(path, append ? "a" : "w");
  if (!log.file) die("%s: cannot be written: %s", path, strerror(errno));
  setvbuf(log.file, NULL, _IOLBF, 0);
  fseek(log.file, 0, SEEK_END);
  if (log.json) log.geometry = geometry_open(s->model);
  if (ftell(log.file) > 0) return log;
  if (log.json)
    log_description(log.file, s, name, context);
  else
    fputs(LOG_HEAD, log.file);
  return log;
}

/* ---- a step ---- */

/* The held-out loss is empty until it is measured. */
static inline void log_row(FILE *to, const session *s, uint64_t tokens) {
  const figures *f = &s->figures;
  fprintf(to, "%llu,%llu,%.3f,%.6f,%.6g,%.6g,", (unsigned long long)f->step,
          (unsigned long long)tokens, now() - s->report.began, f->loss, f->lr, f->norm);
  if (isfinite(s->report.held_loss)) fprintf(to, "%.6f", s->report.held_loss);
  fputc('\n', to);
}

static inline void log_begin(FILE *to, const session *s, const char *kind) {
  fprintf(to, "{\"kind\":\"%s\",\"step\":%llu,\"seconds\":%.6f", kind,
          (unsigned long long)s->figures.step, s->place.step_seconds);
}

static inline void log_tokens(FILE *to, uint64_t tokens) {
  fprintf(to, ",\"tokens\":%llu", (unsigned long long)tokens);
}

static inline void log_step(training_log *log, const session *s) {
  const figures *f = &s->figures;
  uint64_t tokens = f->step * f->tokens_a_step;
  if (!log->file) return;
  if (!log->json) {
    log_row(log->file, s, tokens);
    return;
  }
  log_begin(log->file, s, "step");
  log_tokens(log->file, tokens);
  log_value(log->file, "loss", f->loss);
  log_value(log->file, "lr", f->lr);
  log_value(log->file, "norm", f->norm);
  fputs("}\n", log->file);
}

/* ---- every train.eval_every steps ---- */

static inline void log_evaluation(FILE *to, const session *s) {
  log_begin(to, s, "held");
  log_value(to, "loss", s->evaluation.loss);
  log_value(to, "perplexity", s->evaluation.perplexity);
  log_tokens(to, s->evaluation.tokens);
  fputs("}\n", to);
}

static inline void log_measures(FILE *to, const geometry *g, const int *which, size_t count) {
  for (size_t i = 0; i < count; i++) {
    fputc(',', to);
    json_measure(to, g, &measures[which[i]]);
  }
  fputs("}\n", to);
}

/* Weights as they are after the step; the stream is that of its last accumulate. */
static inline void log_geometry(training_log *log, const session *s) {
  static const int WHICH[] = {ZERO_SUM, PHASE_MEANS, PHASE_RMS, DC_ENERGY, DISPLACEMENT, DRIFT};
  fprintf(log->file, "{\"kind\":\"geometry\",\"step\":%llu", (unsigned long long)s->figures.step);
  log_measures(log->file, &log->geometry, WHICH, sizeof WHICH / sizeof *WHICH);
}

/* What session_look found, and the geometry, where a step was made. */
static inline void log_look(training_log *log, const session *s) {
  if (!log->file || !log->json) return;
  if (s->evaluation.tokens) log_evaluation(log->file, s);
  if (s->figures.step == s->report.first_step) return;
  int inside = setting_is(s->config, "train.recompute", "none");
  geometry_of_stream(&log->geometry, s->trainer, s->seq, inside);
  log_geometry(log, s);
}

/* ---- the end ---- */

static inline void log_end(training_log *log, const session *s) {
  static const int WHICH[] = {THETA, ANGLES_START, DC_PROFILE, PHASE_COSINE};
  if (!log->file || !log->json) return;
  log_begin(log->file, s, "end");
  log_measures(log->file, &log->geometry, WHICH, sizeof WHICH / sizeof *WHICH);
}

/* 0: the log is not whole. */
static inline int log_close(training_log *log) {
  geometry_close(&log->geometry);
  if (!log->file) return 1;
  int failed = ferror(log->file);
  return !(fclose(log->file) | failed);
}

#endif
