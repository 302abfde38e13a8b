/* Keys of an object that are alike: two readers of such a text may see different things in it. */
#ifndef TPTI_IO_JSON_KEYS_H
#define TPTI_IO_JSON_KEYS_H

#include "io/json.h"

/* *twice: a key that stands twice, NULL where none does. seed: what nobody can guess, so that no
 * file is slow to read on purpose. */
tpt_status tpti_json_keys_check(const tpti_memory *memory, tpti_run *run, uint64_t seed,
                                const tpti_json *object, const char **twice);

#endif
