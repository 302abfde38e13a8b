/* Token files. Ids are read into the caller's array and widened or checked there. */
#include "io/tokens.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static size_t width_of(const char *path) {
  static const struct {
    char ending[5];
    unsigned char width;
  } kinds[] = {{".u16", 2}, {".bin", 2}, {".u32", 4}};
  size_t length = strlen(path);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (length >= 4 && memcmp(path + length - 4, kinds[i].ending, 4) == 0) return kinds[i].width;
  }
  return 0;
}

/* Ends a message: what the file looks like, and its path. The file is closed. */
static tpt_status refuse(tpti_tokens *tokens) {
  char head[TPTI_LOOK_BYTES];
  tpti_fail_looks(TPT_E_FORMAT, TPTI_WANT_TOKENS, head, tpti_file_head(&tokens->file, head));
  tpti_tokens_close(tokens);
  return tpti_fail_in(TPT_E_FORMAT, tokens->path);
}

tpt_status tpti_tokens_open(const char *path, tpti_tokens *tokens) {
  *tokens = (tpti_tokens){.file.descriptor = -1, .path = path, .width = width_of(path)};
  tpt_status status = tpti_file_open(path, &tokens->file);
  if (tokens->width == 0 && *path) { /* an empty name is refused by the system */
    tpti_fail(TPT_E_FORMAT, "a token file's name ends in .u16, .bin or .u32");
    return refuse(tokens);
  }
  if (status) return status;
  uint64_t size = tokens->file.size;
  if (size % tokens->width != 0) {
    tpti_fail(TPT_E_FORMAT, "the token file has %llu bytes; a multiple of %zu is allowed",
              (unsigned long long)size, tokens->width);
    return refuse(tokens);
  }
  tokens->count = (size_t)(size / tokens->width);
  return TPT_OK;
}

void tpti_tokens_close(tpti_tokens *tokens) { tpti_file_close(&tokens->file); }

/* Backwards: the 16-bit ids fill the first half of the room that they are widened into. */
static void widen(int32_t *ids, size_t count) {
  const char *narrow = (const char *)ids;
  for (size_t i = count; i-- > 0;) {
    uint16_t id;
    memcpy(&id, narrow + i * sizeof id, sizeof id);
    ids[i] = id;
  }
}

static tpt_status check_range(const tpti_tokens *tokens, const int32_t *ids, size_t first,
                              size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (ids[i] >= 0) continue;
    return tpti_fail(TPT_E_FORMAT, "token %zu is %lu; at most 2147483647 is allowed: %s", first + i,
                     (unsigned long)(uint32_t)ids[i], tokens->path);
  }
  return TPT_OK;
}

tpt_status tpti_tokens_read(const tpti_tokens *tokens, size_t first, size_t count, int32_t *ids) {
  if (first > tokens->count || count > tokens->count - first) {
    return tpti_fail(TPT_E_ARGUMENT, "%zu tokens from %zu on are wanted of %zu: %s", count, first,
                     tokens->count, tokens->path);
  }
  tpt_status status = tpti_file_read(&tokens->file, tokens->path, (uint64_t)first * tokens->width,
                                     ids, count * tokens->width);
  if (status) return status;
  if (tokens->width == 4) return check_range(tokens, ids, first, count);
  widen(ids, count);
  return TPT_OK;
}
