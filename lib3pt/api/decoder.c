/* Decoders: sequences in progress over a model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/objects.h"
#include "base/random.h"

/* ---- life ---- */

static tpti_run run_of(const tpt_decoder *d) {
  const tpti_decode_work *work = &d->sequence.work;
  tpti_run run = tpti_context_run(d->context, d, work->scratch, work->pack);
  run.precision = work->precision;
  return run;
}

/* What a decoder's size depends on. */
typedef struct shape {
  const tpti_dims *dims;
  tpti_form form;
  tpti_precision precision;
  size_t room;
} shape;

static tpt_decoder *layout(const shape *s, tpti_plan *plan, tpti_sequence *sequence) {
  tpt_decoder *decoder = tpti_place(plan, 1, sizeof *decoder);
  tpti_sequence_layout(sequence, s->dims, s->form, s->precision, s->room, plan);
  return decoder;
}

static bool count_bytes(const shape *s, size_t *bytes) {
  tpti_plan plan = {0};
  tpti_sequence sequence;
  layout(s, &plan, &sequence);
  *bytes = plan.used;
  return !plan.overflow;
}

bool tpti_decoder_bytes(const tpti_spec *spec, size_t max_positions, size_t *bytes) {
  return count_bytes(&(shape){&spec->model, TPTI_FORM_F32, TPTI_PRECISION_F32, max_positions},
                     bytes);
}

static tpt_status create(const tpt_model *model, size_t max_positions, tpt_decoder **decoder) {
  const tpti_network *net = &model->net;
  size_t most = net->dims.max_seq_len, room = max_positions ? max_positions : most, bytes;
  if (room > most)
    return tpti_fail(TPT_E_ARGUMENT, "max_positions is %zu; 1 to max_seq_len, %zu, is allowed",
                     room, most);
  tpti_form form = net->held.form;
  const shape s = {&model->config->spec.model, form, tpti_sequence_precision(form), room};
  if (!count_bytes(&s, &bytes)) return tpti_fail_memory(SIZE_MAX);
  tpti_plan plan = {.base = tpti_take(&model->context->memory, bytes)};
  if (!plan.base) return tpti_fail_memory(bytes);
  tpti_sequence sequence;
  tpt_decoder *made = layout(&s, &plan, &sequence);
  memset(made, 0, sizeof *made);
  tpti_handle_init(&made->head, TPTI_DECODER);
  made->bytes = bytes;
  made->sequence = sequence;
  made->sequence.sampler.random = tpti_random_stream(0, 0);
  made->model = model;
  tpti_model_hold(model);
  tpti_context_hold(model->context, &made->context);
  tpti_run run = run_of(made);
  run.progress = NULL; /* some microseconds, of a handle that nobody knows yet */
  run.cancel = NULL;
  tpt_status status = tpti_check_products(&run);
  if (status) {
    tpt_decoder_destroy(made);
    return status;
  }
  tpti_log(model->context, 2, "decoder: room for %zu tokens, %zu bytes", room, bytes);
  *decoder = made;
  return TPT_OK;
}

tpt_status tpt_decoder_create(const tpt_model *model, size_t max_positions, tpt_decoder **decoder) {
  return TPTI_MAKE(model, TPTI_MODEL, decoder, create(model, max_positions, decoder));
}

void tpt_decoder_destroy(tpt_decoder *decoder) {
  if (!decoder || !tpti_handle_is(decoder, TPTI_DECODER, "decoder")) return;
  if (!tpti_handle_release(&decoder->head)) return;
  tpt_context *context = decoder->context;
  tpt_model_destroy((tpt_model *)decoder->model);
  tpti_give(&context->memory, decoder, decoder->bytes);
  tpti_context_release(context);
}

static tpt_status copy(const tpt_decoder *source, tpt_decoder *target) {
  if (!tpti_handle_is(target, TPTI_DECODER, "target")) return TPT_E_ARGUMENT;
  if (source->model != target->model)
    return tpti_fail(TPT_E_ARGUMENT, "source and target are decoders of different models");
  if (source->sequence.position > target->sequence.room)
    return tpti_fail(TPT_E_ARGUMENT, "source holds %zu tokens; target has room for %zu",
                     source->sequence.position, target->sequence.room);
  if (source != target)
    tpti_sequence_copy(&source->sequence, &target->sequence, &source->model->net.dims);
  return TPT_OK;
}

tpt_status tpt_decoder_copy(const tpt_decoder *source, tpt_decoder *target) {
  return TPTI_CALL(source, TPTI_DECODER, copy(source, target));
}

/* ---- feeding ---- */

static tpt_status check_room(const tpt_decoder *d, size_t count) {
  const tpti_sequence *s = &d->sequence;
  if (count == 0) return tpti_fail(TPT_E_ARGUMENT, "count is 0; at least 1 is allowed");
  if (count > s->room - s->position)
    return tpti_fail(
        TPT_E_ARGUMENT,
        "count is %zu; the decoder holds %zu tokens and has room for %zu (max_positions)", count,
        s->position, s->room);
  return TPT_OK;
}

static tpt_status check_tokens(const tpt_decoder *d, const int32_t *tokens, size_t count) {
  TPTI_NEED(tokens);
  tpt_status status = check_room(d, count);
  return status ? status : tpti_check_ids("tokens", tokens, count, d->model->net.dims.V, 0);
}

static tpt_status feed(tpt_decoder *d, const int32_t *tokens, size_t count, const float **logits) {
  tpt_status status = check_tokens(d, tokens, count);
  if (status) return status;
  tpti_run run = run_of(d);
  status = tpti_sequence_feed(&run, &d->model->net, &d->sequence, tokens, count);
  if (!status && logits) *logits = d->sequence.logits;
  return status;
}

tpt_status tpt_decoder_feed(tpt_decoder *decoder, const int32_t *tokens, size_t count,
                            const float **logits) {
  return TPTI_CALL(decoder, TPTI_DECODER, feed(decoder, tokens, count, logits));
}

/* Marks decoders[0, count) as listed until one fails; *listed is how many were. */
static tpt_status list_decoders(tpt_decoder *const *decoders, size_t count, size_t *listed) {
  for (size_t i = 0; i < count; i++, ++*listed) {
    char name[TPTI_NUMBER_TEXT + 16];
    snprintf(name, sizeof name, "decoders[%zu]", i);
    if (!tpti_handle_is(decoders[i], TPTI_DECODER, name)) return TPT_E_ARGUMENT;
    if (decoders[i]->model != decoders[0]->model)
      return tpti_fail(TPT_E_ARGUMENT, "decoders[%zu] is of another model than decoders[0]", i);
    if (decoders[i]->listed)
      return tpti_fail(TPT_E_ARGUMENT, "decoders[%zu] was given before; each may come once", i);
    decoders[i]->listed = true;
  }
  return TPT_OK;
}

static tpt_status check_distinct(tpt_decoder *const *decoders, size_t count) {
  size_t listed = 0;
  tpt_status status = list_decoders(decoders, count, &listed);
  for (size_t i = 0; i < listed; i++) decoders[i]->listed = false;
  return status;
}

static tpt_status check_many(tpt_decoder *const *decoders, size_t count, const int32_t *tokens) {
  TPTI_NEED(tokens);
  if (count == 0) return tpti_fail(TPT_E_ARGUMENT, "count is 0; at least 1 is allowed");
  tpt_status status = check_distinct(decoders, count);
  for (size_t i = 0; i < count && !status; i++)
    if (decoders[i]->sequence.position == decoders[i]->sequence.room)
      status =
          tpti_fail(TPT_E_ARGUMENT, "decoders[%zu] is full: it holds %zu tokens (max_positions)", i,
                    decoders[i]->sequence.room);
  if (status) return status;
  return tpti_check_ids("tokens", tokens, count, decoders[0]->model->net.dims.V, 0);
}

static tpti_sequence *sequence_at(void *user, size_t i) {
  tpt_decoder *const *decoders = user;
  return &decoders[i]->sequence;
}

static tpt_status feed_many(tpt_decoder *const *decoders, size_t count, const int32_t *tokens,
                            const float **logits) {
  tpt_status status = check_many(decoders, count, tokens);
  if (status) return status;
  tpti_run run = run_of(decoders[0]);
  status = tpti_sequence_feed_many(&run, &decoders[0]->model->net, sequence_at, (void *)decoders,
                                   count, tokens);
  for (size_t i = 0; i < count && !status && logits; i++) logits[i] = decoders[i]->sequence.logits;
  return status;
}

tpt_status tpt_decoder_feed_many(tpt_decoder *const *decoders, size_t count, const int32_t *tokens,
                                 const float **logits) {
  TPTI_NEED(decoders);
  if (count == 0) return tpti_fail(TPT_E_ARGUMENT, "count is 0; at least 1 is allowed");
  return TPTI_CALL(decoders[0], TPTI_DECODER, feed_many(decoders, count, tokens, logits));
}

/* ---- scoring ---- */

static tpt_status need_logits(const tpt_decoder *d) {
  if (d->sequence.has_logits) return TPT_OK;
  return tpti_fail(TPT_E_STATE,
                   "there are no logits: nothing was fed since the start or the last rewind");
}

static tpt_status score(tpt_decoder *d, const int32_t *tokens, size_t count,
                        double *log_probability) {
  tpti_sequence *s = &d->sequence;
  TPTI_NEED(log_probability);
  tpt_status status = check_tokens(d, tokens, count);
  if (!status && s->position) status = need_logits(d);
  if (status) return status;
  tpti_run run = run_of(d);
  double first = 0.0;
  if (s->position) first = -tpti_sequence_surprise(&run, s, tokens[0], d->model->net.dims.V);
  status =
      tpti_sequence_score(&run, &d->model->net, s, tokens, NULL, -1, count, log_probability + 1);
  if (status) return status;
  log_probability[0] = first;
  for (size_t i = 1; i < count; i++) log_probability[i] = -log_probability[i];
  return TPT_OK;
}

tpt_status tpt_decoder_score(tpt_decoder *decoder, const int32_t *tokens, size_t count,
                             double *log_probability) {
  return TPTI_CALL(decoder, TPTI_DECODER, score(decoder, tokens, count, log_probability));
}

/* ---- position ---- */

static tpt_status rewind_to(tpt_decoder *d, size_t position) {
  if (position > d->sequence.position)
    return tpti_fail(TPT_E_ARGUMENT, "position is %zu; the decoder holds %zu tokens", position,
                     d->sequence.position);
  d->sequence.position = position;
  d->sequence.has_logits = false;
  return TPT_OK;
}

tpt_status tpt_decoder_rewind(tpt_decoder *decoder, size_t position) {
  return TPTI_CALL(decoder, TPTI_DECODER, rewind_to(decoder, position));
}

static tpt_status get_position(const tpt_decoder *d, size_t *position) {
  TPTI_NEED(position);
  *position = d->sequence.position;
  return TPT_OK;
}

tpt_status tpt_decoder_position(const tpt_decoder *decoder, size_t *position) {
  return TPTI_CALL(decoder, TPTI_DECODER, get_position(decoder, position));
}

/* ---- sampling ---- */

static tpt_status set_sampling(tpt_decoder *d, double temperature, int32_t top_k, double top_p,
                               uint64_t seed) {
  if (!(temperature >= 0.0 && isfinite(temperature)))
    return tpti_fail(TPT_E_ARGUMENT, "temperature is %g; 0 (greedy) or more, finite, is allowed",
                     temperature);
  if (top_k < 0)
    return tpti_fail(TPT_E_ARGUMENT, "top_k is %ld; 0 (off) or more is allowed", (long)top_k);
  if (!(top_p >= 0.0 && top_p <= 1.0))
    return tpti_fail(TPT_E_ARGUMENT, "top_p is %g; 0 to 1 (off) is allowed", top_p);
  tpti_sampler *s = &d->sequence.sampler;
  s->temperature = temperature;
  s->top_k = (size_t)top_k;
  s->top_p = top_p;
  s->random = tpti_random_stream(seed, 0);
  return TPT_OK;
}

tpt_status tpt_decoder_set_sampling(tpt_decoder *decoder, double temperature, int32_t top_k,
                                    double top_p, uint64_t seed) {
  return TPTI_CALL(decoder, TPTI_DECODER, set_sampling(decoder, temperature, top_k, top_p, seed));
}

static tpt_status sample(tpt_decoder *d, int32_t *token) {
  TPTI_NEED(token);
  tpt_status status = need_logits(d);
  if (status) return status;
  return tpti_sample(&d->sequence.sampler, d->sequence.logits, d->model->net.dims.V, token);
}

tpt_status tpt_decoder_sample(tpt_decoder *decoder, int32_t *token) {
  return TPTI_CALL(decoder, TPTI_DECODER, sample(decoder, token));
}

/* ---- generating ---- */

static tpt_status check_stop(const tpt_decoder *d, int32_t stop) {
  size_t V = d->model->net.dims.V;
  if (stop >= -1 && (stop < 0 || (size_t)stop < V)) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT,
                   "stop is %ld; 0 to %zu (model.vocab_size less 1), or -1 for none, "
                   "is allowed",
                   (long)stop, V - 1);
}

/* The draw is taken back where the token could not be fed. */
static tpt_status sample_and_feed(tpti_run *run, tpt_decoder *d, int32_t *token) {
  uint64_t before = d->sequence.sampler.random;
  int32_t drawn;
  tpt_status status = sample(d, &drawn);
  if (!status) status = tpti_sequence_feed(run, &d->model->net, &d->sequence, &drawn, 1);
  if (status)
    d->sequence.sampler.random = before;
  else
    *token = drawn;
  return status;
}

static tpt_status generate(tpt_decoder *d, int32_t stop, int32_t *tokens, size_t count,
                           size_t *made) {
  TPTI_NEED(made);
  *made = 0;
  TPTI_NEED(tokens);
  tpt_status status = check_room(d, count);
  if (!status) status = check_stop(d, stop);
  tpti_run run = run_of(d);
  while (!status && *made < count) {
    tpti_run_span(&run, (double)*made / (double)count, (double)(*made + 1) / (double)count);
    status = sample_and_feed(&run, d, tokens + *made);
    if (!status && tokens[(*made)++] == stop) break;
  }
  return status;
}

tpt_status tpt_decoder_generate(tpt_decoder *decoder, int32_t stop, int32_t *tokens, size_t count,
                                size_t *made) {
  return TPTI_CALL(decoder, TPTI_DECODER, generate(decoder, stop, tokens, count, made));
}
