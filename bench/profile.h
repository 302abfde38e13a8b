/* Where the time of a run goes: the linker sends every call of the operations of profile.c's list
 * through a clock (--wrap), so that they are timed where they stand, in the order, at the shapes
 * and with the caches of the run itself. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include <stddef.h>

/* From here on; before, and where it is never called, an operation costs a branch more. */
void bench_profile_begin(void);

/* A table of what was called since: of one run, of `runs` that took `seconds` each. */
void bench_profile_print(size_t runs, double seconds);

#endif
