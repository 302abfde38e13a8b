/* Trains a model on a token file: log, held-out loss, checkpoints; Ctrl-C saves and stops. */
#include <signal.h>

#include "session.h"

static const char *out = "model.safetensors", *held, *log_path;
static uint64_t threads;
static double seconds = -1; /* not given */
static int resume;

static const option OPTIONS[] = {
    {"--out", TEXT, &out, "the model file (model.safetensors)"},
    {"--resume", FLAG, &resume, "go on from OUT.checkpoint"},
    {"--held", TEXT, &held, "tokens to measure on every train.eval_every steps"},
    {"--log", TEXT, &log_path, "a line of figures a step, as CSV"},
    {"--seconds", NUMBER, &seconds, "train for this time; the schedule follows the clock"},
    {"--threads", COUNT, &threads, "0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "train",
    "[options] DESCRIPTION TOKENS [key=value ...]",
    "DESCRIPTION is a YAML file or a preset, TOKENS a .u16 or .u32 file; key=value changes the\n"
    "description. Every train.checkpoint_every steps, and at Ctrl-C, OUT.checkpoint is written;\n"
    "--resume continues from it, with the bits of a run that was never stopped.",
    OPTIONS,
    2,
    MAX_WORDS};

enum { STOPPED = 130 }; /* what a shell calls a program that Ctrl-C ended */

static volatile sig_atomic_t interrupted;
static int saving; /* a save is finished, whatever was pressed */

static void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

static int32_t progress(void *user, const void *handle, double done) {
  (void)user, (void)handle, (void)done;
  return interrupted && !saving;
}

/* The first Ctrl-C is ours, a second one ends the program at once. */
static void catch_signals(tpt_context *context) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  check(tpt_context_set_progress(context, progress, NULL, NULL));
}

static int is_there(const char *path) {
  FILE *file = fopen(path, "rb");
  return file ? fclose(file), 1 : 0;
}

static void save_checkpoint(const session *s, const char *path) {
  saving = 1;
  session_save(s, path);
  saving = 0;
}

static void work(session *s, const char *checkpoint) {
  uint64_t eval_every = count_setting(s->config, "train.eval_every");
  uint64_t checkpoint_every = count_setting(s->config, "train.checkpoint_every");
  double start = session_share(s);
  while (!interrupted && session_share(s) < 1 && session_step(s)) {
    uint64_t step = s->figures.step;
    if (s->held && eval_every && step % eval_every == 0) session_measure(s);
    if (checkpoint_every && step % checkpoint_every == 0) save_checkpoint(s, checkpoint);
    report_step(&s->report, &s->figures, start);
  }
}

static int finish(session *s, const char *checkpoint) {
  if (interrupted) {
    save_checkpoint(s, checkpoint);
    report_end(&s->report, &s->figures);
    printf("stopped after step %llu; %s holds everything: add --resume to go on\n",
           (unsigned long long)s->figures.step, checkpoint);
    return STOPPED;
  }
  saving = 1;
  if (s->held) session_measure(s);
  report_end(&s->report, &s->figures);
  check(tpt_model_save(s->model, out));
  remove(checkpoint);
  printf("%s: the model after step %llu\n", out, (unsigned long long)s->figures.step);
  return 0;
}

int main(int argc, char **argv) {
  const char *words[MAX_WORDS] = {0};
  char checkpoint[4096];
  int count = read_call(&PROGRAM, argc, argv, words);
  if (seconds == 0) wrong_call("--seconds must be above 0");
  if ((size_t)snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", out) >= sizeof checkpoint)
    die("--out is too long");
  if (is_there(checkpoint) && !resume)
    die("%s is an unfinished training: add --resume to go on, or remove it to start anew",
        checkpoint);
  check_writable(out);
  session s = {.seconds = seconds, .config = read_description(words[0], words + 2, count - 2)};
  tpt_context *context = make_context(threads);
  session_open(&s, context, words[1], held);
  if (resume) session_resume(&s, checkpoint);
  catch_signals(context);
  s.report = report_start(log_path, resume, s.figures.step);
  work(&s, checkpoint);
  int status = finish(&s, checkpoint);
  session_close(&s);
  tpt_context_destroy(context);
  flush_output();
  return status;
}
