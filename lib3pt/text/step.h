/* A tokenizer's work on text, in steps: those of its normalizer, of its pre-tokenizer and of its
 * decoder. One thing of tokenizer.json may be several steps. */
#ifndef TPTI_TEXT_STEP_H
#define TPTI_TEXT_STEP_H

#include "io/regex.h"
#include "text/bpe.h"

typedef enum tpti_step_kind {
  /* text to text, in a normalizer; BYTES also in a pre-tokenizer, REPLACE also in a decoder */
  TPTI_STEP_PREPEND, /* content before a text that is not empty */
  TPTI_STEP_REPLACE, /* every match of regex becomes content */
  TPTI_STEP_STRIP,   /* white space off the ends: start, stop */
  TPTI_STEP_BYTES,   /* every byte becomes its character of the byte-level alphabet */
  /* of a pre-tokenizer */
  TPTI_STEP_SPLIT,  /* at the matches of regex, by behavior, inverted where `flag` */
  TPTI_STEP_PREFIX, /* content before a text that does not begin with it; `flag`: only where it
                       is the beginning of the whole text */
  /* of a decoder: on the list of tokens */
  TPTI_STEP_UNBYTES,  /* BYTES back; one string is left */
  TPTI_STEP_FALLBACK, /* runs of <0x41> become their bytes */
  TPTI_STEP_FUSE,     /* one string is left */
  TPTI_STEP_TRIM,     /* at most start, stop characters content off each string's ends */
  TPTI_STEP_UNMETA,   /* content becomes a space, in the first token nothing where `flag` */
  TPTI_STEP_SPACES,   /* a space between tokens */
  TPTI_STEP_WORDS     /* spacing of prose (spacing.h) */
} tpti_step_kind;

typedef enum tpti_behavior {
  TPTI_ISOLATED,
  TPTI_REMOVED,
  TPTI_MERGED_WITH_PREVIOUS,
  TPTI_MERGED_WITH_NEXT,
  TPTI_CONTIGUOUS
} tpti_behavior;

typedef struct tpti_step {
  tpti_step_kind kind;
  tpti_behavior behavior;
  bool flag;
  size_t start, stop;
  tpti_buffer content;
  tpti_regex *regex; /* owned */
} tpti_step;

enum { TPTI_MAX_STEPS = 16 };

typedef struct tpti_steps {
  tpti_step at[TPTI_MAX_STEPS];
  size_t count;
} tpti_steps;

void tpti_steps_free(tpti_steps *steps);

/* One matcher for each step that has an expression. */
typedef struct tpti_matchers {
  tpti_matcher *at[TPTI_MAX_STEPS];
  tpti_run *run;
} tpti_matchers;

/* run: asked between matches; may be NULL. */
tpt_status tpti_matchers_create(const tpti_steps *steps, tpti_run *run, tpti_matchers *matchers);
void tpti_matchers_free(tpti_matchers *matchers);

/* Matches one after the other, as Oniguruma's iterator gives them: an empty match right after the
 * last match is passed over. */
typedef struct tpti_matches {
  tpti_matcher *matcher;
  const char *text;
  size_t size, from, last_end;
  bool any;
} tpti_matches;

tpt_status tpti_matches_next(tpti_matches *matches, bool *found, size_t *start, size_t *end);

/* Appends the text with every match replaced. */
tpt_status tpti_step_replace(const tpti_step *step, tpti_matcher *matcher, const char *text,
                             size_t length, tpti_buffer *out);

/* Cuts a text at the matches of a SPLIT step; calls back for each piece that is not empty, with its
 * place in the text. A failure of the callback ends it. */
typedef tpt_status (*tpti_piece_fn)(void *user, size_t start, size_t end);
tpt_status tpti_step_split(const tpti_step *step, tpti_matcher *matcher, const char *text,
                           size_t length, tpti_piece_fn piece, void *user);

/* Appends the normalized text; text and out are different. scratch is used in between. */
tpt_status tpti_steps_normalize(const tpti_steps *steps, const tpti_matchers *matchers,
                                const char *text, size_t length, tpti_buffer *out,
                                tpti_buffer *scratch);

/* PCRE2's compiled code looks at a whole vector around the text's end, within its page: harmless,
 * but memory checkers ask that those bytes have a value. So texts that are matched lie in buffers
 * of ours, and these get some zeros after their end. false: no memory. */
bool tpti_pad(tpti_buffer *text);
tpt_status tpti_copy_padded(tpti_run *run, tpti_buffer *copy, const char *text, size_t length);

/* tpti_alphabet_write of a text of any length. */
tpt_status tpti_alphabet_write_all(tpti_run *run, tpti_buffer *out, const char *text,
                                   size_t length);

/* White_Space of Unicode, the same 25 characters since version 6.3. */
bool tpti_is_space(uint32_t code_point);

#endif
