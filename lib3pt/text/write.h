/* Writing JSON values that were read. */
#ifndef TPTI_TEXT_WRITE_H
#define TPTI_TEXT_WRITE_H

#include "io/json.h"

/* Appends a value as compact JSON, members in their order; NULL is null. */
void tpti_write_json(tpti_buffer *out, const tpti_json *node);

#endif
