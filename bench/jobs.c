/* The jobs of bench_step, all through the public interface. */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

enum { START = 16, POSITIONS = 128 }; /* tokens before decoding is timed; after so many, again */

/* ---- train: zero gradients, accumulate, optimizer step, on random tokens ---- */

static void train_begin(bench_work *w) {
  w->tokens = bench_take(2 * w->batch * w->seq * sizeof *w->tokens);
  bench_need(tpt_trainer_create(w->model, NULL, &w->trainer));
  bench_need(tpt_optimizer_create(w->trainer, NULL, &w->optimizer));
}

static double train_once(bench_work *w) {
  size_t count = w->batch * w->seq;
  double loss, from;
  bench_fill(w->tokens, 2 * count, w->V);
  from = bench_now();
  bench_need(tpt_trainer_zero_gradients(w->trainer));
  bench_need(
      tpt_trainer_accumulate(w->trainer, w->tokens, w->tokens + count, w->batch, w->seq, &loss));
  bench_need(tpt_optimizer_step(w->optimizer, NULL));
  return bench_now() - from;
}

static double train_tokens(const bench_work *w) { return (double)(w->batch * w->seq); }

/* ---- decode and many: one token a run to each sequence, the likeliest one ---- */

static void make_decoders(bench_work *w, size_t sequences, size_t positions) {
  size_t most = bench_number(w->subject.config, "model.max_seq_len");
  w->sequences = sequences;
  w->decoders = bench_take(sequences * sizeof *w->decoders);
  for (size_t i = 0; i < sequences; i++)
    bench_need(tpt_decoder_create(w->model, positions < most ? positions : most, &w->decoders[i]));
}

static void decode_begin(bench_work *w) {
  w->tokens = bench_take(sizeof *w->tokens);
  make_decoders(w, 1, POSITIONS);
}

static void many_begin(bench_work *w) {
  w->tokens = bench_take(w->subject.sequences * sizeof *w->tokens);
  make_decoders(w, w->subject.sequences, POSITIONS);
}

/* All sequences at their start again, each with a prompt of its own. */
static void start_again(bench_work *w) {
  int32_t prompt[START];
  for (size_t i = 0; i < w->sequences; i++) {
    bench_fill(prompt, START, w->V);
    bench_need(tpt_decoder_rewind(w->decoders[i], 0));
    bench_need(tpt_decoder_feed(w->decoders[i], prompt, START, NULL));
    w->tokens[i] = prompt[0];
  }
  bench_need(tpt_decoder_position(w->decoders[0], &w->position));
}

static bool full(const bench_work *w) {
  size_t most = bench_number(w->subject.config, "model.max_seq_len");
  return w->position == 0 || w->position == POSITIONS || w->position == most;
}

static double decode_once(bench_work *w) {
  if (full(w)) start_again(w);
  double from = bench_now();
  bench_need(tpt_decoder_feed(w->decoders[0], w->tokens, 1, NULL));
  bench_need(tpt_decoder_sample(w->decoders[0], w->tokens));
  w->position++;
  return bench_now() - from;
}

static double many_once(bench_work *w) {
  if (full(w)) start_again(w);
  double from = bench_now();
  bench_need(tpt_decoder_feed_many(w->decoders, w->sequences, w->tokens, NULL));
  for (size_t i = 0; i < w->sequences; i++)
    bench_need(tpt_decoder_sample(w->decoders[i], &w->tokens[i]));
  w->position++;
  return bench_now() - from;
}

static double decode_tokens(const bench_work *w) { return (double)w->sequences; }

/* ---- prompt: many tokens of one sequence at once ---- */

static void prompt_begin(bench_work *w) {
  size_t most = bench_number(w->subject.config, "model.max_seq_len");
  if (w->subject.prompt > most) w->subject.prompt = most;
  w->tokens = bench_take(w->subject.prompt * sizeof *w->tokens);
  make_decoders(w, 1, w->subject.prompt);
}

static double prompt_once(bench_work *w) {
  bench_fill(w->tokens, w->subject.prompt, w->V);
  double from = bench_now();
  bench_need(tpt_decoder_rewind(w->decoders[0], 0));
  bench_need(tpt_decoder_feed(w->decoders[0], w->tokens, w->subject.prompt, NULL));
  return bench_now() - from;
}

static double prompt_tokens(const bench_work *w) { return (double)w->subject.prompt; }

/* ---- the table ---- */

static const bench_job jobs[] = {
    {"train", "whole steps", train_begin, train_once, train_tokens},
    {"decode", "one sequence, a token at a time after 16", decode_begin, decode_once,
     decode_tokens},
    {"many", "sequences=16 together, a token each at a time", many_begin, many_once, decode_tokens},
    {"prompt", "prompt=512 tokens of one sequence at once", prompt_begin, prompt_once,
     prompt_tokens},
};

const bench_job *bench_job_at(size_t index) {
  return index < sizeof jobs / sizeof jobs[0] ? &jobs[index] : NULL;
}

const bench_job *bench_job_of(const bench_subject *s) {
  for (size_t i = 0; bench_job_at(i); i++)
    if (!strcmp(s->job, jobs[i].name)) return &jobs[i];
  bench_die("there is no such job");
  return NULL;
}

/* The model that decodes: folded or converted where that is asked for. */
static void convert(bench_work *w) {
  tpt_model *made;
  bool f32 = !strcmp(w->subject.precision, "f32");
  if (f32 && !w->subject.fold) return;
  if (f32)
    bench_need(tpt_model_fold(w->model, &made));
  else
    bench_need(tpt_model_convert(w->model, w->subject.precision, &made));
  tpt_model_destroy(w->model);
  w->model = made;
}

void bench_work_begin(bench_work *w, const bench_subject *s) {
  const bench_job *job = bench_job_of(s);
  bool trains = job->begin == train_begin;
  *w = (bench_work){.subject = *s};
  if (trains) bench_need(tpt_config_set(s->config, "train.precision", s->precision));
  bench_need(tpt_context_create(&w->context));
  bench_need(tpt_context_set_threads(w->context, s->threads));
  bench_need(tpt_model_create(w->context, s->config, 1, &w->model));
  if (!trains) convert(w);
  w->V = bench_number(s->config, "model.vocab_size");
  w->batch = bench_number(s->config, "train.batch");
  w->seq = bench_number(s->config, "train.seq_len");
  job->begin(w);
}

void bench_work_end(bench_work *w) {
  tpt_optimizer_destroy(w->optimizer);
  tpt_trainer_destroy(w->trainer);
  for (size_t i = 0; i < w->sequences; i++) tpt_decoder_destroy(w->decoders[i]);
  free(w->decoders);
  free(w->tokens);
  tpt_model_destroy(w->model);
  tpt_config_destroy(w->subject.config);
  tpt_context_destroy(w->context);
}
