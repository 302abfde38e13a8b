/* What a text of JSON will take, before it is read. */
#ifndef TPTI_IO_JSON_COUNT_H
#define TPTI_IO_JSON_COUNT_H

#include "io/json.h"

enum { TPTI_JSON_PIECE = 1 << 15 }; /* bytes between two ticks: well under a millisecond */

/* TPT_E_FORMAT at the byte `at`, whose line and column are told. */
tpt_status tpti_json_wrong(const tpti_json_source *source, size_t at, const char *reason);

/* The number of values, at least 1: exact where the text is JSON; where it is not, no fewer than
 * stand before what is wrong. Refuses too many, and too many levels. */
tpt_status tpti_json_count_values(tpti_run *run, const tpti_json_source *source, size_t *values);

#endif
