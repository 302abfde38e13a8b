/* PCRE2 behind our allocator: compiled once, by its JIT where the system allows one. */
#include "io/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <string.h>

/* PCRE2 gives blocks back without their size, which our allocator wants: it is kept in front. */
enum { HEAD = TPTI_ALIGNMENT };

struct tpti_regex {
  const tpti_memory *memory;
  pcre2_general_context *general;
  pcre2_code *code;
};

struct tpti_matcher {
  const tpti_regex *regex;
  pcre2_match_context *limits;
  pcre2_match_data *data;
  tpti_run *run;
  size_t work; /* bytes looked at since the run was asked, and some more for each match */
};

static void *take(size_t bytes, void *user) {
  size_t whole;
  char *block = tpti_add(&whole, bytes, HEAD) ? tpti_take(user, whole) : NULL;
  if (!block) return NULL;
  memcpy(block, &whole, sizeof whole);
  return block + HEAD;
}

static void give(void *memory, void *user) {
  size_t whole;
  if (!memory) return;
  char *block = (char *)memory - HEAD;
  memcpy(&whole, block, sizeof whole);
  tpti_give(user, block, whole);
}

static tpt_status refuse(int code, size_t offset) {
  PCRE2_UCHAR reason[160];
  if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
    return tpti_fail_memory(sizeof(pcre2_code *));
  if (pcre2_get_error_message(code, reason, sizeof reason) < 0) reason[0] = 0;
  return tpti_fail(TPT_E_UNSUPPORTED,
                   "the regular expression is not one of PCRE2's: %s at byte %zu",
                   (const char *)reason, offset);
}

static tpt_status compile(tpti_regex *regex, const char *pattern, size_t length) {
  int code;
  PCRE2_SIZE offset = 0;
  pcre2_compile_context *context = pcre2_compile_context_create(regex->general);
  if (!context) return tpti_fail_memory(length);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  /* 10.42 takes \P{L}+? before \P{N} for possessive, which it is not. */
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_AUTO_POSSESS;
  regex->code = pcre2_compile((PCRE2_SPTR)pattern, length, options, &code, &offset, context);
  pcre2_compile_context_free(context);
  if (!regex->code) return refuse(code, offset);
  /* Where memory must not be executable, matching is slower and otherwise the same. */
  (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
  return TPT_OK;
}

tpt_status tpti_regex_compile(const tpti_memory *memory, const char *pattern, size_t length,
                              tpti_regex **regex) {
  tpti_regex *made = tpti_take(memory, sizeof *made);
  if (!made) return tpti_fail_memory(sizeof *made);
  *made = (tpti_regex){.memory = memory};
  made->general = pcre2_general_context_create(take, give, (void *)(uintptr_t)memory);
  tpt_status status =
      made->general ? compile(made, pattern, length) : tpti_fail_memory(sizeof *made);
  if (status) {
    tpti_regex_free(made);
    return status;
  }
  *regex = made;
  return TPT_OK;
}

void tpti_regex_free(tpti_regex *regex) {
  if (!regex) return;
  pcre2_code_free(regex->code);
  pcre2_jit_free_unused_memory(regex->general); /* its pages are not ours, and would stay */
  pcre2_general_context_free(regex->general);
  tpti_give(regex->memory, regex, sizeof *regex);
}

tpt_status tpti_matcher_create(const tpti_regex *regex, tpti_matcher **matcher) {
  tpti_matcher *made = tpti_take(regex->memory, sizeof *made);
  if (!made) return tpti_fail_memory(sizeof *made);
  *made = (tpti_matcher){.regex = regex};
  made->limits = pcre2_match_context_create(regex->general);
  made->data = pcre2_match_data_create(1, regex->general);
  if (!made->limits || !made->data) {
    tpti_matcher_free(made);
    return tpti_fail_memory(sizeof *made);
  }
  /* Depth and heap are limited by memory alone: 20 MiB of spaces may be one match. */
  pcre2_set_depth_limit(made->limits, UINT32_MAX);
  pcre2_set_heap_limit(made->limits, UINT32_MAX);
  *matcher = made;
  return TPT_OK;
}

void tpti_matcher_free(tpti_matcher *matcher) {
  if (!matcher) return;
  pcre2_match_data_free(matcher->data);
  pcre2_match_context_free(matcher->limits);
  tpti_give(matcher->regex->memory, matcher, sizeof *matcher);
}

void tpti_matcher_watch(tpti_matcher *matcher, tpti_run *run) { matcher->run = run; }

static tpt_status ask(tpti_matcher *matcher, size_t bytes) {
  enum { A_MATCH = 64, ENOUGH = 1 << 16 }; /* well under a millisecond where nothing goes back */
  matcher->work += bytes + A_MATCH;
  if (matcher->work < ENOUGH || !matcher->run) return TPT_OK;
  matcher->work = 0;
  return tpti_run_tick(matcher->run) ? TPT_OK : tpti_run_status(matcher->run);
}

/* A long match is no fault, but an expression that tries everything is stopped within a
 * second: PCRE2 cannot be cancelled. */
static uint32_t steps_for(size_t size) {
  const uint32_t least = 20000000; /* twice what PCRE2 allows by default */
  return size > (UINT32_MAX - least) / 16 ? UINT32_MAX : least + 16 * (uint32_t)size;
}

tpt_status tpti_matcher_find(tpti_matcher *matcher, const char *text, size_t size, size_t from,
                             bool *found, size_t *start, size_t *end) {
  const pcre2_code *code = matcher->regex->code;
  PCRE2_SPTR subject = (PCRE2_SPTR)(size ? text : "");
  pcre2_set_match_limit(matcher->limits, steps_for(size));
  int count =
      pcre2_match(code, subject, size, from, PCRE2_NO_UTF_CHECK, matcher->data, matcher->limits);
  if (count == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter's stack lies in our memory */
    count = pcre2_match(code, subject, size, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, matcher->data,
                        matcher->limits);
  *found = count >= 0;
  if (count == PCRE2_ERROR_NOMATCH) return ask(matcher, size - from);
  if (count == PCRE2_ERROR_NOMEMORY || count == PCRE2_ERROR_HEAPLIMIT)
    return tpti_fail_memory(size);
  if (count == PCRE2_ERROR_MATCHLIMIT)
    return tpti_fail(
        TPT_E_UNSUPPORTED,
        "the regular expression takes more than %u steps at byte %zu of a piece of %zu",
        (unsigned)steps_for(size), from, size);
  if (count < 0) return tpti_fail(TPT_E_INTERNAL, "PCRE2 failed with code %d", count);
  const PCRE2_SIZE *places = pcre2_get_ovector_pointer(matcher->data);
  *start = places[0];
  *end = places[1];
  return ask(matcher, *end > from ? *end - from : 0);
}
