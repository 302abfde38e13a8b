/* Suggests the next words while one types, and learns from each line that is accepted. */
#include <locale.h>
#include <pthread.h>
#include <signal.h>

#include "../keep.h"
#include "screen.h"
#include "worker.h"

static const char *model, *tokenizer, *state = "typeahead.checkpoint";
static uint64_t threads, steps = 1;

static const option OPTIONS[] = {
    {"--model", TEXT, &model, "a model file to begin with; without it: from nothing"},
    {"--tokenizer", TEXT, &tokenizer, "its tokenizer.json"},
    {"--state", TEXT, &state, "what was learned is kept here (typeahead.checkpoint)"},
    {"--steps", STEPS, &steps, "training steps for each line (1)"},
    {"--threads", THREADS, &threads, "of the training; 0: as many as there are processors (0)"},
    {NULL, FLAG, NULL, NULL}};

static const program PROGRAM = {
    "typeahead",
    "[options]",
    "Type: the grey words are what the model expects. Tab takes them, Enter accepts the line and\n"
    "lets the model learn it, Ctrl-D leaves. Where standard input or output is no terminal, it\n"
    "reads lines, and prints the perplexity of each before it is learned.\n"
    "Where the state is there it is gone on with, and --model and --tokenizer are not read.",
    OPTIONS,
    0,
    0};

void leave(const char *format, ...) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pthread_mutex_lock(&once); /* for good: a second thread that fails waits for the end */
  screen_restore();
  die("%s", text);
}

void file_message(const char *path, char *text, size_t capacity) {
  complain_of(path, text, capacity);
}

void must_file(const char *path, tpt_status status) {
  char text[WHY_MOST];
  if (status == TPT_OK) return;
  file_message(path, text, sizeof text);
  leave("%s", text);
}

/* ---- on a terminal ---- */

typedef struct session {
  edit_line line;
  edit_keys keys;
  char suggestion[SUGGESTION_MOST], status[STATUS_MOST + 64];
  suggester *suggester;
  worker *worker;
  char **lines;        /* accepted: for Up and Down */
  size_t count, shown; /* shown: the one in the line; count: none of them */
  int leaving;
} session;

static void remember(session *s, const char *text) {
  s->lines = must_have(realloc(s->lines, (s->count + 1) * sizeof *s->lines));
  s->lines[s->count++] = must_have(strdup(text));
  s->shown = s->count;
}

static void recall(session *s, edit_key key) {
  if (key == KEY_UP && s->shown > 0) s->shown--;
  if (key == KEY_DOWN && s->shown < s->count) s->shown++;
  edit_set(&s->line, s->shown < s->count ? s->lines[s->shown] : "");
}

static void accept(session *s) {
  if (s->line.text[strspn(s->line.text, " ")]) {
    screen_next(&s->line);
    remember(s, s->line.text);
    worker_add(s->worker, s->line.text);
  }
  edit_set(&s->line, "");
}

/* No grey words are left behind; what was typed stands in the line again afterwards. */
static void stop(session *s) {
  *s->suggestion = 0;
  screen_next(&s->line);
  screen_stop();
}

/* What is typed as suggested leaves the rest of it standing. */
static void type(session *s, const char *text) {
  size_t bytes = strlen(text);
  int as_suggested = strncmp(s->suggestion, text, bytes) == 0;
  edit_insert(&s->line, text);
  if (as_suggested)
    memmove(s->suggestion, s->suggestion + bytes, strlen(s->suggestion + bytes) + 1);
  else
    *s->suggestion = 0;
}

static void press(session *s, edit_key key) {
  if (key == KEY_RIGHT && s->line.cursor == s->line.length) key = KEY_ACCEPT;
  if (key == KEY_TEXT) {
    type(s, s->keys.text);
    return;
  }
  if (key == KEY_ACCEPT) edit_insert(&s->line, s->suggestion);
  if (key == KEY_NONE || key == KEY_REDRAW) return;
  *s->suggestion = 0;
  if (key == KEY_ENTER)
    accept(s);
  else if (key == KEY_UP || key == KEY_DOWN)
    recall(s, key);
  else if (key == KEY_STOP)
    stop(s);
  else
    edit_apply(&s->line, key);
}

/* Ctrl-D and a signal let the lines be learned that were accepted, a second Ctrl-D and a signal
 * not. */
static void end(session *s) {
  if (s->leaving || screen_ended()) worker_hurry(s->worker);
  s->leaving = 1;
}

static void read_keys(session *s) {
  unsigned char bytes[256];
  size_t count = screen_wait(bytes, sizeof bytes);
  for (size_t i = 0; i < count; i++) {
    edit_key key = edit_read(&s->keys, bytes[i]);
    if (key == KEY_LEAVE)
      end(s);
    else if (!s->leaving)
      press(s, key);
  }
  if (screen_ended()) end(s);
  int stopped = screen_is_to_stop();
  if (stopped) stop(s);
  if (count || stopped) suggest_ask(s->suggester, s->line.text);
}

/* Takes what the threads have to say.
 *   returns   lines still to be learned */
static size_t listen(session *s) {
  char text[SUGGESTION_MOST];
  size_t jobs = worker_status(s->worker, s->status);
  if (!*s->status)
    strcpy(s->status, "Tab takes the grey words, Enter learns the line, Ctrl-D leaves");
  if (suggest_answer(s->suggester, text) && s->line.cursor == s->line.length && !s->leaving)
    strcpy(s->suggestion, text);
  if (jobs && s->leaving)
    snprintf(s->status, sizeof s->status, "learning %zu more; Ctrl-C leaves them out", jobs);
  else if (jobs)
    strcat(s->status, "  (learning)");
  return jobs;
}

/* Returns the signal that ended it, or 0. */
static int converse(learner *l) {
  static session s;
  for (size_t i = 0; i < l->memory.kept; i++) remember(&s, l->memory.lines[i]);
  screen_start();
  s.suggester = suggest_start(l->model, l->tokenizer, l->mark, screen_wake);
  s.worker = worker_start(l, s.suggester, screen_wake);
  while (listen(&s) || !s.leaving) {
    screen_draw(&s.line, s.suggestion, s.status);
    read_keys(&s);
  }
  screen_next(&s.line);
  worker_end(s.worker);
  suggest_end(s.suggester);
  screen_restore();
  while (s.count) free(s.lines[--s.count]);
  free(s.lines);
  return screen_ended();
}

/* ---- lines from a pipe or file ---- */

/* Bytes of the text's beginning that make a line: no character is cut. */
static size_t line_length(const char *text) {
  size_t length = strlen(text);
  if (length <= LINE_MOST) return length;
  for (length = LINE_MOST; length > LINE_MOST - 4 && ((unsigned char)text[length] & 0xc0) == 0x80;)
    length--;
  return length;
}

static volatile sig_atomic_t stopped; /* the signal that asks for the end */
static int nothing;                   /* /dev/null */
static int input_failed;

/* The input has come to its end: also for a read that has not begun yet. */
static void on_stop(int number) {
  int kept = errno;
  stopped = number;
  dup2(nothing, STDIN_FILENO);
  errno = kept;
}

/* A second Ctrl-C or termination ends the program at once; a closed terminal may send SIGHUP twice,
 * and under nohup it is ignored. Output that nobody reads is a write that fails. */
static void catch_stops(void) {
  struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND}, before;
  nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigaction(SIGINT, &stop, NULL);
  sigaction(SIGTERM, &stop, NULL);
  stop.sa_flags = 0;
  int hung_up = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
  if (hung_up) sigaction(SIGHUP, &stop, NULL);
  signal(SIGPIPE, SIG_IGN);
}

/* What goes wrong is said; the program goes on. */
static void learn_or_say(learner *l, const char *line) {
  if (learn_line(l, line)) warn("not learned: %s", tpt_error_message());
  learn_save_now_and_then(l);
  if (*l->trouble) warn("%s: tried again in a minute and at the end", l->trouble);
  *l->trouble = 0;
}

/* 0: the output cannot be written. */
static int read_line(learner *l, const char *text) {
  char line[LINE_MOST + 1], status[STATUS_MOST];
  for (size_t length; text[strspn(text, " ")] && !stopped; text += length) {
    length = line_length(text);
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    if (learn_score(l, line)) {
      warn("not learned: %s", tpt_error_message());
      continue;
    }
    memory_status(&l->memory, status, sizeof status);
    puts(status);
    if (fflush(stdout)) return 0;
    learn_or_say(l, line);
  }
  return 1;
}

/* Returns the signal that ended it, or 0. */
static int read_lines(learner *l) {
  char *text = NULL;
  size_t room = 0;
  int written = 1;
  catch_stops();
  l->ended = &stopped;
  for (ssize_t got; written && !stopped && (got = getline(&text, &room, stdin)) >= 0;) {
    if (memchr(text, 0, (size_t)got)) {
      warn("not learned: the line has a zero byte");
      continue;
    }
    text[strcspn(text, "\r\n")] = 0;
    written = read_line(l, text);
  }
  if (ferror(stdin) && !stopped) {
    warn("standard input cannot be read: %s", strerror(errno));
    input_failed = 1;
  }
  free(text);
  return stopped;
}

/* ---- the whole ---- */

static int save_state(const void *of, const char *path, char why[WHY_MOST]) {
  return learn_save(of, path, why, WHY_MOST) == TPT_OK;
}

static tpt_context *make_learning_context(void) {
  tpt_context *context;
  check(tpt_context_create(&context));
  check(tpt_context_set_threads(context, (int32_t)threads));
  return context;
}

static void check_files(void) {
  check_name("--model", model), check_name("--tokenizer", tokenizer), check_name("--state", state);
  check_uses((file_use[]){{"--model", model, READS},
                          {"--tokenizer", tokenizer, READS},
                          {"standard input", "-", READS},
                          {"--state", state, REPLACES},
                          {NULL, NULL, READS}});
}

int main(int argc, char **argv) {
  umask(077); /* of the state: it holds what was typed */
  read_call(&PROGRAM, argc, argv, NULL);
  if (!model != !tokenizer) wrong_call("--model and --tokenizer belong together");
  check(tpt_check_version(TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH));
  if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
  check_files();
  learner l = {.state = state, .steps_line = steps, .context = make_learning_context()};
  learn_open(&l, model, tokenizer);
  check_room(state, learn_size(&l));
  int number = screen_is_there() ? converse(&l) : read_lines(&l);
  const keeping all = {.save = save_state, .of = &l, .what = "all that was learned"};
  int kept = keep_safe(&all, state);
  memory_table(&l.memory, stdout);
  learn_close(&l);
  fflush(stdout);
  if (kept && number) signal(number, SIG_DFL), raise(number);
  flush_output();
  return kept && !input_failed ? 0 : 1;
}
