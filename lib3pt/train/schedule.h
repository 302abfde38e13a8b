/* The learning rate over the steps: linear warm-up from 0, then a cosine down to a floor. */
#ifndef TPTI_TRAIN_SCHEDULE_H
#define TPTI_TRAIN_SCHEDULE_H

#include "model/recipe.h"

/* Share of the peak, 0 to 1, for the step after `steps` done:
 *
 *   s / warmup                                                            s < warmup
 *   f + (1 - f) (1 + cos(pi min(1, (s - warmup) / (steps - warmup)))) / 2     after, f = lr_floor
 */
double tpti_schedule_share(const tpti_recipe *recipe, uint64_t steps);

#endif
