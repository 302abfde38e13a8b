/* Regular expressions by PCRE2, on text that is valid UTF-8, with Unicode properties. regex.c is
 * the only file that includes pcre2.h. The dialect is PCRE2's; text/pattern.h writes it. */
#ifndef TPTI_IO_REGEX_H
#define TPTI_IO_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

typedef struct tpti_regex tpti_regex;     /* immutable: any number of threads */
typedef struct tpti_matcher tpti_matcher; /* what one thread needs to match */

/* TPT_E_UNSUPPORTED with PCRE2's reason and the place where it refuses the pattern. memory must
 * outlive both objects. */
tpt_status tpti_regex_compile(const tpti_memory *memory, const char *pattern, size_t length,
                              tpti_regex **regex);
void tpti_regex_free(tpti_regex *regex); /* NULL is accepted */

tpt_status tpti_matcher_create(const tpti_regex *regex, tpti_matcher **matcher);
void tpti_matcher_free(tpti_matcher *matcher); /* NULL is accepted */

/* From now on tpti_matcher_find asks the run now and then, and ends with TPT_E_CANCELLED. NULL: no
 * more. One match is never interrupted. */
void tpti_matcher_watch(tpti_matcher *matcher, tpti_run *run);

/* The first match of text[0, size) that starts at or after `from`; *found false where there is
 * none. */
tpt_status tpti_matcher_find(tpti_matcher *matcher, const char *text, size_t size, size_t from,
                             bool *found, size_t *start, size_t *end);

#endif
