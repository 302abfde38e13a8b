/* The terminal: raw mode and back, waiting for keys, a line and a status drawn at once, signals. */
#ifndef SCREEN_H
#define SCREEN_H

#include "edit.h"

/* Are standard input and output a terminal that can move its cursor? */
int screen_is_there(void);

/* Raw mode, until the program ends in any way but SIGKILL. */
void screen_start(void);

/* The modes that were found at the start, and no row of ours below the cursor's. Without effect
 * before it, and the second time. */
void screen_restore(void);

/* Lets screen_wait return. From any thread. */
void screen_wake(void);

/* Sleeps until there are keys or someone woke it.
 *   returns   how many bytes of keys came, at most capacity; 0: none */
size_t screen_wait(unsigned char *bytes, size_t capacity);

/* The signal that asks the program to end, or SIGHUP where the terminal is gone; 0: none yet. */
int screen_ended(void);

/* Was the program asked to stop by a signal, since the last screen_stop? */
int screen_is_to_stop(void);

/* Gives the terminal to the shell until SIGCONT. The caller has drawn what is to stay. */
void screen_stop(void);

/* The line with a grey suggestion at its end, a status below it, in as many rows as it takes. */
void screen_draw(const edit_line *line, const char *suggestion, const char *status);

/* Leaves the line as it is above, and begins one below it. */
void screen_next(const edit_line *line);

#endif
