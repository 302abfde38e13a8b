/* Files that are opened: never as descriptor 0, 1 or 2. A host that has closed these may print all
 * the same, and would print into the file. */
#ifndef TPTI_BASE_DESCRIPTOR_H
#define TPTI_BASE_DESCRIPTOR_H

#include <fcntl.h>

/* As openat, with O_CLOEXEC, and again where a signal came. Reads what is there, or makes a file
 * (O_CREAT | O_EXCL) to write; nothing is left behind by a failure.
 *   folder    AT_FDCWD: the working directory
 *   returns   3 or more; -1 and errno */
int tpti_open(int folder, const char *path, int flags, mode_t mode);

#endif
