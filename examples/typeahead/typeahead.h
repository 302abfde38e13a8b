/* What the files of typeahead share. main.c reads keys and draws; worker.c trains, by learn.c, on
 * a thread of its own; suggest.c decodes on another. They meet in small mailboxes, and main never
 * waits.
 *
 *   edit.c     one line of UTF-8 and a cursor in it
 *   screen.c   the terminal: raw mode, keys, two lines drawn at once, signals
 *   memory.c   the lines learned and how well each was foreseen; what a checkpoint keeps of them
 *   rows.c     a line as rows of token ids
 *   words.c    the text of each token, and choosing among those that agree with what was typed */
#ifndef TYPEAHEAD_H
#define TYPEAHEAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <3pt/3pt.h>

enum { LINE_MOST = 2000 }; /* bytes of a line; more are not taken */

/* Gives the terminal back, says why on standard error and ends the program with status 1. From any
 * thread: a failure's message is that of the thread that failed. */
void leave(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static inline void must(tpt_status status) {
  if (status != TPT_OK) leave("%s", tpt_error_message());
}

/* What the library said last, of a file that the text then begins with. */
void file_message(const char *path, char *text, size_t capacity);

void must_file(const char *path, tpt_status status);

static inline void *must_have(void *memory) {
  return memory ? memory : (leave("there is no memory left"), NULL);
}

#endif
