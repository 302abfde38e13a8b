/* The thread's message: one fixed buffer a thread, so that reporting a failure never fails. */
#include "base/error.h"

#include <string.h>

#include "base/text.h"

static _Thread_local char message[TPTI_ERROR_TEXT];

/* Paths and keys in a message may hold anything; a host must be able to show it as UTF-8. */
static void mend_utf8(char *text, size_t size) {
  size_t at = tpti_utf8_valid(text, size);
  while (at < size) {
    text[at] = '?';
    at += tpti_utf8_valid(text + at, size - at);
  }
}

tpt_status tpti_fail_args(tpt_status status, const char *format, va_list args) {
  char text[TPTI_ERROR_TEXT]; /* an argument may point into the message itself */
  int length = tpti_vsnprintf(text, sizeof text, format, args);
  size_t size = length < 0 ? 0 : (size_t)length;
  if (size >= sizeof text) size = tpti_utf8_cut(text, sizeof text - 1);
  mend_utf8(text, size);
  memcpy(message, text, size);
  message[size] = '\0';
  return status;
}

tpt_status tpti_fail(tpt_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tpti_fail_args(status, format, args);
  va_end(args);
  return status;
}

tpt_status tpti_fail_memory(size_t bytes) {
  return tpti_fail(TPT_E_MEMORY, "the allocator refused %zu bytes", bytes);
}

const char *tpti_error_text(void) { return message; }
