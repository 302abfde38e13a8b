/* Evaluation of a model on a dataset. */
#include <math.h>

#include "api/objects.h"
#include "decode/evaluate.h"

typedef struct job {
  const tpt_model *model;
  const tpt_dataset *dataset;
  int32_t ignore_index;
  size_t windows;
} job;

static tpt_status check_window(const job *e, const tpti_evaluator *w, size_t index) {
  size_t V = e->model->net.dims.V;
  tpt_status status = tpti_check_ids("tokens", w->tokens, w->T, V, 0);
  if (!status) status = tpti_check_ids("targets", w->targets, w->T, V, e->ignore_index);
  if (!status) return status;
  return tpti_fail(status, "window %zu: %s: %s", index, tpti_error_text(),
                   tpti_dataset_name(e->dataset));
}

static tpt_status check_loss(const job *e, const tpti_evaluator *w, size_t index) {
  if (isfinite(w->sum)) return TPT_OK;
  return tpti_fail(TPT_E_NUMERIC, "window %zu: the loss is not finite: %s", index,
                   tpti_dataset_name(e->dataset));
}

static tpt_status read_windows(const job *e, tpti_evaluator *w) {
  tpti_run run = tpti_context_run(e->model->context, e->model, w->sequence.work.scratch,
                                  w->sequence.work.pack);
  run.precision = w->sequence.work.precision;
  tpt_status status = TPT_OK;
  for (size_t i = 0; i < e->windows && !status; i++) {
    tpti_run_span(&run, (double)i / (double)e->windows, (double)(i + 1) / (double)e->windows);
    status = tpt_dataset_window(e->dataset, i, w->T, w->tokens, w->targets);
    if (!status) status = check_window(e, w, i);
    if (!status) status = tpti_evaluator_window(&run, &e->model->net, w, e->ignore_index);
    if (!status) status = check_loss(e, w, i);
  }
  return status;
}

static tpt_status run_evaluation(const job *e, size_t seq, tpt_evaluation *ours) {
  const tpti_memory *memory = &e->model->context->memory;
  tpti_evaluator evaluator;
  tpti_plan plan = {0};
  tpti_precision precision = tpti_sequence_precision(e->model->net.held.form);
  tpti_evaluator_layout(&evaluator, &e->model->net, precision, seq, &plan);
  size_t bytes = plan.used;
  if (plan.overflow) return tpti_fail_memory(SIZE_MAX);
  plan = (tpti_plan){.base = tpti_take(memory, bytes)};
  if (!plan.base) return tpti_fail_memory(bytes);
  void *block = plan.base;
  tpti_evaluator_layout(&evaluator, &e->model->net, precision, seq, &plan);
  tpt_status status = read_windows(e, &evaluator);
  *ours = (tpt_evaluation){.loss = tpti_evaluator_loss(&evaluator), .tokens = evaluator.counted};
  ours->perplexity = exp(ours->loss);
  tpti_give(memory, block, bytes);
  return status;
}

static tpt_status evaluate(const tpt_model *model, const tpt_config *config,
                           const tpt_dataset *dataset, const size_t shape[2],
                           tpt_evaluation *evaluation) {
  size_t seq = shape[0], most = model->net.dims.max_seq_len, windows = 0;
  tpt_status status = tpti_result_size(evaluation, sizeof *evaluation, "evaluation");
  if (status) return status;
  if (config && !tpti_handle_is(config, TPTI_CONFIG, "config")) return TPT_E_ARGUMENT;
  if (!tpti_handle_is(dataset, TPTI_DATASET, "dataset")) return TPT_E_ARGUMENT;
  if (seq == 0 || seq > most)
    return tpti_fail(TPT_E_ARGUMENT, "seq is %zu; 1 to max_seq_len, %zu, is allowed", seq, most);
  if (config) status = tpti_spec_check(&config->spec);
  if (config && !status)
    status = tpti_spec_same_model(&config->spec, &model->config->spec, "the model");
  if (!status) status = tpt_dataset_window_count(dataset, seq, &windows);
  if (status) return status;
  if (windows == 0) return tpti_dataset_short(dataset, seq);
  const job e = {.model = model,
                 .dataset = dataset,
                 .ignore_index = (config ? config : model->config)->spec.train.ignore_index,
                 .windows = shape[1] && shape[1] < windows ? shape[1] : windows};
  tpt_evaluation ours;
  if ((status = run_evaluation(&e, seq, &ours))) return status;
  return tpti_result(evaluation, &ours, sizeof ours, sizeof ours, "evaluation");
}

tpt_status tpt_evaluate(const tpt_model *model, const tpt_config *config,
                        const tpt_dataset *dataset, size_t seq, size_t max_windows,
                        tpt_evaluation *evaluation) {
  const size_t shape[2] = {seq, max_windows};
  return TPTI_CALL(model, TPTI_MODEL, evaluate(model, config, dataset, shape, evaluation));
}
