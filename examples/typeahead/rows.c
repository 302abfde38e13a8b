#include "rows.h"

tpt_status rows_read(tokens *t, const tpt_tokenizer *tokenizer, int32_t mark, size_t row,
                     const char *line) {
  size_t room = LINE_MOST + 16, length = strlen(line);
  tpt_status status =
      tpt_tokenizer_encode_text(tokenizer, line, length, t->ids + 1, room, &t->count);
  if (status) return status;
  if (t->count > room) t->count = room;
  t->ids[0] = mark;
  t->ids[t->count + 1] = mark;
  t->count += 2;
  t->row = row;
  return TPT_OK;
}

size_t rows_count(const tokens *t) { return (t->count - 2 + t->row) / t->row; }

const int32_t *rows_at(const tokens *t, size_t index, size_t *length) {
  size_t left = t->count - 1 - index * t->row;
  *length = left < t->row ? left : t->row;
  return t->ids + index * t->row;
}

void rows_add(batch *b, const tokens *t, size_t index) {
  size_t *length = &b->length[b->count];
  b->from[b->count++] = rows_at(t, index, length);
  if (*length > b->longest) b->longest = *length;
}

void rows_fill(const batch *b, int32_t *inputs, int32_t *targets) {
  for (size_t r = 0; r < b->count; r++)
    for (size_t i = 0; i < b->longest; i++) {
      int is_in = i < b->length[r];
      *inputs++ = is_in ? b->from[r][i] : 0;
      *targets++ = is_in ? b->from[r][i + 1] : -1;
    }
}
