#include "edit.h"

#include <wchar.h>

/* ---- keys ---- */

typedef struct binding {
  const char *bytes;
  edit_key key;
} binding;

/* After ESC. Terminals differ in Home and End. */
static const binding SEQUENCES[] = {
    {"[D", KEY_LEFT}, {"[C", KEY_RIGHT},  {"[A", KEY_UP},    {"[B", KEY_DOWN},  {"[H", KEY_HOME},
    {"[F", KEY_END},  {"OD", KEY_LEFT},   {"OC", KEY_RIGHT}, {"OA", KEY_UP},    {"OB", KEY_DOWN},
    {"OH", KEY_HOME}, {"OF", KEY_END},    {"[1~", KEY_HOME}, {"[7~", KEY_HOME}, {"[4~", KEY_END},
    {"[8~", KEY_END}, {"[3~", KEY_DELETE}};

static edit_key control(unsigned char byte) {
  switch (byte) {
  case 0x7f:
  case 'H' & 31:
    return KEY_BACKSPACE;
  case '\t':
    return KEY_ACCEPT;
  case '\r':
  case '\n':
    return KEY_ENTER;
  case 'A' & 31:
    return KEY_HOME;
  case 'B' & 31:
    return KEY_LEFT;
  case 'C' & 31:
  case 'D' & 31:
    return KEY_LEAVE;
  case 'E' & 31:
    return KEY_END;
  case 'F' & 31:
    return KEY_RIGHT;
  case 'K' & 31:
    return KEY_REST;
  case 'L' & 31:
    return KEY_REDRAW;
  case 'N' & 31:
    return KEY_DOWN;
  case 'P' & 31:
    return KEY_UP;
  case 'U' & 31:
    return KEY_ALL_BACK;
  case 'W' & 31:
    return KEY_WORD_BACK;
  case 'Z' & 31:
    return KEY_STOP;
  default:
    return KEY_NONE;
  }
}

/* ESC [ or ESC O, parameters, and a last byte from '@' on; another ESC x is Alt, and passed over.
 */
static edit_key sequence(edit_keys *k, unsigned char byte) {
  size_t at = k->in_sequence++;
  if (at < sizeof k->sequence) k->sequence[at - 1] = (char)byte, k->sequence[at] = 0;
  if (at == 1 && (byte == '[' || byte == 'O')) return KEY_NONE;
  if (at > 1 && byte >= ' ' && byte < '@') return KEY_NONE;
  k->in_sequence = 0;
  for (size_t i = 0; i < sizeof SEQUENCES / sizeof *SEQUENCES; i++)
    if (strcmp(SEQUENCES[i].bytes, k->sequence) == 0) return SEQUENCES[i].key;
  return KEY_NONE;
}

static int is_inner(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

/* Bytes of the character that begins so; 0: none does. */
static size_t wanted(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* The second byte rules out characters spelled too long, surrogates, what is past U+10FFFF, and the
 * controls from U+0080 on, which some terminals obey. */
static int is_second(unsigned char first, unsigned char byte) {
  unsigned char low = first == 0xe0 || first == 0xc2 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return byte >= low && byte <= high;
}

static edit_key text(edit_keys *k, unsigned char byte) {
  int goes_on = k->have == 1 ? is_second((unsigned char)k->text[0], byte) : is_inner((char)byte);
  if (k->have == 0 || !goes_on) k->have = 0, k->wanted = wanted(byte);
  if (k->wanted == 0) return KEY_NONE;
  k->text[k->have++] = (char)byte;
  k->text[k->have] = 0;
  if (k->have < k->wanted) return KEY_NONE;
  k->have = 0;
  return KEY_TEXT;
}

edit_key edit_read(edit_keys *k, unsigned char byte) {
  if (byte == 0x1b) return k->in_sequence = 1, KEY_NONE;
  if (k->in_sequence) return sequence(k, byte);
  if (byte < ' ' || byte == 0x7f) return k->have = 0, control(byte);
  return text(k, byte);
}

/* ---- the line ---- */

int edit_columns(const char *at, size_t *bytes) {
  unsigned char first = (unsigned char)*at;
  uint32_t c = first < 0x80 ? first : first & (first < 0xe0 ? 31u : first < 0xf0 ? 15u : 7u);
  *bytes = 1;
  while (is_inner(at[*bytes])) c = c << 6 | ((unsigned char)at[(*bytes)++] & 63u);
  int columns = wcwidth((wchar_t)c);
  return columns < 0 ? 1 : columns; /* the system does not know it: most are 1 wide */
}

static size_t before(const edit_line *l, size_t at) {
  size_t bytes;
  while (at > 0) {
    do at--;
    while (at > 0 && is_inner(l->text[at]));
    if (edit_columns(l->text + at, &bytes) > 0) break; /* accents go with their letter */
  }
  return at;
}

static size_t after(const edit_line *l, size_t at) {
  size_t bytes;
  if (at == l->length) return at;
  edit_columns(l->text + at, &bytes);
  for (at += bytes; at < l->length && edit_columns(l->text + at, &bytes) == 0;) at += bytes;
  return at;
}

static size_t word_before(const edit_line *l) {
  size_t at = l->cursor;
  while (at > 0 && l->text[at - 1] == ' ') at--;
  while (at > 0 && l->text[at - 1] != ' ') at--;
  return at;
}

/* Removes the bytes [begin, end); the cursor goes there. */
static void cut(edit_line *l, size_t begin, size_t end) {
  memmove(l->text + begin, l->text + end, l->length - end + 1);
  l->length -= end - begin;
  l->cursor = begin;
}

void edit_insert(edit_line *l, const char *added) {
  size_t bytes = strlen(added);
  if (l->length + bytes > LINE_MOST) return;
  memmove(l->text + l->cursor + bytes, l->text + l->cursor, l->length - l->cursor + 1);
  memcpy(l->text + l->cursor, added, bytes);
  l->length += bytes;
  l->cursor += bytes;
}

void edit_set(edit_line *l, const char *whole) {
  cut(l, 0, l->length);
  edit_insert(l, whole);
}

void edit_apply(edit_line *l, edit_key key) {
  size_t here = l->cursor;
  switch (key) {
  case KEY_LEFT:
    l->cursor = before(l, here);
    break;
  case KEY_RIGHT:
    l->cursor = after(l, here);
    break;
  case KEY_HOME:
    l->cursor = 0;
    break;
  case KEY_END:
    l->cursor = l->length;
    break;
  case KEY_BACKSPACE:
    cut(l, before(l, here), here);
    break;
  case KEY_DELETE:
    cut(l, here, after(l, here));
    break;
  case KEY_WORD_BACK:
    cut(l, word_before(l), here);
    break;
  case KEY_ALL_BACK:
    cut(l, 0, here);
    break;
  case KEY_REST:
    cut(l, here, l->length);
    break;
  default:
    break;
  }
}
