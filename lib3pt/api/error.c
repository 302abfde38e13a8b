/* What went wrong: for this thread, and for a handle. */
#include "api/api.h"

#include <string.h>

const char *tpt_error_message(void) { return tpti_error_text(); }

tpt_status tpt_error_of(const void *handle, char *text, size_t capacity, size_t *length) {
  char last[TPTI_ERROR_TEXT];
  if (!tpti_handle_is_any(handle)) return TPT_E_ARGUMENT;
  TPTI_NEED(length);
  if (capacity > 0) TPTI_NEED(text);
  tpti_handle_last(handle, last);
  tpti_text_result(last, strlen(last), text, capacity, length);
  return TPT_OK;
}

const char *tpt_status_name(tpt_status status) {
  static const char *const names[] = {"TPT_OK",          "TPT_E_ARGUMENT",    "TPT_E_MEMORY",
                                      "TPT_E_IO",        "TPT_E_FORMAT",      "TPT_E_CONFIG",
                                      "TPT_E_STATE",     "TPT_E_UNSUPPORTED", "TPT_E_NUMERIC",
                                      "TPT_E_CANCELLED", "TPT_E_INTERNAL"};
  size_t index = (size_t)status;
  return index < sizeof names / sizeof names[0] ? names[index] : "(not a tpt_status)";
}
