/* Evaluation: mean cross-entropy over sequential windows. It reads with the decoder's passes, so
 * that a model of any precision is measured the way it is used. */
#ifndef TPTI_DECODE_EVALUATE_H
#define TPTI_DECODE_EVALUATE_H

#include "decode/sequence.h"

typedef struct tpti_evaluator {
  tpti_sequence sequence;
  size_t T;
  int32_t *tokens, *targets; /* [T] of the window being read: filled by the caller */
  double *loss;              /* [T] */
  double sum;                /* over the windows so far */
  uint64_t counted;
} tpti_evaluator;

void tpti_evaluator_layout(tpti_evaluator *evaluator, const tpti_network *net,
                           tpti_precision precision, size_t T, tpti_plan *plan);

/* Adds one window. */
tpt_status tpti_evaluator_window(tpti_run *run, const tpti_network *net, tpti_evaluator *evaluator,
                                 int32_t ignore_index);

/* Mean loss, nats a target; 0 where none counted. */
double tpti_evaluator_loss(const tpti_evaluator *evaluator);

#endif
