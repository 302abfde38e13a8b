/* A fork of a process that has threads. */
#ifndef TPTI_TESTS_SUPPORT_FORK_H
#define TPTI_TESTS_SUPPORT_FORK_H

#include <sys/types.h>

/* fork(), once all other threads of the process sleep. A thread that is still beginning may hold
 * the lock of AddressSanitizer's allocator, which nobody gives back in the child; the C library's
 * own takes care of that. */
pid_t tpti_test_fork(void);

#endif
