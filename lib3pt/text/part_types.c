/* The types of normalizers, pre-tokenizers and decoders that are honoured exactly. */
#include <string.h>

#include "base/text.h"
#include "text/parts.h"
#include "text/pattern.h"

enum { SHOWN = 40 }; /* bytes of a foreign word in a message */

static const bool YES = true;

/* ---- normalizers ---- */

static tpt_status read_prepend(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  const char *text;
  size_t length;
  tpt_status status = tpti_part_string(part, "prepend", NULL, &text, &length);
  if (!status) status = tpti_add_step(reader, TPTI_STEP_PREPEND, &step);
  return status ? status : tpti_step_content(step, text, length);
}

static tpt_status read_strip(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  bool left, right;
  tpt_status status = tpti_part_bool(part, "strip_left", NULL, &left);
  if (!status) status = tpti_part_bool(part, "strip_right", NULL, &right);
  if (!status) status = tpti_add_step(reader, TPTI_STEP_STRIP, &step);
  if (status) return status;
  step->start = left;
  step->stop = right;
  return TPT_OK;
}

static tpt_status read_bytes(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  (void)part;
  return tpti_add_step(reader, TPTI_STEP_BYTES, &step);
}

static const tpti_part_type NORMALIZERS[] = {
    {"Prepend", "prepend", read_prepend},
    {"Replace", "pattern content", tpti_read_replace},
    {"Strip", "strip_left strip_right", read_strip},
    {"ByteLevel", "", read_bytes},
};

/* ---- pre-tokenizers ---- */

static const char GPT2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* P of the Unicode age of the package's table (8.0), and ASCII's punctuation. */
static const char PUNCTUATION[] =
    "(?![\\x{61d}\\x{9fd}\\x{a76}\\x{c77}\\x{c84}\\x{1b7d}-\\x{1b7e}\\x{2e43}-\\x{2e4f}\\x{2e52}-"
    "\\x{2e5d}\\x{10ead}\\x{10f55}-\\x{10f59}\\x{10f86}-\\x{10f89}\\x{1144b}-\\x{1144f}\\x{1145a}-"
    "\\x{1145b}\\x{1145d}\\x{11660}-\\x{1166c}\\x{116b9}\\x{1183b}\\x{11944}-\\x{11946}\\x{119e2}"
    "\\x{11a3f}-\\x{11a46}\\x{11a9a}-\\x{11a9c}\\x{11a9e}-\\x{11aa2}\\x{11c41}-\\x{11c45}\\x{11c70}"
    "-\\x{11c71}\\x{11ef7}-\\x{11ef8}\\x{11fff}\\x{12ff1}-\\x{12ff2}\\x{16e97}-\\x{16e9a}\\x{16fe2}"
    "\\x{1e95e}-\\x{1e95f}])[\\p{P}$+<=>^`|~\\x{166d}\\x{111c9}]";

static tpt_status add_split(tpti_part_reader *reader, const char *expression, bool inverted,
                            tpti_behavior behavior) {
  tpti_step *step = NULL;
  tpt_status status = tpti_add_step(reader, TPTI_STEP_SPLIT, &step);
  if (status) return status;
  step->flag = inverted;
  step->behavior = behavior;
  return tpti_regex_compile(reader->memory, expression, strlen(expression), &step->regex);
}

static tpt_status read_behavior(const tpti_part *part, const char *absent,
                                tpti_behavior *behavior) {
  static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext",
                                      "Contiguous"};
  const char *text;
  size_t length;
  tpt_status status = tpti_part_string(part, "behavior", absent, &text, &length);
  for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++) {
    *behavior = (tpti_behavior)i;
    if (strcmp(text, names[i]) == 0) return TPT_OK;
  }
  if (status) return status;
  return tpti_fail(TPT_E_FORMAT,
                   "%s.behavior is \"%.*s\"; allowed: Isolated, Removed, MergedWithPrevious, "
                   "MergedWithNext, Contiguous",
                   part->path, tpti_shown(text, SHOWN), text);
}

static tpt_status read_byte_level(tpti_part_reader *reader, const tpti_part *part) {
  bool prefix, use_regex;
  tpti_step *step = NULL;
  tpt_status status = tpti_part_bool(part, "add_prefix_space", NULL, &prefix);
  if (!status) status = tpti_part_bool(part, "use_regex", &YES, &use_regex);
  if (!status && prefix) {
    status = tpti_add_step(reader, TPTI_STEP_PREFIX, &step);
    if (!status) status = tpti_step_content(step, " ", 1);
  }
  if (!status && use_regex) {
    status = tpti_add_step(reader, TPTI_STEP_SPLIT, &step);
    if (!status) status = tpti_pattern_compile(reader->memory, GPT2, sizeof GPT2 - 1, &step->regex);
  }
  return status ? status : tpti_add_step(reader, TPTI_STEP_BYTES, &step);
}

static tpt_status read_split(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  bool is_regex;
  tpt_status status = tpti_add_step(reader, TPTI_STEP_SPLIT, &step);
  if (!status) status = tpti_read_pattern(reader, part, step, &is_regex);
  if (!status) status = read_behavior(part, NULL, &step->behavior);
  return status ? status : tpti_part_bool(part, "invert", NULL, &step->flag);
}

static tpt_status read_whitespace(tpti_part_reader *reader, const tpti_part *part) {
  (void)part;
  return add_split(reader, "[" TPTI_WORD "]+|[^" TPTI_WORD TPTI_SPACE "]+", true, TPTI_REMOVED);
}

static tpt_status read_whitespace_split(tpti_part_reader *reader, const tpti_part *part) {
  (void)part;
  return add_split(reader, "[" TPTI_SPACE "]", false, TPTI_REMOVED);
}

static tpt_status read_digits(tpti_part_reader *reader, const tpti_part *part) {
  bool each;
  tpt_status status = tpti_part_bool(part, "individual_digits", NULL, &each);
  if (status) return status;
  return add_split(reader, "\\p{N}", false, each ? TPTI_ISOLATED : TPTI_CONTIGUOUS);
}

static tpt_status read_punctuation(tpti_part_reader *reader, const tpti_part *part) {
  tpti_behavior behavior;
  tpt_status status = read_behavior(part, "Isolated", &behavior);
  return status ? status : add_split(reader, PUNCTUATION, false, behavior);
}

/* ---- Metaspace, on both sides ---- */

typedef struct metaspace {
  const char *mark, *scheme;
  size_t mark_length;
  bool split;
} metaspace;

static tpt_status read_scheme(const tpti_part *part, metaspace *meta) {
  size_t length;
  bool prefix;
  tpt_status status = tpti_part_bool(part, "add_prefix_space", &YES, &prefix);
  if (!status) status = tpti_part_string(part, "prepend_scheme", "", &meta->scheme, &length);
  if (status) return status;
  /* Files before prepend_scheme have add_prefix_space alone. */
  if (length == 0) meta->scheme = prefix ? "always" : "never";
  bool known = strcmp(meta->scheme, "always") == 0 || strcmp(meta->scheme, "first") == 0 ||
               strcmp(meta->scheme, "never") == 0;
  if (!known)
    return tpti_fail(TPT_E_FORMAT, "%s.prepend_scheme is \"%.*s\"; allowed: always, first, never",
                     part->path, tpti_shown(meta->scheme, SHOWN), meta->scheme);
  if (length && tpti_json_get(part->node, "add_prefix_space") &&
      prefix != (strcmp(meta->scheme, "never") != 0))
    return tpti_fail(TPT_E_FORMAT, "%s: add_prefix_space contradicts prepend_scheme", part->path);
  return TPT_OK;
}

static tpt_status read_metaspace(const tpti_part *part, metaspace *meta) {
  uint32_t c;
  tpt_status status = tpti_part_string(part, "replacement", NULL, &meta->mark, &meta->mark_length);
  if (!status) status = tpti_part_bool(part, "split", &YES, &meta->split);
  if (!status) status = read_scheme(part, meta);
  if (status) return status;
  if (meta->mark_length == 0 || tpti_utf8_read(meta->mark, &c) != meta->mark_length)
    return tpti_fail(TPT_E_FORMAT, "%s.replacement: one character is wanted", part->path);
  return TPT_OK;
}

/* Where a step before may have put text in front, the package's "first" depends on how it counts
 * the places of the original text. */
static bool may_move(const tpti_part_reader *reader) {
  for (size_t i = 0; i < reader->steps->count; i++)
    if (reader->steps->at[i].kind != TPTI_STEP_SPLIT) return true;
  return reader->normalized;
}

static tpt_status add_metaspace(tpti_part_reader *reader, const metaspace *meta) {
  tpti_step *step = NULL;
  bool prefix = strcmp(meta->scheme, "never") != 0;
  tpt_status status = tpti_add_step(reader, TPTI_STEP_REPLACE, &step);
  if (!status) status = tpti_pattern_literal(reader->memory, " ", 1, &step->regex);
  if (!status) status = tpti_step_content(step, meta->mark, meta->mark_length);
  if (!status && prefix) {
    status = tpti_add_step(reader, TPTI_STEP_PREFIX, &step);
    if (!status) step->flag = strcmp(meta->scheme, "first") == 0;
    if (!status) status = tpti_step_content(step, meta->mark, meta->mark_length);
  }
  if (status || !meta->split) return status;
  status = tpti_add_step(reader, TPTI_STEP_SPLIT, &step);
  if (status) return status;
  step->behavior = TPTI_MERGED_WITH_NEXT;
  return tpti_pattern_literal(reader->memory, meta->mark, meta->mark_length, &step->regex);
}

static tpt_status read_metaspace_pre(tpti_part_reader *reader, const tpti_part *part) {
  metaspace meta;
  tpt_status status = read_metaspace(part, &meta);
  if (status) return status;
  if (strcmp(meta.scheme, "first") == 0 && may_move(reader))
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "%s: prepend_scheme \"first\" after a normalizer or a step that changes the "
                     "text",
                     part->path);
  return add_metaspace(reader, &meta);
}

static tpt_status read_metaspace_decoder(tpti_part_reader *reader, const tpti_part *part) {
  metaspace meta;
  tpti_step *step = NULL;
  tpt_status status = read_metaspace(part, &meta);
  if (!status) status = tpti_add_step(reader, TPTI_STEP_UNMETA, &step);
  if (status) return status;
  step->flag = strcmp(meta.scheme, "never") != 0;
  return tpti_step_content(step, meta.mark, meta.mark_length);
}

#define METASPACE_KEYS "replacement prepend_scheme split add_prefix_space str_rep"

static const tpti_part_type PRE_TOKENIZERS[] = {
    {"ByteLevel", "add_prefix_space trim_offsets use_regex", read_byte_level},
    {"Split", "pattern behavior invert", read_split},
    {"Whitespace", "", read_whitespace},
    {"WhitespaceSplit", "", read_whitespace_split},
    {"Digits", "individual_digits", read_digits},
    {"Punctuation", "behavior", read_punctuation},
    {"Metaspace", METASPACE_KEYS, read_metaspace_pre},
};

/* ---- decoders ---- */

static tpt_status read_unbytes(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  (void)part;
  return tpti_add_step(reader, TPTI_STEP_UNBYTES, &step);
}

static tpt_status read_fallback(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  (void)part;
  return tpti_add_step(reader, TPTI_STEP_FALLBACK, &step);
}

static tpt_status read_fuse(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  (void)part;
  return tpti_add_step(reader, TPTI_STEP_FUSE, &step);
}

static tpt_status read_trim(tpti_part_reader *reader, const tpti_part *part) {
  enum { MOST = 1 << 20 };
  tpti_step *step = NULL;
  const char *text;
  size_t length;
  uint32_t c;
  tpt_status status = tpti_part_string(part, "content", NULL, &text, &length);
  if (!status) status = tpti_add_step(reader, TPTI_STEP_TRIM, &step);
  if (!status) status = tpti_part_size(part, "start", MOST, &step->start);
  if (!status) status = tpti_part_size(part, "stop", MOST, &step->stop);
  if (status) return status;
  if (length == 0 || tpti_utf8_read(text, &c) != length)
    return tpti_fail(TPT_E_FORMAT, "%s.content: one character is wanted", part->path);
  return tpti_step_content(step, text, length);
}

/* The package's WordPiece decoder with a prefix that no word has puts a space before each word but
 * not before . ? ! and the comma. Our word tokenizers are written with it, and are known by it. */
static tpt_status read_words(tpti_part_reader *reader, const tpti_part *part) {
  tpti_step *step = NULL;
  const char *prefix;
  size_t length;
  bool cleanup;
  tpt_status status = tpti_part_string(part, "prefix", NULL, &prefix, &length);
  if (!status) status = tpti_part_bool(part, "cleanup", NULL, &cleanup);
  if (status) return status;
  if (strcmp(prefix, " ") != 0 || length != 1 || !cleanup)
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "%s: type WordPiece is supported with prefix \" \" and cleanup true alone, as "
                     "word tokenizers are saved",
                     part->path);
  return tpti_add_step(reader, TPTI_STEP_WORDS, &step);
}

static const tpti_part_type DECODERS[] = {
    {"ByteLevel", "add_prefix_space trim_offsets use_regex", read_unbytes},
    {"Replace", "pattern content", tpti_read_replace},
    {"ByteFallback", "", read_fallback},
    {"Fuse", "", read_fuse},
    {"Strip", "content start stop", read_trim},
    {"Metaspace", METASPACE_KEYS, read_metaspace_decoder},
    {"WordPiece", "prefix cleanup", read_words},
};

#define TYPES(table, list)                                                                         \
  { table, sizeof table / sizeof *table, list }

tpt_status tpti_read_normalizer(const tpti_memory *memory, const tpti_part *part,
                                tpti_steps *steps) {
  static const tpti_part_types types = TYPES(NORMALIZERS, "normalizers");
  tpti_part_reader reader = {.memory = memory, .steps = steps};
  if (tpti_json_kind_of(part->node) == TPTI_JSON_NULL) return TPT_OK;
  return tpti_read_part(&reader, &types, part);
}

tpt_status tpti_read_pre_tokenizer(const tpti_memory *memory, const tpti_part *part,
                                   bool normalized, tpti_steps *steps) {
  static const tpti_part_types types = TYPES(PRE_TOKENIZERS, "pretokenizers");
  tpti_part_reader reader = {.memory = memory, .steps = steps, .normalized = normalized};
  if (tpti_json_kind_of(part->node) == TPTI_JSON_NULL) return TPT_OK;
  return tpti_read_part(&reader, &types, part);
}

tpt_status tpti_read_decoder(const tpti_memory *memory, const tpti_part *part, tpti_steps *steps) {
  static const tpti_part_types types = TYPES(DECODERS, "decoders");
  tpti_part_reader reader = {.memory = memory, .steps = steps};
  tpti_step *step = NULL;
  if (tpti_json_kind_of(part->node) == TPTI_JSON_NULL)
    return tpti_add_step(&reader, TPTI_STEP_SPACES, &step);
  return tpti_read_part(&reader, &types, part);
}
