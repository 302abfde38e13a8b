/* Token files: flat little-endian ids without header, 16 bits (.u16, .bin) or 32 (.u32), read as
 * needed. */
#ifndef TPTI_IO_TOKENS_H
#define TPTI_IO_TOKENS_H

#include "io/file.h"

typedef struct tpti_tokens {
  tpti_file file;
  const char *path; /* for messages: as given to open, the caller's */
  size_t width;     /* bytes an id: 2 or 4 */
  size_t count;
} tpti_tokens;

/* The width follows the name's ending; another ending, or a size that is no multiple, is
 * TPT_E_FORMAT. */
tpt_status tpti_tokens_open(const char *path, tpti_tokens *tokens);
void tpti_tokens_close(tpti_tokens *tokens);

/* ids[0, count) of the file from `first`; an id above 2^31 - 1 is TPT_E_FORMAT. No allocation. */
tpt_status tpti_tokens_read(const tpti_tokens *tokens, size_t first, size_t count, int32_t *ids);

#endif
