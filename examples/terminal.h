/* How wide a terminal is. */
#ifndef EXAMPLES_TERMINAL_H
#define EXAMPLES_TERMINAL_H

#include <stdlib.h>
#include <sys/ioctl.h>

enum { LINE_MOST = 256, NARROWEST = 8 };

/* Columns of the terminal behind a descriptor, 80 where there is none; the last one is left free,
 * where some terminals break the line. */
static inline size_t line_width(int file) {
  struct winsize window = {0};
  const char *columns = getenv("COLUMNS");
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width <= 0 && ioctl(file, TIOCGWINSZ, &window) == 0) width = window.ws_col;
  if (width <= 0) width = 80;
  if (width > LINE_MOST) width = LINE_MOST;
  return (size_t)(width < NARROWEST ? NARROWEST : width) - 1;
}

#endif
