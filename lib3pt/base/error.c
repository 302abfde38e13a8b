/* The thread's message: one fixed buffer a thread, so that reporting a failure never fails. */
#include "base/error.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static _Thread_local char message[TPTI_ERROR_TEXT];

static void mend_utf8(char *text, size_t size) {
  size_t at = tpti_utf8_valid(text, size);
  while (at < size) {
    text[at] = '?';
    at += tpti_utf8_valid(text + at, size - at);
  }
}

/* C0, DEL and C1 (in UTF-8 C2 80 to C2 9F): a line's end, or what a terminal obeys. */
static void mend_controls(char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < 0x20 || c == 0x7f) text[i] = '?';
    if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0) text[i] = text[i + 1] = '?';
  }
}

size_t tpti_message(char text[TPTI_ERROR_TEXT], const char *format, va_list args) {
  int length = tpti_vsnprintf(text, TPTI_ERROR_TEXT, format, args);
  size_t size = length < 0 ? 0 : (size_t)length;
  if (size >= TPTI_ERROR_TEXT) size = tpti_utf8_cut(text, TPTI_ERROR_TEXT - 1);
  mend_utf8(text, size);
  mend_controls(text, size);
  text[size] = '\0';
  return size;
}

tpt_status tpti_fail_args(tpt_status status, const char *format, va_list args) {
  char text[TPTI_ERROR_TEXT]; /* an argument may point into the message itself */
  size_t size = tpti_message(text, format, args);
  memcpy(message, text, size + 1);
  return status;
}

tpt_status tpti_fail(tpt_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tpti_fail_args(status, format, args);
  va_end(args);
  return status;
}

tpt_status tpti_fail_in(tpt_status status, const char *path) {
  return tpti_fail(status, "%s: %s", message, path);
}

tpt_status tpti_fail_memory(size_t bytes) {
  const tpti_refusal last = tpti_last_refusal();
  if (bytes == SIZE_MAX)
    return tpti_fail(TPT_E_MEMORY, "more bytes are needed than this system can address");
  if (last.bytes) bytes = last.bytes;
  if (last.misaligned)
    return tpti_fail(TPT_E_MEMORY,
                     "the allocator gave a block of %zu bytes at no multiple of %d; the alignment "
                     "that it is asked with must be kept",
                     bytes, TPTI_ALIGNMENT);
  return tpti_fail(TPT_E_MEMORY, "the allocator refused %zu bytes", bytes);
}

tpt_status tpti_fail_memory_for(size_t bytes, const char *what) {
  tpti_fail_memory(bytes);
  return tpti_fail(TPT_E_MEMORY, "%s, for %s", tpti_error_text(), what);
}

const char *tpti_error_text(void) { return message; }
