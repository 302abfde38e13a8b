/* Tables by open addressing: where a text belongs, and how large they are. */
#ifndef TPTI_BASE_HASH_H
#define TPTI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* seed: 0, or what nobody can guess where texts may be chosen to fall on each other. */
uint64_t tpti_hash(uint64_t seed, const char *text, size_t length);

/* The mask of a table of a power of two places that `count` entries fill by half at most. */
size_t tpti_table_mask(size_t count);

#endif
