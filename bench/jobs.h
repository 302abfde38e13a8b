/* The jobs that bench_step measures: each is begun, done over and over, ended. */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "bench.h"

/* A subject with what its job holds. */
typedef struct bench_work {
  bench_subject subject;
  tpt_context *context;
  tpt_model *model;
  size_t V, batch, seq;
  int32_t *tokens; /* [2 batch seq] of train, [prompt] of prompt, [sequences] of the others */
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  tpt_decoder **decoders;
  size_t sequences; /* decoders; 0 where it trains */
  size_t position;  /* of all of them */
} bench_work;

typedef struct bench_job {
  const char *name, *about;
  void (*begin)(bench_work *work);
  double (*once)(bench_work *work);         /* seconds of one run */
  double (*tokens)(const bench_work *work); /* of one run */
} bench_job;

/* The job of the subject; ends the program where there is none of this name. */
const bench_job *bench_job_of(const bench_subject *subject);
const bench_job *bench_job_at(size_t index); /* NULL past the last */

/* Makes context and model, and begins the job. */
void bench_work_begin(bench_work *work, const bench_subject *subject);
void bench_work_end(bench_work *work);

#endif
