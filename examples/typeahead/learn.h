/* What learns: a model, its trainer and optimizer, the lines, and the checkpoint that keeps them.
 */
#ifndef LEARN_H
#define LEARN_H

#include <signal.h>
#include <time.h>

#include "memory.h"

enum { TROUBLE_MOST = 512 }; /* bytes of a reason, a long path is cut */

typedef struct learner {
  const char *state;                  /* path of the checkpoint */
  uint64_t steps_line;                /* training steps a line */
  const volatile sig_atomic_t *ended; /* not 0: begin no other step; may be NULL */
  tpt_context *context;
  tpt_tokenizer *tokenizer;
  tpt_config *config; /* of the training */
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  tpt_decoder *decoder; /* for the scores: reads the weights as they are */
  memory memory;
  int32_t mark;               /* the token that begins and ends a line */
  size_t row;                 /* tokens of a row of the batch, and targets */
  double lr;                  /* of a step, once it is warm */
  int32_t *batch;             /* tokens and targets [ROWS, row] */
  time_t saved;               /* when it was, or was tried */
  char trouble[TROUBLE_MOST]; /* why the last save failed; "": it did not */
} learner;

/* From the checkpoint where there is one, else from the model file and its tokenizer, else from
 * nothing (both NULL). A state that others can read is closed to them. The state, the steps and the
 * context are set by the caller. */
void learn_open(learner *l, const char *model, const char *tokenizer);
void learn_close(learner *l);

/* Puts into the memory how well the model foresees a line now.
 *   returns   CANCELLED: it did not; ARGUMENT: the tokenizer cannot read the line, which is not to
 * be learned; else what failed, as MEMORY: all is as it was */
tpt_status learn_score(learner *l, const char *line);

/* Takes the line into the memory, and makes the steps: on it, and on lines drawn from the memory;
 * more of them on a line that was learned before and is not known yet.
 *   returns   CANCELLED: some steps were not made; else what failed, as MEMORY: the steps before it
 * stay */
tpt_status learn_line(learner *l, const char *line);

/* Bytes of the checkpoint. */
double learn_size(const learner *l);

/* Writes the checkpoint: whole, or the former one stays.
 *   why       result [capacity], where it fails: begins with the path
 *   returns   CANCELLED: it stays */
tpt_status learn_save(const learner *l, const char *path, char *why, size_t capacity);

/* The same to l->state, where the last time is a minute ago: what a killed process may lose. One
 * that fails leaves its reason in l->trouble, and comes again a minute later. */
void learn_save_now_and_then(learner *l);

#endif
