/* A descriptor that is no standard one. */
#include "base/descriptor.h"

#include <errno.h>
#include <unistd.h>

/* The same file under a number above those of the standard descriptors. */
static int above_standard(int low) {
  int high = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
  close(low);
  errno = error;
  return high;
}

int tpti_open(int folder, const char *path, int flags, mode_t mode) {
  int descriptor;
  do {
    descriptor = openat(folder, path, flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  descriptor = above_standard(descriptor);
  if (descriptor < 0 && (flags & O_EXCL)) {
    int error = errno;
    unlinkat(folder, path, 0);
    errno = error;
  }
  return descriptor;
}
