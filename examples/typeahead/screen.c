#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define GREY  "\033[90m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

static struct termios found;         /* the modes at the start */
static volatile sig_atomic_t is_raw; /* they have to be given back */
static volatile sig_atomic_t drawn;  /* what is below the cursor's row is ours */
static volatile sig_atomic_t ended, to_stop, continued;
static int wake[2]; /* a pipe: signals and threads write, screen_wait reads */

int screen_is_there(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal && *terminal &&
         strcmp(terminal, "dumb") != 0;
}

/* ---- modes and signals ---- */

/* tcsetattr and write may be called from a signal handler. */
void screen_restore(void) {
  static const char BELOW[] = "\033[J\r\n";
  if (!is_raw) return;
  is_raw = 0;
  ssize_t written = drawn ? write(STDOUT_FILENO, BELOW, sizeof BELOW - 1) : 0;
  (void)written;
  drawn = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &found);
}

static void raw(void) {
  struct termios modes = found;
  modes.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
  modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  is_raw = 1;
  int failed;
  do failed = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
  while (failed && errno == EINTR); /* continued behind the shell, and brought to the front */
  if (failed) leave("the terminal's modes cannot be set");
}

/* The pipe never blocks: where it is full, screen_wait will return anyway. */
void screen_wake(void) {
  int kept = errno;
  ssize_t written = write(wake[1], "", 1);
  (void)written;
  errno = kept;
}

static void on_signal(int number) {
  if (number == SIGTSTP)
    to_stop = 1;
  else if (number == SIGCONT)
    continued = 1;
  else if (number != SIGWINCH)
    ended = number;
  screen_wake();
}

/* A crash: the handler is gone (SA_RESETHAND), so that the signal does its work. */
static void on_crash(int number) {
  screen_restore();
  raise(number);
}

static void handle(int number, void (*function)(int), int flags) {
  struct sigaction action = {.sa_handler = function, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

void screen_start(void) {
  static const int ASKED[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
  static const int CRASH[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  if (tcgetattr(STDIN_FILENO, &found) || pipe(wake)) leave("the terminal cannot be used");
  for (int i = 0; i < 2; i++) {
    fcntl(wake[i], F_SETFL, O_NONBLOCK);
    fcntl(wake[i], F_SETFD, FD_CLOEXEC);
  }
  for (size_t i = 0; i < sizeof ASKED / sizeof *ASKED; i++) handle(ASKED[i], on_signal, 0);
  for (size_t i = 0; i < sizeof CRASH / sizeof *CRASH; i++)
    handle(CRASH[i], on_crash, (int)SA_RESETHAND);
  atexit(screen_restore);
  raw();
}

void screen_stop(void) {
  to_stop = 0;
  screen_restore();
  handle(SIGTSTP, SIG_DFL, 0);
  raise(SIGTSTP); /* goes on here after SIGCONT, or at once where no shell could send one */
  handle(SIGTSTP, on_signal, 0);
  continued = 0;
  raw();
}

int screen_is_to_stop(void) { return to_stop; }

int screen_ended(void) { return ended; }

size_t screen_wait(unsigned char *bytes, size_t capacity) {
  struct pollfd from[] = {{ended ? -1 : STDIN_FILENO, POLLIN, 0}, {wake[0], POLLIN, 0}};
  char drained[64];
  ssize_t got = 0;
  if (poll(from, 2, -1) < 0 && errno != EINTR) leave("the terminal cannot be read");
  while (read(wake[0], drained, sizeof drained) > 0) {
  }
  if (continued) continued = 0, raw();
  if (from[0].revents) {
    got = read(STDIN_FILENO, bytes, capacity);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) ended = SIGHUP;
  }
  return got > 0 ? (size_t)got : 0;
}

/* ---- drawing ---- */

/* What is written at once, so that nothing flickers: both texts, the status, and what moves. */
typedef struct frame {
  char bytes[2 * LINE_MOST + 4096];
  size_t length;
  int columns_left; /* of the row */
} frame;

static void put(frame *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(frame *f, const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t room = sizeof f->bytes - f->length;
  int bytes = vsnprintf(f->bytes + f->length, room, format, args);
  va_end(args);
  if (bytes > 0 && (size_t)bytes < room) f->length += (size_t)bytes;
}

/* As much of a text as its row has columns for; controls and what is not UTF-8 show as '?'.
 *   returns   the columns it took */
static int put_text(frame *f, const char *text) {
  int before = f->columns_left;
  for (size_t bytes; *text; text += bytes) {
    int wide = edit_columns(text, &bytes);
    if (wide > f->columns_left) break;
    f->columns_left -= wide;
    unsigned char c = (unsigned char)text[bytes - 1];
    if (bytes == 1 && (c < ' ' || c >= 0x7f))
      put(f, "?");
    else
      put(f, "%.*s", (int)bytes, text);
  }
  return before - f->columns_left;
}

/* After screen_restore nothing is drawn any more. */
static void send(const frame *f) {
  for (size_t sent = 0; is_raw && sent < f->length;) {
    ssize_t bytes = write(STDOUT_FILENO, f->bytes + sent, f->length - sent);
    if (bytes < 0 && errno != EINTR) return; /* the terminal is gone: screen_wait will see it */
    if (bytes > 0) sent += (size_t)bytes;
  }
}

static int screen_columns(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 4) return 80;
  return size.ws_col;
}

/* Rows that the terminal has below the line: one row more would scroll the line away. */
static int rows_below(void) {
  struct winsize size;
  int rows = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row == 0 ? 24 : size.ws_row;
  return rows - 1;
}

static int columns_of(const char *text, const char *end) {
  int columns = 0;
  for (size_t bytes; text < end; text += bytes) columns += edit_columns(text, &bytes);
  return columns;
}

/* Begins a row. The last column stays empty: terminals differ in what a full row does. */
static void begin(frame *f) {
  put(f, "\r> ");
  f->columns_left = screen_columns() - 3;
}

/* The status, in at most ROWS_MOST rows below the line, cut between words where there is room for
 * one.
 *   returns   the rows */
static int put_below(frame *f, const char *text) {
  enum { ROWS_MOST = 6 };
  int row = 1, wide = f->columns_left = screen_columns() - 1;
  int most = rows_below() < ROWS_MOST ? rows_below() : ROWS_MOST;
  if (most == 0) return 0;
  put(f, "\r\n" DIM);
  for (size_t length; *text; text += length) {
    char word[256];
    size_t spaces = strspn(text, " ");
    length = spaces + strcspn(text + spaces, " ");
    if (length >= sizeof word) length = sizeof word - 1;
    int columns = columns_of(text, text + length);
    if (columns > f->columns_left && f->columns_left < wide) {
      if (row++ == most) return most;
      put(f, "\033[K\r\n");
      f->columns_left = wide;
      text += spaces, length -= spaces;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    put_text(f, word);
  }
  return row;
}

void screen_draw(const edit_line *line, const char *suggestion, const char *status) {
  frame f;
  f.length = 0;
  begin(&f);
  const char *from = line->text, *cursor = line->text + line->cursor;
  int most = f.columns_left * 2 / 3, behind = columns_of(from, cursor);
  for (size_t bytes; behind > most; from += bytes) behind -= edit_columns(from, &bytes);
  put_text(&f, from);
  put(&f, GREY);
  put_text(&f, suggestion);
  put(&f, PLAIN "\033[K");
  int rows = put_below(&f, status);
  put(&f, PLAIN "\033[J");
  if (rows) put(&f, "\033[%dA", rows);
  put(&f, "\r\033[%dC", behind + 2);
  drawn = is_raw;
  send(&f);
}

void screen_next(const edit_line *line) {
  frame f;
  f.length = 0;
  put(&f, "\r> %s\033[J\r\n", line->text);
  send(&f);
  drawn = 0;
}
