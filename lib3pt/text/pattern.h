/* Regular expressions of tokenizer.json. The Python package `tokenizers` matches them with
 * Oniguruma (Ruby's dialect); here the constructs whose meaning is certain are rewritten for PCRE2,
 * and the rest is refused by name. */
#ifndef TPTI_TEXT_PATTERN_H
#define TPTI_TEXT_PATTERN_H

#include "io/regex.h"

/* What \s and \w are in Rust's expressions, which the package's Whitespace and added tokens use;
 * PCRE2 10.42's own are narrower. For use inside [ ]. */
#define TPTI_SPACE "\\t-\\r\\x{85}\\p{Z}"
#define TPTI_WORD  "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"

/* An Oniguruma expression. TPT_E_UNSUPPORTED names the construct and its byte. */
tpt_status tpti_pattern_compile(const tpti_memory *memory, const char *pattern, size_t length,
                                tpti_regex **regex);

/* The text itself, not empty. */
tpt_status tpti_pattern_literal(const tpti_memory *memory, const char *text, size_t length,
                                tpti_regex **regex);

#endif
