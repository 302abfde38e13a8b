/* A descriptor that is no standard one. The system gives the lowest that is free, so those of 0 to
 * 2 that are closed are taken meanwhile by what can be neither read nor written: a host's other
 * thread that prints gets EBADF, as before, and no byte into the file. */
#include "base/descriptor.h"

#include <errno.h>
#include <unistd.h>

enum {
  STANDARD = STDERR_FILENO + 1,
  ATTEMPTS = 16 /* another thread here or of the host may close a standard one in between */
};

typedef struct places {
  int held[STANDARD], count;
} places;

static void take_places(places *p) {
  p->count = 0;
  for (int i = 0; i < STANDARD; i++) {
    if (fcntl(i, F_GETFD) >= 0) continue;
    int place = open("/", O_PATH | O_CLOEXEC);
    if (place >= 0 && place < STANDARD)
      p->held[p->count++] = place;
    else if (place >= 0)
      close(place);
  }
}

/* But what the host has put there meanwhile. */
static void leave_places(const places *p) {
  int error = errno;
  for (int i = 0; i < p->count; i++)
    if (fcntl(p->held[i], F_GETFL) & O_PATH) close(p->held[i]);
  errno = error;
}

static int open_beside(int folder, const char *path, int flags, mode_t mode) {
  places standard;
  int descriptor;
  take_places(&standard);
  do {
    descriptor = openat(folder, path, flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  leave_places(&standard);
  return descriptor;
}

/* The same file above the standard ones; of one that is only read. */
static int above_standard(int low) {
  int high = fcntl(low, F_DUPFD_CLOEXEC, STANDARD);
  int error = errno == EINVAL ? EMFILE : errno; /* EINVAL: so few descriptors are allowed */
  close(low);
  if (high < 0) errno = error;
  return high;
}

int tpti_open(int folder, const char *path, int flags, mode_t mode) {
  for (int i = 0; i < ATTEMPTS; i++) {
    int descriptor = open_beside(folder, path, flags, mode);
    if (descriptor < 0 || descriptor >= STANDARD) return descriptor;
    if ((flags & O_ACCMODE) == O_RDONLY) return above_standard(descriptor);
    close(descriptor);
    unlinkat(folder, path, 0); /* made just now, and maybe written into */
  }
  errno = EMFILE;
  return -1;
}
