/* One line of UTF-8 and a cursor in it. No terminal here. */
#ifndef EDIT_H
#define EDIT_H

#include "typeahead.h"

/* What a key does to the line or the program. */
typedef enum edit_key {
  KEY_NONE,
  KEY_TEXT, /* the character in edit_keys.text */
  KEY_LEFT,
  KEY_RIGHT,
  KEY_HOME,
  KEY_END,
  KEY_UP,
  KEY_DOWN,
  KEY_BACKSPACE,
  KEY_DELETE,
  KEY_WORD_BACK, /* removes the word before the cursor */
  KEY_ALL_BACK,  /* removes what is before the cursor */
  KEY_REST,      /* removes what is after it */
  KEY_ACCEPT,    /* takes the suggestion */
  KEY_ENTER,
  KEY_REDRAW,
  KEY_STOP,
  KEY_LEAVE
} edit_key;

/* Bytes of the keyboard to keys; what is unfinished waits for the next byte. */
typedef struct edit_keys {
  char text[8];        /* a UTF-8 character, ends with NUL */
  size_t have, wanted; /* its bytes so far, and in all */
  char sequence[8];    /* after ESC */
  size_t in_sequence;  /* bytes of it, ESC among them; 0: none */
} edit_keys;

typedef struct edit_line {
  char text[LINE_MOST + 1]; /* ends with NUL */
  size_t length, cursor;    /* bytes; the cursor stands before a character */
} edit_line;

edit_key edit_read(edit_keys *keys, unsigned char byte);

void edit_set(edit_line *line, const char *text);
void edit_insert(edit_line *line, const char *text);
void edit_apply(edit_line *line, edit_key key);

/* Columns of the character at text: 0 for one that is put over the one before it. */
int edit_columns(const char *text, size_t *bytes);

#endif
