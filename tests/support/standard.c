/* A while without the standard descriptors: 0 to 2. */
#include "support/standard.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

tpti_test_standard tpti_test_close_standard(void) {
  tpti_test_standard standard;
  fflush(NULL);
  for (int i = 0; i < 3; i++) standard.kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
  for (int i = 0; i < 3; i++) close(i);
  return standard;
}

int tpti_test_open_standard(const tpti_test_standard *standard) {
  int open = 0;
  for (int i = 0; i < 3; i++) open += fcntl(i, F_GETFD) != -1;
  for (int i = 0; i < 3; i++)
    if (standard->kept[i] >= 0) dup2(standard->kept[i], i), close(standard->kept[i]);
  return open;
}
