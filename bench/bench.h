/* What the bench programs share: the words of a command line, a model to measure, times. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <3pt/3pt.h>

/* A preset by its short name, with the batch that bench/torch_peer.py trains it on. */
typedef struct bench_size {
  const char *name, *preset, *batch, *seq;
} bench_size;

/* One thing to measure, as the words of the command line say. */
typedef struct bench_subject {
  const char *job;
  const bench_size *size;
  const char *precision; /* f32, bf16x3, bf16x6, bf16; int8 where it decodes */
  bool fold;             /* decode a folded model */
  int32_t threads;
  double seconds;   /* to measure for */
  size_t runs;      /* to measure at most; 0: any number */
  size_t sequences; /* of the job "many" */
  size_t prompt;    /* tokens of the job "prompt" */
  tpt_config *config;
} bench_subject;

/* The words that bench_read understands, for a usage text. */
extern const char bench_words[];

/* JOB SIZE [WORD ...] of words[0, count), up to the end or the word "against"; returns how many
 * words that were. Ends the program where one is wrong. Default precision f32. */
int bench_read(bench_subject *subject, char **words, int count);

/* Ends the program: with a JSON line and status 0 where the library says UNSUPPORTED, so that a
 * table can say so, else with what went wrong. */
void bench_need(tpt_status status);
void bench_die(const char *what);

double bench_now(void); /* seconds */
size_t bench_number(const tpt_config *config, const char *key);
void bench_fill(int32_t *tokens, size_t count, size_t V);
void *bench_take(size_t bytes); /* aligned, zeroed */

/* Sorts; the value below which this share of them lies. */
double bench_quantile(double *values, size_t count, double share);

double bench_rss_gb(void); /* the peak of this process */

#endif
