/* A model learns a text, for the two programs that let it go on from there. */
#ifndef LEARN_H
#define LEARN_H

#include "check.h"

enum { BATCH = 4, SEQ = 40, STEPS = 60 };

static inline void learn(tpt_model *model, const int32_t *ids, size_t count) {
  int32_t tokens[BATCH * SEQ], targets[BATCH * SEQ];
  uint64_t random_state = 1;
  double loss;
  tpt_dataset *data;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  check(tpt_dataset_from_tokens(NULL, ids, count, &data));
  check(tpt_trainer_create(model, NULL, &trainer));
  check(tpt_optimizer_create(trainer, NULL, &optimizer));
  for (int step = 0; step < STEPS; step++) {
    check(tpt_dataset_random(data, &random_state, BATCH, SEQ, tokens, targets));
    check(tpt_trainer_zero_gradients(trainer));
    check(tpt_trainer_accumulate(trainer, tokens, targets, BATCH, SEQ, &loss));
    check(tpt_optimizer_step(optimizer, NULL));
  }
  tpt_optimizer_destroy(optimizer), tpt_trainer_destroy(trainer), tpt_dataset_destroy(data);
}

#endif
