/* What the five programs share: a call that fails ends them. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "3pt/3pt.h"

static inline void check(tpt_status status) {
  if (status == TPT_OK) return;
  fprintf(stderr, "%s: %s\n", tpt_status_name(status), tpt_error_message());
  exit(1);
}

#endif
