/* What trainers compute, forward, loss and backward: which call may follow which, and what each
 * keeps. */
#include <math.h>
#include <stdio.h>

#include "api/objects.h"
#include "kernel/kernel.h"
#include "train/flat.h"

/* ---- what the calls below share ---- */

static tpti_pass pass_of(tpt_trainer *t, tpti_run *run) {
  return (tpti_pass){
      .run = run, .net = &t->model->net, .acts = &t->acts, .B = t->B, .T = t->T, .M = t->B * t->T};
}

/* The pass of a backward. Of blank gradients it clears what operations add to, all but the
 * matrices of products. */
static tpti_pass backward_pass_of(tpt_trainer *t, tpti_run *run) {
  tpti_pass pass = pass_of(t, run);
  const tpti_params *p = &t->model->net.params;
  pass.fresh = t->blank;
  for (size_t i = 0; i < p->tensor_count && t->blank; i++) {
    const tpti_tensor *tensor = &p->tensors[i];
    if (tensor->ndim == 1 || tensor->offset == p->token_emb)
      tpti_flat_clear(run, t->gradients + tensor->offset, tensor->count);
  }
  t->blank = false;
  return pass;
}

static tpti_loss_rule rule_of(const tpt_trainer *t) {
  return (tpti_loss_rule){t->config->spec.train.ignore_index, t->config->spec.train.aux_coef};
}

static bool below(int32_t id, size_t V) { return id >= 0 && (size_t)id < V; }

tpt_status tpti_check_ids(const char *name, const int32_t *ids, size_t count, size_t V,
                          int32_t extra) {
  char ignored[TPTI_NUMBER_TEXT + 32] = "";
  for (size_t i = 0; i < count; i++) {
    if (below(ids[i], V) || ids[i] == extra) continue;
    if (!below(extra, V))
      snprintf(ignored, sizeof ignored, " and %ld (train.ignore_index)", (long)extra);
    return tpti_fail(TPT_E_ARGUMENT,
                     "%s[%zu] is %ld; ids from 0 to below model.vocab_size (%zu)%s are allowed",
                     name, i, (long)ids[i], V, ignored);
  }
  return TPT_OK;
}

static tpt_status check_shape(const tpt_trainer *t, size_t batch, size_t seq) {
  size_t most = t->model->net.dims.max_seq_len, rows;
  if (batch == 0 || seq == 0)
    return tpti_fail(TPT_E_ARGUMENT, "batch %zu x seq %zu; at least 1 x 1 is allowed", batch, seq);
  if (seq > most)
    return tpti_fail(TPT_E_ARGUMENT, "seq is %zu; 1 to max_seq_len, %zu, is allowed", seq, most);
  if (!tpti_mul(&rows, batch, seq) || rows > t->acts.room)
    return tpti_fail(TPT_E_ARGUMENT,
                     "batch %zu x seq %zu; the trainer has room for %zu tokens (train.batch x "
                     "train.seq_len)",
                     batch, seq, t->acts.room);
  return TPT_OK;
}

static tpt_status check_batch(const tpt_trainer *t, const int32_t *tokens, size_t batch,
                              size_t seq) {
  TPTI_NEED(tokens);
  tpt_status status = check_shape(t, batch, seq);
  if (status) return status;
  return tpti_check_ids("tokens", tokens, batch * seq, t->model->net.dims.V, 0);
}

static tpt_status check_targets(const tpt_trainer *t, const int32_t *targets, size_t count) {
  TPTI_NEED(targets);
  return tpti_check_ids("targets", targets, count, t->model->net.dims.V,
                        t->config->spec.train.ignore_index);
}

/* A forward that still stands: what it computed is of the weights as they are. */
static tpt_status need_forward(const tpt_trainer *t) {
  if (!t->state.forward)
    return tpti_fail(TPT_E_STATE,
                     "there is no forward: call tpt_trainer_forward first (an accumulate leaves "
                     "none, nor does a forward that was cancelled)");
  if (t->state.version != atomic_load(&t->model->version))
    return tpti_fail(TPT_E_STATE, "the weights have changed since the last tpt_trainer_forward");
  return TPT_OK;
}

static tpt_status need_clean(const tpt_trainer *t) {
  if (!t->state.spoiled) return TPT_OK;
  return tpti_fail(TPT_E_STATE, "the gradients are spoiled by a call that did not finish; call "
                                "tpt_trainer_zero_gradients first");
}

static tpt_status need_first_backward(const tpt_trainer *t) {
  tpt_status status = need_clean(t);
  if (!status) status = need_forward(t);
  if (!status && t->state.backward)
    status = tpti_fail(TPT_E_STATE, "this forward has had its backward; call tpt_trainer_forward");
  return status;
}

/* TPT_E_NUMERIC, saying where the stream is not finite first. */
static tpt_status fail_loss(const tpt_trainer *t) {
  size_t count = t->B * t->T * t->model->net.dims.D;
  const tpti_kernels *kernels = t->context->kernels;
  if (!isfinite(kernels->sum_squares(t->acts.embedding, count)))
    return tpti_fail(TPT_E_NUMERIC, "the loss is not finite; the embedding is not");
  for (size_t l = 0; l < t->model->net.dims.L; l++)
    if (!isfinite(kernels->sum_squares(t->acts.blocks[l].out, count)))
      return tpti_fail(TPT_E_NUMERIC, "the loss is not finite; the stream is not after block %zu",
                       l);
  return tpti_fail(TPT_E_NUMERIC, "the loss is not finite; the stream is, so it is the head");
}

/* ---- forward, loss, backward ---- */

/* The forward pass of either way; afterwards activations can be read. */
static tpt_status run_forward(tpt_trainer *t, tpti_run *run, const int32_t *tokens, size_t batch,
                              size_t seq) {
  t->state = (tpti_trainer_state){.spoiled = t->state.spoiled};
  t->B = batch;
  t->T = seq;
  const tpti_pass pass = pass_of(t, run);
  tpti_step_forward(&pass, tokens);
  tpt_status status = tpti_run_status(run);
  t->state.readable = !status;
  return status;
}

static tpt_status forward(tpt_trainer *t, const int32_t *tokens, size_t batch, size_t seq) {
  tpt_status status = check_batch(t, tokens, batch, seq);
  if (status) return status;
  tpti_run run = tpti_trainer_run(t);
  unsigned long long version = atomic_load(&t->model->version);
  status = run_forward(t, &run, tokens, batch, seq);
  t->state.forward = !status;
  t->state.version = version;
  return status;
}

tpt_status tpt_trainer_forward(tpt_trainer *trainer, const int32_t *tokens, size_t batch,
                               size_t seq) {
  return TPTI_CALL(trainer, TPTI_TRAINER, forward(trainer, tokens, batch, seq));
}

/* The buffer of all logits, made once: it is outside the plan. */
static tpt_status make_logits(tpt_trainer *t) {
  size_t bytes;
  if (t->logits) return TPT_OK;
  if (!tpti_mul(&bytes, t->acts.room, t->model->net.dims.V) ||
      !tpti_mul(&bytes, bytes, sizeof *t->logits))
    return tpti_fail_memory(SIZE_MAX);
  t->logits = tpti_take(&t->context->memory, bytes);
  if (!t->logits) {
    char what[64];
    snprintf(what, sizeof what, "the logits of %zu tokens", t->acts.room);
    return tpti_fail_memory_for(bytes, what);
  }
  t->logits_bytes = bytes;
  return TPT_OK;
}

static tpt_status logits(tpt_trainer *t, const float **result) {
  if (!result) return tpti_fail(TPT_E_ARGUMENT, "logits is NULL");
  tpt_status status = need_forward(t);
  if (!status) status = make_logits(t);
  if (status) return status;
  tpti_run run = tpti_trainer_run(t);
  const tpti_pass pass = pass_of(t, &run);
  tpti_step_logits(&pass, t->logits);
  if ((status = tpti_run_status(&run))) return status;
  *result = t->logits;
  return TPT_OK;
}

tpt_status tpt_trainer_logits(tpt_trainer *trainer, const float **result) {
  return TPTI_CALL(trainer, TPTI_TRAINER, logits(trainer, result));
}

static tpt_status loss(tpt_trainer *t, const int32_t *targets, double *result) {
  if (!result) return tpti_fail(TPT_E_ARGUMENT, "loss is NULL");
  tpt_status status = need_forward(t);
  if (!status) status = check_targets(t, targets, t->B * t->T);
  if (status) return status;
  tpti_run run = tpti_trainer_run(t);
  const tpti_pass pass = pass_of(t, &run);
  const tpti_loss_rule rule = rule_of(t);
  t->state.loss = false;
  double value = tpti_step_loss(&pass, &rule, targets);
  if ((status = tpti_run_status(&run))) return status;
  if (!isfinite(value)) return fail_loss(t);
  t->state.loss = true;
  *result = value;
  return TPT_OK;
}

tpt_status tpt_trainer_loss(tpt_trainer *trainer, const int32_t *targets, double *result) {
  return TPTI_CALL(trainer, TPTI_TRAINER, loss(trainer, targets, result));
}

/* The gradients are unfinished sums that must not be used; blank ones, of which parts were never
 * written, are blank again. */
static void spoil(tpt_trainer *t, const tpti_pass *pass) {
  t->state.spoiled = true;
  t->blank = pass->fresh;
}

static tpt_status end_backward(tpt_trainer *t, const tpti_pass *pass) {
  tpt_status status = tpti_run_status(pass->run);
  t->state.backward = true;
  if (status) spoil(t, pass);
  return status;
}

static tpt_status backward(tpt_trainer *t) {
  tpt_status status = need_first_backward(t);
  if (!status && !t->state.loss)
    status = tpti_fail(TPT_E_STATE, "there was no tpt_trainer_loss of this forward");
  if (status) return status;
  tpti_run run = tpti_trainer_run(t);
  const tpti_pass pass = backward_pass_of(t, &run);
  const tpti_loss_rule rule = rule_of(t);
  tpti_step_backward(&pass, &rule, t->gradients);
  return end_backward(t, &pass);
}

tpt_status tpt_trainer_backward(tpt_trainer *trainer) {
  return TPTI_CALL(trainer, TPTI_TRAINER, backward(trainer));
}

static tpt_status backward_logits(tpt_trainer *t, const float *dlogits, size_t count) {
  TPTI_NEED(dlogits);
  tpt_status status = need_first_backward(t);
  if (status) return status;
  size_t V = t->model->net.dims.V;
  if (count / V != t->B * t->T || count % V)
    return tpti_fail(TPT_E_ARGUMENT, "count is %zu; the logits are [%zu, %zu, %zu]", count, t->B,
                     t->T, V);
  tpti_run run = tpti_trainer_run(t);
  const tpti_pass pass = backward_pass_of(t, &run);
  tpti_step_backward_logits(&pass, dlogits, t->gradients);
  return end_backward(t, &pass);
}

tpt_status tpt_trainer_backward_logits(tpt_trainer *trainer, const float *dlogits, size_t count) {
  return TPTI_CALL(trainer, TPTI_TRAINER, backward_logits(trainer, dlogits, count));
}

static tpt_status run_accumulate(tpt_trainer *t, tpti_run *run, const int32_t *targets,
                                 double *result) {
  const tpti_pass pass = backward_pass_of(t, run);
  const tpti_loss_rule rule = rule_of(t);
  double value = tpti_step_accumulate(&pass, &rule, targets, t->gradients);
  tpt_status status = tpti_run_status(run);
  if (!status && !isfinite(value)) status = fail_loss(t);
  if (status)
    spoil(t, &pass);
  else
    *result = value;
  return status;
}

static tpt_status accumulate(tpt_trainer *t, const int32_t *tokens, const int32_t *targets,
                             const size_t shape[2], double *result) {
  if (!result) return tpti_fail(TPT_E_ARGUMENT, "loss is NULL");
  tpt_status status = check_batch(t, tokens, shape[0], shape[1]);
  if (!status) status = check_targets(t, targets, shape[0] * shape[1]);
  if (!status) status = need_clean(t);
  if (status) return status;
  tpti_run run = tpti_trainer_run(t);
  tpti_run_span(&run, 0.0, TPTI_FORWARD_SHARE);
  if ((status = run_forward(t, &run, tokens, shape[0], shape[1]))) {
    t->state.spoiled = true;
    return status;
  }
  return run_accumulate(t, &run, targets, result);
}

tpt_status tpt_trainer_accumulate(tpt_trainer *trainer, const int32_t *tokens,
                                  const int32_t *targets, size_t batch, size_t seq,
                                  double *result) {
  const size_t shape[2] = {batch, seq};
  return TPTI_CALL(trainer, TPTI_TRAINER, accumulate(trainer, tokens, targets, shape, result));
}
