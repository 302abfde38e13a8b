/* For compilers without the instructions: bf16_units.c says that nothing is here, so nothing of
 * this is called. */
#include "kernel/bf16_parts.h"

#include <assert.h>

#ifndef TPTI_HAVE_BF16
void tpti_bf16_pack_operand(uint32_t *out, size_t strip, const tpti_bf16_operand *o, size_t parts) {
  (void)out, (void)strip, (void)o, (void)parts;
  assert(!"bf16");
}

void tpti_bf16_multiply_vectors(const tpti_bf16_product *p) {
  (void)p;
  assert(!"bf16");
}
#endif

#ifndef TPTI_HAVE_AMX
void tpti_bf16_multiply_tiles(const tpti_bf16_product *p) {
  (void)p;
  assert(!"tiles");
}
#endif
