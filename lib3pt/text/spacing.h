/* Where prose has spaces: what a word tokenizer, which keeps none, puts between its tokens. */
#ifndef TPTI_TEXT_SPACING_H
#define TPTI_TEXT_SPACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of the text so far; begin with {0}. */
typedef struct tpti_spacing {
  bool begun, glue;      /* a token was there; no space after it */
  bool quoted;           /* inside double quotes */
  bool apostrophe;       /* the last token is one right after a word */
  bool word, number;     /* the last token is a word; one of digits alone */
  bool point, separator; /* the last token is '.' or ':', is ',', right after a number */
} tpti_spacing;

/* Takes the next token (valid UTF-8, not empty): is there a space before it? */
bool tpti_spacing_next(tpti_spacing *spacing, const char *token, size_t length);

#endif
