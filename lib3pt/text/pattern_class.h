/* The parts of a regular expression below the level of groups: one character, one escape, one
 * property, one class in brackets. Used by pattern.c alone. */
#ifndef TPTI_TEXT_PATTERN_CLASS_H
#define TPTI_TEXT_PATTERN_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* Oniguruma's \w: in brackets without Rust's joiners, and by itself with the superscripts and
 * fractions of Latin-1 too. */
#define TPTI_ONIG_CLASS_WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define TPTI_ONIG_WORD       TPTI_ONIG_CLASS_WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

typedef struct tpti_class_reader {
  const char *text; /* valid UTF-8 */
  size_t length, at;
  const char *refused; /* what is not supported at `at` */
  tpti_buffer out;
} tpti_class_reader;

/* Returns false. */
bool tpti_class_refuse(tpti_class_reader *in, const char *what);

/* Does the text go on like this? */
bool tpti_class_sees(const tpti_class_reader *in, const char *text);
void tpti_class_emit(tpti_class_reader *in, const char *text);
void tpti_class_write(tpti_class_reader *in, uint32_t code_point);

/* Each starts at its first character and ends after its last. */
bool tpti_class_escape(tpti_class_reader *in, uint32_t *code_point); /* \n \. \x{..} \u.... */
bool tpti_class_property(tpti_class_reader *in);                     /* \p{..} \P{..} \p{^..} */
bool tpti_class_read(tpti_class_reader *in, bool caseless);          /* [..] */

#endif
