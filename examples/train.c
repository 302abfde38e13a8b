/* Trains a model on a token file: log, held-out loss, checkpoints; Ctrl-C saves and stops. */
#include "log.h"
#include "stop.h"

static const char *out = "model.safetensors", *held, *log_path;
static uint64_t threads;
static double seconds = -1; /* not given */
static int resume, force;

static const option OPTIONS[] = {
    {"--out", TEXT, &out, "the model file (model.safetensors)"},
    {"--resume", FLAG, &resume, "go on from OUT.checkpoint"},
    {"--force", FLAG, &force, "replace a model and a log that are there"},
    {"--held", TEXT, &held, "tokens to measure on every train.eval_every steps"},
    {"--log", TEXT, &log_path,
     "figures of each step: .jsonl adds the geometry, any other name is CSV"},
    {"--seconds", TIME, &seconds, "train for this time; the schedule follows the clock"},
    {"--threads", THREADS, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "train",
    "[options] DESCRIPTION TOKENS [key=value ...]",
    "DESCRIPTION is a YAML file, a preset, or a model file, which is trained further; TOKENS is a\n"
    ".u16, .bin or .u32 file; key=value changes the description. Every train.checkpoint_every\n"
    "steps, at Ctrl-C and where the terminal is closed, OUT.checkpoint is written; --resume goes\n"
    "on from it, with the bits of a run that was never stopped, and needs the same settings.",
    OPTIONS,
    2,
    MAX_WORDS};

/* A step that fails takes nothing away that was learned before it. */
static void give_up(session *s, const char *checkpoint) {
  char why[1024];
  snprintf(why, sizeof why, "%s", tpt_error_message());
  report_clear();
  saving = 1;
  keeping all = session_keeping(s, save_checkpoint);
  if (s->figures.step > s->report.first_step && keep_safe(&all, checkpoint))
    warn("%s: %s is kept here", checkpoint, all.what);
  die("step %llu: %s", (unsigned long long)s->figures.step + 1, why);
}

static void work(session *s, training_log *log, const char *checkpoint) {
  uint64_t eval_every = count_setting(s->config, "train.eval_every");
  uint64_t checkpoint_every = count_setting(s->config, "train.checkpoint_every");
  double start = session_share(s);
  while (!interrupted && session_share(s) < 1) {
    tpt_status status = session_step(s);
    if (status == TPT_E_CANCELLED) return;
    if (status != TPT_OK) give_up(s, checkpoint);
    uint64_t step = s->figures.step;
    int looked = eval_every && step % eval_every == 0 && session_look(s);
    log_step(log, s);
    if (looked) log_look(log, s);
    saving = 1; /* one that fails may go well the next time: the training goes on */
    if (checkpoint_every && step % checkpoint_every == 0) session_save(s, checkpoint);
    saving = 0;
    report_step(&s->report, &s->figures, start);
  }
}

/* First what was learned is made safe, then the log is closed, and then all is told. */
static int finish(session *s, training_log *log, const char *checkpoint) {
  int stopped = interrupted;
  saving = 1;
  int looked = !stopped && session_look(s);
  keeping all = session_keeping(s, stopped ? save_checkpoint : save_model);
  int kept = keep_safe(&all, stopped ? checkpoint : out);
  if (looked) log_look(log, s);
  if (!stopped) log_end(log, s);
  int logged = log_close(log);
  report_end(&s->report, &s->figures);
  if (kept && !stopped) remove(checkpoint);
  if (kept && stopped)
    tell("stopped after step %llu; %s holds everything: add --resume to go on",
         (unsigned long long)s->figures.step, checkpoint);
  else if (kept)
    tell("%s: the model after step %llu", out, (unsigned long long)s->figures.step);
  if (!logged) warn("%s: could not be written whole: is the disk full?", log_path);
  return !kept || !logged ? 1 : stopped ? STOPPED : 0;
}

/* All that can be known to fail at the end is refused at the start. */
static void check_files(const char **words, const char *checkpoint) {
  check_uses((file_use[]){
      {"DESCRIPTION", words[0], READS},
      {"TOKENS", words[1], READS},
      {"--held", held, READS},
      {"--log", log_path, WRITES},
      {was_given("--out") ? "--out" : "the model, as no --out is given,", out, REPLACES},
      {"the checkpoint", checkpoint, REPLACES},
      {NULL, NULL, READS}});
  if (resume && !is_there(checkpoint))
    die("%s: is not there: without it --resume has nothing to go on from", checkpoint);
  if (!resume && is_there(checkpoint))
    die("%s: is an unfinished training: add --resume to go on, or remove it to start anew",
        checkpoint);
  if (!resume && !force) check_unused("--out", out);
  if (log_path && !force) check_log(log_path, resume);
}

static void open_all(session *s, tpt_context *context, const char **words, int count,
                     const char *checkpoint) {
  change_description(s->config, words + 2, count - 2);
  session_rooms(s, out, checkpoint, resume);
  if (kind_of(words[0]) == A_MODEL) s->model = load_model(context, words[0], s->config);
  session_open(s, context, words[1], held);
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  char checkpoint[PATH_MAX];
  int count = read_call(&PROGRAM, argc, argv, words);
  check_name("--out", out), check_name("--held", held), check_name("--log", log_path);
  if ((size_t)snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", out) >= sizeof checkpoint)
    die("--out is too long");
  session s = {.seconds = seconds, .config = read_description(words[0])}; /* tells swapped words */
  check_files(words, checkpoint);
  tpt_context *context = make_context(threads);
  open_all(&s, context, words, count, checkpoint);
  if (resume) session_resume(&s, checkpoint);
  catch_signals(context);
  s.report = report_start(s.figures.step);
  training_log log = log_open(log_path, resume, &s, out, context);
  work(&s, &log, checkpoint);
  int status = finish(&s, &log, checkpoint);
  session_close(&s);
  tpt_context_destroy(context);
  flush_output();
  return status;
}
