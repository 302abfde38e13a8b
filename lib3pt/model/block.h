/* One block of the network, forward and backward, over the rows of a trainer (paper 3; DESIGN
 * section 2). */
#ifndef TPTI_MODEL_BLOCK_H
#define TPTI_MODEL_BLOCK_H

#include "model/acts.h"

/* One forward or backward in progress: B sequences of T positions, M = B T rows. */
typedef struct tpti_pass {
  tpti_run *run;
  const tpti_network *net;
  tpti_acts *acts;
  size_t B, T, M;
  bool fresh; /* matrices' gradients are not added to but overwritten, whatever they hold */
} tpti_pass;

/* acts->blocks[l] from h, the stream that enters the block. */
void tpti_block_forward(const tpti_pass *pass, size_t l, const float *h);

/* acts->dh, the gradient of the block's output, becomes that of h; the block's gradients in
 * `gradients` (laid out as the weights) are added to. */
void tpti_block_backward(const tpti_pass *pass, size_t l, const float *h, float *gradients);

#endif
