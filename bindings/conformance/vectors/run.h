/* A training as README.md has it under "Training", and what the scenarios share. */
#ifndef RUN_H
#define RUN_H

#include "values.h"

typedef struct run {
  tpt_context *context;
  tpt_tokenizer *tokenizer;
  tpt_dataset *data;
  tpt_config *config;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  uint64_t random_state;
  size_t batch, seq, steps;
  int32_t *tokens, *targets; /* [batch, seq] */
} run;

tpt_context *context_of(size_t threads);
tpt_config *config_of(const char *yaml);
size_t setting(const tpt_config *config, const char *key); /* a whole number of a description */

/* seed: u64 of the weights. No step is done yet. */
run run_start(const json_t *training, uint64_t seed);

/* losses, norms: results [steps], may be NULL. */
void run_steps(run *r, size_t steps, double *losses, double *norms);

/* Draws a batch and adds its gradients to 0. */
double run_accumulate(run *r);

/* run_start with the training's seed, and all steps. */
run run_whole(const json_t *training);
void run_end(run *r);

json_t *parameters_of(tpt_model *model); /* their hash */

/* Each reads inputs, fills results, and may write files that begin with `scratch`. */
typedef void scenario(const json_t *inputs, json_t *results, const char *scratch);
scenario train, decode, forward, checkpoint, geometry, tokenizer, config, evaluate, errors;

/* scratch with an ending, for one file; removed by drop_file. */
char *scratch_file(const char *scratch, const char *ending);
void drop_file(char *path);

#endif
