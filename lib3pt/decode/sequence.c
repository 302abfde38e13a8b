/* Feeding sequences: prompts in passes of some rows, single tokens, and many sequences at once. */
#include "decode/sequence.h"

#include <string.h>

#include "decode/forward.h"
#include "kernel/bf16.h"
#include "op/cross_entropy.h"
#include "op/linear.h"
#include "op/linear_held.h"

/* Rows of a prompt that go through the blocks together: enough that a product is bound by
 * arithmetic and its weights are packed seldom. And the least, for many sequences at once. */
enum { MOST_ROWS = 512, LEAST_ROWS = 16 };

/* Logits of several rows at a time, where every row's are wanted. */
enum { HEAD_BYTES = 8 << 20 };

/* ---- layout ---- */

static size_t clamp(size_t value, size_t low, size_t high) {
  return value < low ? low : value > high ? high : value;
}

static float *floats(tpti_plan *plan, size_t a, size_t b, size_t c) {
  size_t count;
  if (!tpti_mul(&count, a, b) || !tpti_mul(&count, count, c)) plan->overflow = true;
  return tpti_place(plan, count, sizeof(float));
}

/* Maps that prompts need: rows, out, in. */
enum { SHAPES = 5 };

static void list_shapes(const tpti_decode_work *w, const tpti_dims *d, size_t shapes[SHAPES][3]) {
  const size_t all[SHAPES][3] = {{w->rows, tpti_dims_qkv(d), d->D},
                                 {w->rows, d->D, d->D},
                                 {w->rows, 2 * d->F, d->D},
                                 {w->rows, d->D, d->F},
                                 {w->head_rows, d->V, d->D}};
  memcpy(shapes, all, sizeof all);
}

/* Where products are of float32 weights, and where of others. */
static size_t pack_bytes(const tpti_decode_work *w, const tpti_dims *d, tpti_form form) {
  size_t most = 0, shapes[SHAPES][3];
  list_shapes(w, d, shapes);
  for (size_t i = 0; i < SHAPES; i++) {
    const size_t *s = shapes[i];
    size_t bytes = form == TPTI_FORM_F32 ? tpti_linear_pack(w->precision, s[0], s[1], s[2], false)
                                         : tpti_linear_held_pack(w->precision, s[0], s[1], s[2]);
    if (bytes > most) most = bytes;
  }
  return most;
}

static size_t floats_count(const tpti_decode_work *w, const tpti_dims *d, tpti_form form) {
  size_t most = 0, shapes[SHAPES][3];
  list_shapes(w, d, shapes);
  for (size_t i = 0; i < SHAPES && form != TPTI_FORM_F32; i++) {
    size_t count = tpti_linear_held_floats(w->precision, shapes[i][1], shapes[i][2]);
    if (count > most) most = count;
  }
  return most;
}

static void layout_work(tpti_decode_work *w, const tpti_dims *d, tpti_form form, size_t room,
                        tpti_plan *plan) {
  w->rows = clamp(room, LEAST_ROWS, MOST_ROWS);
  w->head_rows = clamp(HEAD_BYTES / (d->V * sizeof(float)), LEAST_ROWS, w->rows);
  w->h = floats(plan, w->rows, d->D, 1);
  w->n = floats(plan, w->rows, d->D, 1);
  w->y = floats(plan, w->rows, d->D, 1);
  w->qkv = floats(plan, w->rows, tpti_dims_qkv(d), 1);
  w->gate_up = floats(plan, w->rows, 2 * d->F, 1);
  w->act = floats(plan, w->rows, d->F, 1);
  w->cosine = floats(plan, d->L, d->D / 2, 1);
  w->sine = floats(plan, d->L, d->D / 2, 1);
  w->logits = floats(plan, w->head_rows, d->V, 1);
  w->floats = floats(plan, floats_count(w, d, form), 1, 1);
  w->loss = tpti_place(plan, w->head_rows, sizeof(double));
  w->targets = tpti_place(plan, w->head_rows, sizeof(int32_t));
  w->list = tpti_place(plan, w->rows, sizeof *w->list);
  w->scratch = tpti_place(plan, TPTI_SCRATCH, 1);
  w->pack = tpti_place(plan, pack_bytes(w, d, form), 1);
}

tpti_precision tpti_sequence_precision(tpti_form form) {
  return tpti_precision_here(form == TPTI_FORM_F32 ? TPTI_PRECISION_F32 : TPTI_PRECISION_BF16);
}

void tpti_sequence_layout(tpti_sequence *s, const tpti_dims *d, tpti_form form,
                          tpti_precision precision, size_t room, tpti_plan *plan) {
  size_t KE = d->K * tpti_dims_E(d);
  *s = (tpti_sequence){.room = room, .work.precision = precision};
  s->keys = floats(plan, d->L, room, KE);
  s->values = floats(plan, d->L, room, KE);
  s->logits = floats(plan, d->V, 1, 1);
  s->spare = floats(plan, d->V, 1, 1);
  tpti_sampler_layout(&s->sampler, d->V, plan);
  layout_work(&s->work, d, form, room, plan);
}

/* ---- feeding ---- */

/* The feed has come through: its tokens and logits count. */
static void accept(tpti_sequence *s, size_t count) {
  float *logits = s->spare;
  s->spare = s->logits;
  s->logits = logits;
  s->position += count;
  s->has_logits = true;
}

/* What to do with the rows of one pass: `rows->ahead` says where they lie in the prompt. */
typedef void rows_done(void *user, const tpti_batch *rows);

static void feed_rows(tpti_run *run, const tpti_network *net, tpti_sequence *s,
                      const tpti_batch *rows, rows_done *done, void *user) {
  if (!done && rows->count <= TPTI_FEW_ROWS) {
    tpti_decode_few(run, net, &s->work, rows);
    return;
  }
  tpti_decode_forward(run, net, &s->work, rows);
  if (done) done(user, rows);
  if (rows->ahead + rows->count == rows->total)
    tpti_decode_head(run, net, &s->work, rows->count - 1, 1, s->spare);
}

static tpt_status feed_prompt(tpti_run *run, const tpti_network *net, tpti_sequence *s,
                              const int32_t *tokens, size_t count, rows_done *done, void *user) {
  tpti_network_rotations(net, s->work.cosine, s->work.sine);
  for (size_t at = 0; at < count && !run->stopped; at += s->work.rows) {
    const tpti_batch rows = {.count = count - at < s->work.rows ? count - at : s->work.rows,
                             .tokens = tokens + at,
                             .sequences = &s,
                             .ahead = at,
                             .total = count};
    feed_rows(run, net, s, &rows, done, user);
  }
  tpt_status status = tpti_run_status(run);
  if (!status) accept(s, count);
  return status;
}

tpt_status tpti_sequence_feed(tpti_run *run, const tpti_network *net, tpti_sequence *s,
                              const int32_t *tokens, size_t count) {
  return feed_prompt(run, net, s, tokens, count, NULL, NULL);
}

/* ---- many sequences ---- */

tpt_status tpti_sequence_feed_many(tpti_run *run, const tpti_network *net, tpti_sequence_at *at,
                                   void *user, size_t count, const int32_t *tokens) {
  tpti_decode_work *work = &at(user, 0)->work;
  size_t most = work->rows < TPTI_MANY_ROWS ? work->rows : TPTI_MANY_ROWS;
  tpti_network_rotations(net, work->cosine, work->sine);
  for (size_t first = 0; first < count && !run->stopped; first += most) {
    const tpti_batch rows = {.count = count - first < most ? count - first : most,
                             .tokens = tokens + first,
                             .sequences = work->list,
                             .many = true,
                             .total = count - first < most ? count - first : most};
    for (size_t i = 0; i < rows.count; i++) work->list[i] = at(user, first + i);
    tpti_run_span(run, (double)first / (double)count, (double)(first + rows.count) / (double)count);
    tpti_decode_few(run, net, work, &rows);
  }
  tpt_status status = tpti_run_status(run);
  for (size_t i = 0; i < count && !status; i++) accept(at(user, i), 1);
  return status;
}

/* ---- scoring ---- */

typedef struct scoring {
  tpti_run *run;
  const tpti_network *net;
  tpti_sequence *sequence;
  const int32_t *tokens, *targets; /* of the whole prompt; targets may be NULL */
  size_t count;
  int32_t ignore_index;
  double *loss;
} scoring;

/* The target of row i of the prompt; ignore_index where it has none. */
static int32_t target_of(const scoring *s, size_t i) {
  if (s->targets) return s->targets[i];
  return i + 1 < s->count ? s->tokens[i + 1] : s->ignore_index;
}

static void score_rows(void *user, const tpti_batch *rows) {
  const scoring *s = user;
  const tpti_decode_work *w = &s->sequence->work;
  size_t V = s->net->dims.V;
  for (size_t first = 0; first < rows->count; first += w->head_rows) {
    size_t n = rows->count - first < w->head_rows ? rows->count - first : w->head_rows;
    size_t at = rows->ahead + first;
    for (size_t r = 0; r < n; r++) w->targets[r] = target_of(s, at + r);
    tpti_touch(s->run, w->logits, n * V * sizeof *w->logits);
    tpti_decode_head(s->run, s->net, w, first, n, w->logits);
    tpti_cross_entropy_forward(s->run, w->loss, w->logits, w->targets, s->ignore_index, n, V);
    size_t wanted = !s->targets && at + n == s->count ? n - 1 : n;
    if (!s->run->stopped) memcpy(s->loss + at, w->loss, wanted * sizeof(double));
  }
}

tpt_status tpti_sequence_score(tpti_run *run, const tpti_network *net, tpti_sequence *sequence,
                               const int32_t *tokens, const int32_t *targets, int32_t ignore_index,
                               size_t count, double *loss) {
  scoring s = {run, net, sequence, tokens, targets, count, ignore_index, loss};
  return feed_prompt(run, net, sequence, tokens, count, score_rows, &s);
}

double tpti_sequence_surprise(tpti_run *run, const tpti_sequence *s, int32_t token, size_t V) {
  double loss;
  tpti_cross_entropy_forward(run, &loss, s->logits, &token, -1, 1, V);
  return loss;
}

/* ---- copying ---- */

void tpti_sequence_copy(const tpti_sequence *source, tpti_sequence *target, const tpti_dims *d) {
  size_t KE = d->K * tpti_dims_E(d), bytes = source->position * KE * sizeof(float);
  for (size_t l = 0; l < d->L; l++) {
    memcpy(target->keys + l * target->room * KE, source->keys + l * source->room * KE, bytes);
    memcpy(target->values + l * target->room * KE, source->values + l * source->room * KE, bytes);
  }
  if (source->has_logits) memcpy(target->logits, source->logits, d->V * sizeof(float));
  target->position = source->position;
  target->has_logits = source->has_logits;
  target->sampler.temperature = source->sampler.temperature;
  target->sampler.top_k = source->sampler.top_k;
  target->sampler.top_p = source->sampler.top_p;
  target->sampler.random = source->sampler.random;
}
