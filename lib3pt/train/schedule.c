/* Learning-rate schedule. */
#include "train/schedule.h"

#include <math.h>

#define PI 3.14159265358979323846

double tpti_schedule_share(const tpti_recipe *r, uint64_t steps) {
  if (steps < r->warmup) return (double)steps / (double)r->warmup;
  double along = (double)(steps - r->warmup) / (double)(r->steps - r->warmup);
  double cosine = (1.0 + cos(PI * fmin(1.0, along))) / 2.0;
  return r->lr_floor + (1.0 - r->lr_floor) * cosine;
}
