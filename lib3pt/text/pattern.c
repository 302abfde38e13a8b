/* Oniguruma's dialect, rewritten for PCRE2 construct by construct in one pass. What is not in the
 * lists below is refused: a pattern is honoured exactly or not at all. Characters are written as
 * \x{...}, so that none of them can mean anything else to PCRE2. */
#include "text/pattern.h"

#include <stdint.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "text/pattern_class.h"

enum { MAX_PATTERN = 1 << 16, MAX_DEPTH = 64, MAX_REPEAT = 1000 };

/* What is known of a group while it is open. */
typedef struct group {
  bool caseless, look;   /* (?i: ; a lookaround, which takes no quantifier */
  bool eats, every_eats; /* this alternative, all before it: cannot match the empty text */
} group;

typedef struct rewriter {
  tpti_class_reader in; /* text, place, output, refusal */
  group groups[MAX_DEPTH];
  size_t depth;
  bool atom, atom_eats;  /* a quantifier may follow; the last atom cannot be empty */
  bool eats_before;      /* the alternative did already before that atom */
  bool group_atom;       /* it is a group */
  uint32_t last_literal; /* ignoring case: the letter just before, for pairs like "ss" */
} rewriter;

static group *top(rewriter *r) { return r->groups + r->depth; }

static void set_atom(rewriter *r, bool eats) {
  r->atom = true;
  r->group_atom = false;
  r->atom_eats = eats;
  r->eats_before = top(r)->eats;
  if (eats) top(r)->eats = true;
  r->last_literal = 0;
}

static void no_atom(rewriter *r) {
  r->atom = false;
  r->last_literal = 0;
}

/* Ignoring case, Oniguruma folds these pairs to one ligature or sharp s; PCRE2 never does. */
static bool folds_together(uint32_t a, uint32_t b) {
  static const char pairs[] = "ssfffiflst";
  for (size_t i = 0; i < sizeof pairs - 1; i += 2)
    if ((a | 32) == (uint32_t)pairs[i] && (b | 32) == (uint32_t)pairs[i + 1]) return true;
  return false;
}

static bool literal(rewriter *r, uint32_t c) {
  uint32_t before = r->last_literal;
  bool caseless = top(r)->caseless;
  if (caseless && (c >= 0x80 || (before && folds_together(before, c))))
    return tpti_class_refuse(&r->in, "this character or pair where case is ignored");
  tpti_class_write(&r->in, c);
  set_atom(r, true);
  if (caseless) r->last_literal = c;
  return true;
}

/* ---- groups ---- */

static const struct opening {
  const char *text, *written;
  bool caseless, look;
} OPENINGS[] = {
    {"(?:", "(?:", false, false}, {"(?i:", "(?i:", true, false}, {"(?=", "(?=", false, true},
    {"(?!", "(?!", false, true},  {"(?<=", "(?<=", false, true}, {"(?<!", "(?<!", false, true},
    {"(?>", "(?>", false, false},
};

static bool begin_group(rewriter *r, const struct opening *opening, size_t bytes) {
  if (r->depth + 1 >= MAX_DEPTH) return tpti_class_refuse(&r->in, "groups nested so deep");
  bool caseless = top(r)->caseless || opening->caseless;
  r->groups[++r->depth] = (group){.caseless = caseless, .look = opening->look, .every_eats = true};
  tpti_class_emit(&r->in, opening->written);
  r->in.at += bytes;
  no_atom(r);
  return true;
}

static bool open_group(rewriter *r) {
  for (size_t i = 0; i < sizeof OPENINGS / sizeof *OPENINGS; i++) {
    size_t bytes = strlen(OPENINGS[i].text);
    if (tpti_class_sees(&r->in, OPENINGS[i].text)) return begin_group(r, OPENINGS + i, bytes);
  }
  if (tpti_class_sees(&r->in, "(?")) return tpti_class_refuse(&r->in, "this kind of group");
  return begin_group(r, OPENINGS, 1); /* nothing refers back to it */
}

static bool close_group(rewriter *r) {
  if (r->depth == 0) return tpti_class_refuse(&r->in, "')' without '('");
  group closed = *top(r);
  bool eats = closed.eats && closed.every_eats;
  r->depth--;
  tpti_class_emit(&r->in, ")");
  r->in.at++;
  no_atom(r);
  if (!closed.look) {
    set_atom(r, eats);
    r->group_atom = true;
  }
  return true;
}

static bool alternative(rewriter *r) {
  group *g = top(r);
  g->every_eats = g->every_eats && g->eats;
  g->eats = false;
  tpti_class_emit(&r->in, "|");
  r->in.at++;
  no_atom(r);
  return true;
}

/* ---- quantifiers ---- */

static bool read_number(rewriter *r, uint32_t *value) {
  size_t start = r->in.at;
  *value = 0;
  for (; r->in.at < r->in.length && *value <= MAX_REPEAT; r->in.at++) {
    char c = r->in.text[r->in.at];
    if (c < '0' || c > '9') break;
    *value = *value * 10 + (uint32_t)(c - '0');
  }
  return r->in.at > start;
}

/* {n}, {n,}, {,m}, {n,m}. */
static bool read_interval(rewriter *r, uint32_t *least, uint32_t *most, bool *exact) {
  r->in.at++;
  bool low = read_number(r, least);
  bool comma = tpti_class_sees(&r->in, ",");
  r->in.at += comma;
  bool high = comma && read_number(r, most);
  if (!comma) *most = *least;
  if (comma && !high) *most = UINT32_MAX;
  *exact = !comma;
  bool fine = (low || high) && tpti_class_sees(&r->in, "}") && *least <= MAX_REPEAT &&
              (*most <= MAX_REPEAT || *most == UINT32_MAX) && *least <= *most;
  if (!fine) return tpti_class_refuse(&r->in, "this interval");
  r->in.at++;
  return true;
}

static void write_quantifier(rewriter *r, uint32_t least, uint32_t most) {
  if (most == UINT32_MAX)
    tpti_buffer_printf(&r->in.out, "{%u,}", least);
  else
    tpti_buffer_printf(&r->in.out, "{%u,%u}", least, most);
}

/* After * + ? a ? makes lazy and a + possessive; after an interval Ruby reads + otherwise, and ?
 * too after {n}. */
static bool read_manner(rewriter *r, bool interval, bool exact) {
  bool lazy = tpti_class_sees(&r->in, "?"), possessive = tpti_class_sees(&r->in, "+");
  if ((interval && possessive) || (exact && lazy))
    return tpti_class_refuse(&r->in, "this after an interval");
  if (lazy) tpti_class_emit(&r->in, "?");
  if (possessive) tpti_class_emit(&r->in, "+");
  r->in.at += lazy || possessive;
  return true;
}

static bool quantifier(rewriter *r, char c) {
  uint32_t least = c == '+', most = c == '?' ? 1 : UINT32_MAX;
  bool interval = c == '{', exact = false;
  if (!r->atom) return tpti_class_refuse(&r->in, "a quantifier here");
  bool eats = r->atom_eats;
  if (interval && !read_interval(r, &least, &most, &exact)) return false;
  if (r->group_atom && !eats && most > 1)
    return tpti_class_refuse(&r->in, "the repetition of what may be empty");
  r->in.at += !interval;
  write_quantifier(r, least, most);
  if (!read_manner(r, interval, exact)) return false;
  if (least == 0) top(r)->eats = r->eats_before;
  no_atom(r);
  return true;
}

/* ---- the rest ---- */

static const struct {
  char escape;
  const char *written;
  bool eats;
} ESCAPES[] = {
    {'s', "[" TPTI_SPACE "]", true},
    {'S', "[^" TPTI_SPACE "]", true},
    {'d', "\\p{Nd}", true},
    {'D', "\\P{Nd}", true},
    {'w', "[" TPTI_ONIG_WORD "]", true},
    {'W', "[^" TPTI_ONIG_WORD "]", true},
    {'A', "\\A", false},
    {'z', "\\z", false},
};

static bool escape(rewriter *r) {
  char c = r->in.at + 1 < r->in.length ? r->in.text[r->in.at + 1] : 0;
  for (size_t i = 0; i < sizeof ESCAPES / sizeof *ESCAPES; i++) {
    if (c != ESCAPES[i].escape) continue;
    if (top(r)->caseless && ESCAPES[i].eats)
      return tpti_class_refuse(&r->in, "a class where case is ignored");
    tpti_class_emit(&r->in, ESCAPES[i].written);
    r->in.at += 2;
    if (ESCAPES[i].eats)
      set_atom(r, true);
    else
      no_atom(r);
    return true;
  }
  if (c == 'p' || c == 'P') {
    if (top(r)->caseless) return tpti_class_refuse(&r->in, "a class where case is ignored");
    set_atom(r, true);
    return tpti_class_property(&r->in);
  }
  uint32_t code_point;
  return tpti_class_escape(&r->in, &code_point) && literal(r, code_point);
}

static bool plain(rewriter *r) {
  uint32_t c;
  r->in.at += tpti_utf8_read(r->in.text + r->in.at, &c);
  return literal(r, c);
}

static bool write_anchor(rewriter *r, const char *written) {
  tpti_class_emit(&r->in, written);
  r->in.at++;
  no_atom(r);
  return true;
}

static bool dot(rewriter *r) {
  tpti_class_emit(&r->in, "[^\\n]");
  r->in.at++;
  set_atom(r, true);
  return true;
}

static bool character_class(rewriter *r) {
  set_atom(r, true);
  return tpti_class_read(&r->in, top(r)->caseless);
}

static bool step(rewriter *r) {
  char c = r->in.text[r->in.at];
  switch (c) {
  case '(':
    return open_group(r);
  case ')':
    return close_group(r);
  case '|':
    return alternative(r);
  case '[':
    return character_class(r);
  case '\\':
    return escape(r);
  case '.':
    return dot(r);
  case '^':
    return write_anchor(r, "(?:\\A|(?<=\\n)(?!\\z))");
  case '$':
    return write_anchor(r, "(?:(?=\\n)|\\z)");
  case '*':
  case '+':
  case '?':
  case '{':
    return quantifier(r, c);
  case '}':
  case ']':
    return tpti_class_refuse(&r->in, "this bracket without a backslash");
  default:
    return plain(r);
  }
}

static tpt_status finish(rewriter *r, const tpti_memory *memory, tpti_regex **regex) {
  if (r->depth && !r->in.refused) tpti_class_refuse(&r->in, "'(' without ')'");
  if (r->in.refused)
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "the regular expression \"%.*s\" has at byte %zu what this build does not "
                     "match exactly as Oniguruma: %s",
                     (int)tpti_utf8_cut(r->in.text, tpti_least(r->in.length, 160)), r->in.text,
                     r->in.at, r->in.refused);
  if (r->in.out.failed) return tpti_fail_memory(r->in.length);
  return tpti_regex_compile(memory, r->in.out.data, r->in.out.used, regex);
}

tpt_status tpti_pattern_compile(const tpti_memory *memory, const char *pattern, size_t length,
                                tpti_regex **regex) {
  rewriter r = {.in = {.text = pattern, .length = length}};
  r.groups[0].every_eats = true;
  if (length == 0 || length > MAX_PATTERN)
    return tpti_fail(TPT_E_UNSUPPORTED, "a regular expression of %zu bytes: 1 to %d are supported",
                     length, MAX_PATTERN);
  tpti_buffer_init(&r.in.out, memory);
  while (r.in.at < length && step(&r)) {
  }
  tpt_status status = finish(&r, memory, regex);
  tpti_buffer_free(&r.in.out);
  return status;
}

tpt_status tpti_pattern_literal(const tpti_memory *memory, const char *text, size_t length,
                                tpti_regex **regex) {
  tpti_buffer out;
  tpti_buffer_init(&out, memory);
  for (size_t i = 0; i < length;) {
    uint32_t c;
    i += tpti_utf8_read(text + i, &c);
    tpti_buffer_printf(&out, "\\x{%x}", c);
  }
  tpt_status status =
      out.failed ? tpti_fail_memory(length) : tpti_regex_compile(memory, out.data, out.used, regex);
  tpti_buffer_free(&out);
  return status;
}
