/* Errors. Code below api/ reports a failure by `return tpti_fail(status, "...")`: the text goes to
 * a fixed buffer of the thread, the status up the call chain. Only api/ copies it into a handle. */
#ifndef TPTI_BASE_ERROR_H
#define TPTI_BASE_ERROR_H

#include <stdarg.h>

#include <3pt/3pt.h>

enum { TPTI_ERROR_TEXT = 512 }; /* bytes of a message with its NUL; a longer one is cut */

#define TPTI_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* A message as a host can show it: written as in the C locale, cut at a character, with '?' for
 * control characters and for what is not UTF-8, which paths, keys and tokens may hold. Its length
 * is the result. */
size_t tpti_message(char text[TPTI_ERROR_TEXT], const char *format, va_list args) TPTI_PRINTF(2, 0);

/* Sets this thread's message and returns `status`. Numbers are written as in the C locale. */
tpt_status tpti_fail(tpt_status status, const char *format, ...) TPTI_PRINTF(2, 3);
tpt_status tpti_fail_args(tpt_status status, const char *format, va_list args);

/* Adds to this thread's message which file it is about. The order is the same in all messages: the
 * place (line, byte, tensor, part), what is wrong, what is allowed, what it looks like
 * (io/looks.h), the path. That comes last: it alone may be longer than a message, whose end is then
 * cut. */
tpt_status tpti_fail_in(tpt_status status, const char *path);

/* TPT_E_MEMORY with the size that tpti_take was refused last, or was given where no block may
 * begin.
 *   bytes     told where tpti_take was not asked; SIZE_MAX: no size_t holds it */
tpt_status tpti_fail_memory(size_t bytes);

/* And what it was for: "the logits of 64 tokens". */
tpt_status tpti_fail_memory_for(size_t bytes, const char *what);

/* This thread's last message; "" before the first. */
const char *tpti_error_text(void);

#endif
