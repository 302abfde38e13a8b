/* For compilers and processors without tiles: nothing is permitted, so nothing else is called. */
#include "kernel/amx.h"

#include <assert.h>

#include "kernel/amx_tile.h"

bool tpti_amx_here(void) { return false; }
bool tpti_amx_permit(void) { return false; }

void tpti_amx_pack_operand(uint32_t *out, size_t strip, const tpti_amx_operand *o, size_t parts) {
  (void)out, (void)strip, (void)o, (void)parts;
  assert(!"tiles");
}

void tpti_amx_multiply(const tpti_amx_product *p) {
  (void)p;
  assert(!"tiles");
}
