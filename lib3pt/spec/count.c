/* How many parameters a model has: the sum of the shapes of its tensors. */
#include <stdint.h>

#include "spec/spec.h"

/* *sum += a b; sticky. */
static bool add_matrix(size_t *sum, size_t a, size_t b) {
  size_t product;
  return tpti_mul(&product, a, b) && tpti_add(sum, *sum, product);
}

static bool count_block(const tpti_dims *d, size_t *count) {
  size_t P = tpti_dims_P(d), E = tpti_dims_E(d), kv, theta = d->rotation != TPTI_ROTATION_NONE;
  *count = 0;
  bool fits = tpti_mul(&kv, d->K, E);
  for (int i = 0; i < 2; i++) fits = fits && add_matrix(count, d->D, d->D); /* q, o */
  for (int i = 0; i < 2; i++) fits = fits && add_matrix(count, kv, d->D);   /* k, v */
  for (int i = 0; i < 3; i++) fits = fits && add_matrix(count, d->F, d->D); /* gate, up, down */
  for (int i = 0; i < 2; i++) fits = fits && tpti_add(count, *count, d->D); /* n1, n2 */
  return fits && add_matrix(count, theta, P / 2);
}

bool tpti_count_parameters(const tpti_dims *dims, size_t *count) {
  size_t block, profile = dims->dc == TPTI_DC_LEARNED ? dims->max_seq_len : 0;
  *count = profile;
  bool fits = add_matrix(count, dims->V, dims->D); /* token_emb */
  fits = fits && count_block(dims, &block) && add_matrix(count, dims->L, block);
  fits = fits && tpti_add(count, *count, dims->D);    /* norm_f */
  fits = fits && add_matrix(count, dims->V, dims->D); /* head */
  if (!fits) *count = SIZE_MAX;
  return fits;
}
