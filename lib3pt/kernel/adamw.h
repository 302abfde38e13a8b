/* One step of AdamW with decoupled decay (Loshchilov and Hutter 2019), in PyTorch's order:
 *
 *   g' = gradient_scale g
 *   p  = p - decay p
 *   m  = beta1 m + (1 - beta1) g'
 *   v  = beta2 v + (1 - beta2) g'^2
 *   p  = p - lr (bias1 m) / (sqrt(bias2 v) + eps)
 */
#ifndef TPTI_KERNEL_ADAMW_H
#define TPTI_KERNEL_ADAMW_H

#include <stddef.h>

/* In double: 1 - beta2 of a beta2 already rounded to float would be off by 1e-5. */
typedef struct tpti_adamw_step {
  double gradient_scale; /* 1 / grad_accum, times the clipping factor */
  double beta1, beta2;
  double lr;
  double decay; /* lr times weight_decay */
  double eps;
  double bias1, bias2; /* 1 / (1 - beta^t) */
} tpti_adamw_step;

/* p, m and v in place; g stays as it is. */
typedef void tpti_adamw_fn(float *p, float *m, float *v, const float *g, size_t n,
                           const tpti_adamw_step *s);

tpti_adamw_fn tpti_adamw_plain;

#endif
