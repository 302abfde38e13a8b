#include "learn.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows.h"

/* What learns from nothing: small enough that a step takes some milliseconds. */
static const char DESCRIPTION[] =
    "model: {vocab_size: 256, d_model: 96, n_layers: 3, n_q_heads: 6, n_kv_heads: 3, d_ff: 256,\n"
    "  n_phases: 3, max_seq_len: 256}\n"
    "train: {lr: 3e-2}\n";

/* Of the model's train.lr, which is meant for larger batches; with more, single lines are learned
 * by heart and others forgotten. The first steps have less: the moments know nothing yet. */
static const double RATE = 0.1, WARM_STEPS = 5;

/* One step leaves a line that comes a second time as good as unknown: up to so many times the steps
 * of a new one are made on it, until it takes less than KNOWN nats a token. With KNOWN at 0.1 other
 * lines suffer: on 397 lines of manual pages, 77 of them two that come again and again, the
 * perplexity of all is 24 instead of 15, and 12 without any practice. */
static const uint64_t AGAIN = 12;
static const double KNOWN = 0.3;

/* ---- scoring, training ---- */

static tpt_status read_line(const learner *l, const char *line, tokens *t) {
  return rows_read(t, l->tokenizer, l->mark, l->row, line);
}

/* How well the model foresees a line now. */
static tpt_status foresee(learner *l, const tokens *line, score *s) {
  double log_probability[ROW_MOST + 1];
  tpt_status status = TPT_OK;
  *s = (score){0};
  for (size_t row = 0; !status && row < rows_count(line); row++) {
    size_t length;
    const int32_t *ids = rows_at(line, row, &length);
    must(tpt_decoder_rewind(l->decoder, 0));
    status = tpt_decoder_score(l->decoder, ids, length + 1, log_probability);
    for (size_t i = 1; i <= length && !status; i++) s->nats -= log_probability[i];
    s->tokens += length;
  }
  return status;
}

tpt_status learn_score(learner *l, const char *line) {
  static tokens t; /* large; one thread learns */
  score s;
  tpt_status status = read_line(l, line, &t);
  if (!status) status = foresee(l, &t, &s);
  if (!status) memory_score(&l->memory, s);
  return status;
}

/* Up to half of the rows are the new line's, the others are replayed. */
static void fill_batch(learner *l, batch *b, const tokens *line) {
  static tokens replayed[ROWS];                             /* large; one thread learns */
  size_t rows = rows_count(line), old = l->memory.kept - 1; /* the last one is the line itself */
  for (size_t i = 0; i < rows && i < ROWS / 2; i++)
    rows_add(b, line, rows <= ROWS / 2 ? i : memory_draw(&l->memory, rows));
  for (size_t i = 0; i < old && b->count < ROWS; i++) {
    tokens *t = &replayed[b->count];
    must(read_line(l, l->memory.lines[memory_draw(&l->memory, old)], t));
    rows_add(b, t, memory_draw(&l->memory, rows_count(t)));
  }
}

static tpt_status step(learner *l, const tokens *line) {
  batch b = {.count = 0};
  int32_t *inputs = l->batch, *targets = l->batch + ROWS * l->row;
  uint64_t steps;
  double loss;
  fill_batch(l, &b, line);
  rows_fill(&b, inputs, targets);
  tpt_status status = tpt_trainer_zero_gradients(l->trainer);
  if (!status)
    status = tpt_trainer_accumulate(l->trainer, inputs, targets, b.count, b.longest, &loss);
  if (status) return status;
  must(tpt_optimizer_step_count(l->optimizer, &steps));
  must(tpt_optimizer_set_lr(l->optimizer, l->lr * fmin(1, (double)(steps + 1) / WARM_STEPS)));
  return tpt_optimizer_step(l->optimizer, NULL);
}

/* The line that is learned at a signal has the steps that it had by then. */
static int is_ended(const learner *l) { return l->ended && *l->ended; }

/* One that was typed before is practised until it is known. */
static tpt_status practise(learner *l, const tokens *line) {
  tpt_status status = TPT_OK;
  score s = {.nats = INFINITY};
  for (uint64_t i = 0; i / AGAIN < l->steps_line && !status && !is_ended(l); i++) {
    status = step(l, line);
    if (!status) status = foresee(l, line, &s);
    if (s.nats < KNOWN * (double)s.tokens) break;
  }
  return status;
}

tpt_status learn_line(learner *l, const char *line) {
  static tokens t;
  must(read_line(l, line, &t));
  int again = memory_has(&l->memory, line);
  memory_keep(&l->memory, line);
  tpt_status status = again ? practise(l, &t) : TPT_OK;
  for (uint64_t i = 0; !again && i < l->steps_line && !status && !is_ended(l); i++)
    status = step(l, &t);
  return status;
}

/* ---- opening, saving ---- */

static double setting(const tpt_config *config, const char *key) {
  char text[64];
  size_t length;
  must(tpt_config_get(config, key, text, sizeof text, &length));
  return strtod(text, NULL);
}

static void make_model(learner *l, const char *path) {
  tpt_config *config;
  if (path) {
    must_file(path, tpt_model_load(l->context, path, NULL, &l->model));
    return;
  }
  must(tpt_config_parse(DESCRIPTION, strlen(DESCRIPTION), &config));
  must(tpt_model_create(l->context, config, 1, &l->model));
  tpt_config_destroy(config);
}

/* The model's description with a batch of our own. */
static void make_trainer(learner *l) {
  char row[32], rows[32];
  double view = setting(tpt_model_config(l->model), "model.max_seq_len");
  if (view < 8) leave("the model sees %.0f tokens at once, and 8 are needed", view);
  l->row = view - 1 < ROW_MOST ? (size_t)view - 1 : ROW_MOST;
  must(tpt_config_copy(tpt_model_config(l->model), &l->config));
  snprintf(row, sizeof row, "%zu", l->row);
  snprintf(rows, sizeof rows, "%d", ROWS);
  must(tpt_config_set(l->config, "train.seq_len", row));
  must(tpt_config_set(l->config, "train.batch", rows));
  must(tpt_config_set(l->config, "train.grad_accum", "1"));
  must(tpt_config_set(l->config, "train.ignore_index", "-1"));
  l->lr = setting(l->config, "train.lr") * RATE;
  l->batch = must_have(calloc(2 * ROWS * l->row, sizeof *l->batch));
  must(tpt_trainer_create(l->model, l->config, &l->trainer));
  must(tpt_optimizer_create(l->trainer, NULL, &l->optimizer));
  must(tpt_decoder_create(l->model, l->row + 1, &l->decoder));
}

/* The newline, or token 0 where the tokenizer has none. The tokenizers have contexts of their own:
 * a cancel of the learner's or the suggester's does not end an encode. */
static void take_tokenizer(learner *l) {
  size_t count, vocab;
  double most = setting(l->config, "model.vocab_size");
  must(tpt_tokenizer_vocab_size(l->tokenizer, &vocab));
  if ((double)vocab > most)
    leave("the tokenizer has %zu tokens and the model %.0f: they do not belong together", vocab,
          most);
  if (tpt_tokenizer_encode(l->tokenizer, "\n", 1, &l->mark, 1, &count) || count != 1) l->mark = 0;
}

void learn_close(learner *l) {
  memory_free(&l->memory);
  free(l->batch);
  tpt_decoder_destroy(l->decoder);
  tpt_optimizer_destroy(l->optimizer);
  tpt_trainer_destroy(l->trainer);
  tpt_model_destroy(l->model);
  tpt_config_destroy(l->config);
  tpt_tokenizer_destroy(l->tokenizer);
  tpt_context_destroy(l->context);
}

static void load_state(learner *l) {
  const char *json;
  size_t size;
  must_file(l->state, tpt_checkpoint_load(l->trainer, l->optimizer, l->state, NULL, 0, &size));
  char *bytes = must_have(calloc(size + 1, 1));
  must_file(l->state, tpt_checkpoint_load(l->trainer, l->optimizer, l->state, bytes, size, &size));
  if (!memory_unpack(&l->memory, bytes, size, &json)) {
    free(bytes);
    learn_close(l); /* a leak checker does not see what the library has mapped */
    leave("%s: it was written by another program: name another file with --state", l->state);
  }
  must(tpt_tokenizer_parse(NULL, json, strlen(json), &l->tokenizer));
  free(bytes);
}

/* 0: it is open to others and stays so, errno says why. The file holds what was typed. The library
 * gives a file that is replaced its mode, from the first byte on, and a new one that of the umask,
 * which main sets: there is no moment at which others can read. One that its owner protected
 * against writing stays protected. */
static int make_private(const char *path) {
  struct stat found;
  if (stat(path, &found) || (found.st_mode & 0177) == 0) return 1;
  return chmod(path, found.st_mode & 0600) == 0;
}

static const char OPEN[] = "%.400s: it is open to others, and cannot be closed to them: %s";

void learn_open(learner *l, const char *model, const char *tokenizer) {
  int goes_on = access(l->state, F_OK) == 0;
  make_model(l, goes_on ? l->state : model);
  make_trainer(l);
  if (goes_on)
    load_state(l);
  else if (tokenizer)
    must_file(tokenizer, tpt_tokenizer_load(NULL, tokenizer, &l->tokenizer));
  else
    must(tpt_tokenizer_bytes(NULL, &l->tokenizer));
  if (!make_private(l->state)) leave(OPEN, l->state, strerror(errno));
  take_tokenizer(l);
  l->saved = time(NULL);
}

/* The caller's own bytes of the checkpoint: malloc's. */
static char *pack(const learner *l, size_t *size) {
  size_t length;
  must(tpt_tokenizer_format(l->tokenizer, NULL, 0, &length));
  char *json = must_have(malloc(length + 1));
  must(tpt_tokenizer_format(l->tokenizer, json, length + 1, &length));
  char *bytes = memory_pack(&l->memory, json, size);
  free(json);
  return bytes;
}

double learn_size(const learner *l) {
  float *weights;
  size_t count, size;
  must(tpt_model_parameters(l->model, &weights, &count));
  free(pack(l, &size));
  return 3.0 * (double)count * sizeof(float) + (double)size; /* with two moments */
}

tpt_status learn_save(const learner *l, const char *path, char *why, size_t capacity) {
  size_t size;
  if (!make_private(path)) {
    snprintf(why, capacity, OPEN, path, strerror(errno));
    return TPT_E_IO;
  }
  char *bytes = pack(l, &size);
  tpt_status status = tpt_checkpoint_save(l->trainer, l->optimizer, path, bytes, size);
  free(bytes);
  if (status) file_message(path, why, capacity);
  return status;
}

void learn_save_now_and_then(learner *l) {
  enum { SECONDS = 60 };
  char why[TROUBLE_MOST] = "";
  if (time(NULL) - l->saved < SECONDS) return;
  if (learn_save(l, l->state, why, sizeof why) == TPT_E_CANCELLED) return;
  strcpy(l->trouble, why);
  l->saved = time(NULL);
}
