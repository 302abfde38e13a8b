/* Evaluation over windows. */
#include "decode/evaluate.h"

void tpti_evaluator_layout(tpti_evaluator *e, const tpti_network *net, tpti_precision precision,
                           size_t T, tpti_plan *plan) {
  *e = (tpti_evaluator){.T = T};
  tpti_sequence_layout(&e->sequence, &net->dims, net->held.form, precision, T, plan);
  e->tokens = tpti_place(plan, T, sizeof *e->tokens);
  e->targets = tpti_place(plan, T, sizeof *e->targets);
  e->loss = tpti_place(plan, T, sizeof *e->loss);
}

tpt_status tpti_evaluator_window(tpti_run *run, const tpti_network *net, tpti_evaluator *e,
                                 int32_t ignore_index) {
  e->sequence.position = 0;
  tpt_status status = tpti_sequence_score(run, net, &e->sequence, e->tokens, e->targets,
                                          ignore_index, e->T, e->loss);
  for (size_t t = 0; t < e->T && !status; t++) {
    if (e->targets[t] == ignore_index) continue;
    e->sum += e->loss[t];
    e->counted++;
  }
  return status;
}

double tpti_evaluator_loss(const tpti_evaluator *e) {
  return e->counted ? e->sum / (double)e->counted : 0.0;
}
