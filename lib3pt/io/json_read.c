/* Reads JSON in one pass over text whose values were counted before, into one block of memory.
 * Recurses for each level, of which there are few. */
#include <stdarg.h>
#include <string.h>

#include "base/random.h"
#include "base/size.h"
#include "base/text.h"
#include "io/json_chars.h"
#include "io/json_count.h"
#include "io/json_keys.h"
#include "io/json_value.h"

typedef struct reader {
  const tpti_memory *memory;
  tpti_run *run;
  const tpti_json_source *source;
  uint64_t seed; /* of tables of keys */
  size_t at, ticked;
  tpti_json *values; /* the next that is free */
  char *strings;     /* where the next one is put */
} reader;

/* NUL behind the end. */
static char next(const reader *r) {
  return r->at < r->source->length ? r->source->text[r->at] : '\0';
}

static tpt_status wrong(const reader *r, const char *reason, ...) TPTI_PRINTF(2, 3);
static tpt_status wrong(const reader *r, const char *reason, ...) {
  char text[160];
  va_list args;
  va_start(args, reason);
  tpti_vsnprintf(text, sizeof text, reason, args);
  va_end(args);
  return tpti_json_wrong(r->source, r->at, text);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* What stands at `at`: a word, or one character. */
static int found_length(const reader *r) {
  enum { SHOWN = 24 };
  const char *text = r->source->text + r->at;
  size_t most = tpti_least(r->source->length - r->at, SHOWN), length = 0;
  while (length < most && (is_letter(text[length]) || is_digit(text[length]))) length++;
  return (int)(length ? length : 1);
}

static tpt_status wanted(const reader *r, const char *what) {
  char c = next(r);
  if (r->at >= r->source->length) return wrong(r, "%s is wanted, not the end of the text", what);
  if (c > ' ' && c < 0x7f)
    return wrong(r, "%s is wanted, not %.*s", what, found_length(r), r->source->text + r->at);
  return wrong(r, "%s is wanted, not byte 0x%02x", what, (unsigned)(unsigned char)c);
}

static tpt_status tick(reader *r) {
  if (r->at - r->ticked < TPTI_JSON_PIECE || !r->run) return TPT_OK;
  r->ticked = r->at;
  return tpti_run_tick(r->run) ? TPT_OK : tpti_run_status(r->run);
}

static void skip_space(reader *r) {
  while (r->at < r->source->length && tpti_json_space(next(r))) r->at++;
}

/* ---- strings ---- */

/* Characters that stand for themselves, a piece at most. */
static tpt_status read_plain(reader *r) {
  const char *from = r->source->text + r->at;
  size_t most = tpti_least(r->source->length - r->at, TPTI_JSON_PIECE), length = 0;
  while (length < most && tpti_json_plain(from[length])) length++;
  if (length == TPTI_JSON_PIECE) length = tpti_utf8_cut(from, length);
  size_t valid = tpti_utf8_valid(from, length);
  if (length) memcpy(r->strings, from, valid);
  r->strings += valid;
  r->at += valid;
  if (valid < length) return wrong(r, "UTF-8 is wanted");
  if (r->at >= r->source->length) return wanted(r, "a string's closing quote");
  if (length) return tick(r);
  return wrong(r, "in a string byte 0x%02x is wanted as \\u%04x", (unsigned)*from, (unsigned)*from);
}

/* The four digits at `r->at`. */
static tpt_status read_hex(reader *r, uint32_t *unit) {
  *unit = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    const char *digits = "0123456789abcdef", c = next(r);
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;
    if (!found) return wanted(r, "a hexadecimal digit, four after \\u");
    *unit = *unit << 4 | (uint32_t)(found - digits);
  }
  return TPT_OK;
}

/* Of a character beyond U+FFFF two units of UTF-16. */
static tpt_status read_unicode(reader *r) {
  uint32_t unit, low = 0;
  tpt_status status = read_hex(r, &unit);
  if (status) return status;
  bool high = unit >= 0xd800 && unit < 0xdc00;
  if (high && r->source->length - r->at >= 2 && memcmp(r->source->text + r->at, "\\u", 2) == 0) {
    r->at += 2;
    status = read_hex(r, &low);
    if (status) return status;
  }
  if (high ? low < 0xdc00 || low > 0xdfff : unit >= 0xdc00 && unit <= 0xdfff)
    return wrong(r, "surrogates are wanted in pairs, first \\ud800 to \\udbff, then \\udc00 to "
                    "\\udfff");
  if (high) unit = 0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00));
  r->strings += tpti_utf8_write(unit, r->strings);
  return TPT_OK;
}

static tpt_status read_escape(reader *r) {
  static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
  r->at++;
  char c = next(r);
  const char *found = c ? strchr(names, c) : NULL;
  if (!found && c != 'u') return wanted(r, "after \\ one of \" \\ / b f n r t u");
  r->at++;
  if (!found) return read_unicode(r);
  *r->strings++ = means[found - names];
  return TPT_OK;
}

/* Never longer than its text, whose two quotes leave room for the NUL. */
static tpt_status read_string(reader *r, const char **text, size_t *length) {
  tpt_status status = TPT_OK;
  char *start = r->strings;
  r->at++;
  while (!status && next(r) != '"') status = next(r) == '\\' ? read_escape(r) : read_plain(r);
  if (status) return status;
  r->at++;
  *text = start;
  *length = (size_t)(r->strings - start);
  *r->strings++ = '\0';
  return TPT_OK;
}

/* ---- numbers and words ---- */

static tpt_status skip_digits(reader *r) {
  if (!is_digit(next(r))) return wanted(r, "a digit");
  while (is_digit(next(r))) r->at++;
  return TPT_OK;
}

/* *real: it has a fraction or an exponent. */
static tpt_status skip_number(reader *r, bool *real) {
  tpt_status status = TPT_OK;
  if (next(r) == '-') r->at++;
  if (next(r) == '0')
    r->at++;
  else
    status = skip_digits(r);
  if (!status && next(r) == '.') {
    r->at++;
    *real = true;
    status = skip_digits(r);
  }
  if (!status && (next(r) == 'e' || next(r) == 'E')) {
    r->at++;
    *real = true;
    if (next(r) == '+' || next(r) == '-') r->at++;
    status = skip_digits(r);
  }
  return status;
}

static tpt_status read_number(reader *r, tpti_json *value) {
  bool real = false;
  const char *text = r->source->text + r->at;
  size_t start = r->at;
  tpt_status status = skip_number(r, &real);
  if (status) return status;
  size_t length = r->at - start;
  if (real) {
    value->kind = TPTI_JSON_REAL;
    if (tpti_parse_double(text, length, &value->as.real)) return TPT_OK;
  } else if (tpti_parse_int64(text, length, &value->as.integer)) {
    return TPT_OK;
  }
  r->at = start;
  return wrong(r, "%.*s is too large%s; %s", (int)tpti_least(length, 40), text,
               length > 40 ? " or long" : "",
               real ? "doubles of at most 1023 characters are allowed"
                    : "integers from -9223372036854775808 to 9223372036854775807 are allowed");
}

static tpt_status read_word(reader *r, tpti_json *value) {
  static const struct {
    const char *text;
    tpti_json_kind kind;
    bool truth;
  } words[] = {{"null", TPTI_JSON_NULL, false},
               {"true", TPTI_JSON_BOOL, true},
               {"false", TPTI_JSON_BOOL, false}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].text);
    if (r->source->length - r->at < length ||
        memcmp(r->source->text + r->at, words[i].text, length) != 0)
      continue;
    value->kind = words[i].kind;
    value->as.integer = words[i].truth;
    r->at += length;
    return TPT_OK;
  }
  return wanted(r, "a value");
}

/* ---- values ---- */

static tpt_status read_value(reader *r, const char *key, tpti_json **made);

static tpt_status read_key(reader *r, const char **key) {
  size_t length;
  skip_space(r);
  if (next(r) != '"') return wanted(r, "a key in quotes");
  tpt_status status = read_string(r, key, &length);
  if (status) return status;
  if (memchr(*key, '\0', length)) return wrong(r, "a key without a NUL is wanted");
  skip_space(r);
  if (next(r) != ':') return wanted(r, "a colon");
  r->at++;
  return TPT_OK;
}

static tpt_status check_keys(const reader *r, const tpti_json *object) {
  const char *twice = NULL;
  tpt_status status = tpti_json_keys_check(r->memory, r->run, r->seed, object, &twice);
  if (status || !twice) return status;
  return wrong(r, "duplicate key \"%.*s\"; once in an object is allowed", tpti_shown(twice, 60),
               twice);
}

/* From the first member on to the closing bracket, which is not the next character. */
static tpt_status read_members(reader *r, tpti_json *list, char close) {
  bool keyed = list->kind == TPTI_JSON_OBJECT;
  tpti_json **to = &list->as.first;
  for (;; r->at++) {
    const char *key = NULL;
    tpt_status status = keyed ? read_key(r, &key) : TPT_OK;
    if (!status) status = read_value(r, key, to);
    if (status) return status;
    list->count++;
    to = &(*to)->after;
    skip_space(r);
    if (next(r) == close) return keyed ? check_keys(r, list) : TPT_OK;
    if (next(r) != ',') return wanted(r, keyed ? "a comma or }" : "a comma or ]");
  }
}

static tpt_status read_list(reader *r, tpti_json *list) {
  char close = list->kind == TPTI_JSON_OBJECT ? '}' : ']';
  r->at++;
  skip_space(r);
  tpt_status status = next(r) == close ? TPT_OK : read_members(r, list, close);
  r->at++;
  return status;
}

/* What begins so; a value that begins otherwise was not counted. */
static bool kind_of(char c, tpti_json_kind *kind) {
  static const struct {
    const char *first;
    tpti_json_kind kind;
  } kinds[] = {{"{", TPTI_JSON_OBJECT},
               {"[", TPTI_JSON_ARRAY},
               {"\"", TPTI_JSON_STRING},
               {"-0123456789", TPTI_JSON_INTEGER},
               {"ntf", TPTI_JSON_NULL}};
  for (size_t i = 0; c && i < sizeof kinds / sizeof *kinds; i++) {
    *kind = kinds[i].kind;
    if (strchr(kinds[i].first, c)) return true;
  }
  return false;
}

static tpt_status read_value(reader *r, const char *key, tpti_json **made) {
  tpti_json_kind kind;
  tpt_status status = tick(r);
  if (status) return status;
  skip_space(r);
  if (!kind_of(next(r), &kind)) return wanted(r, "a value");
  tpti_json *value = r->values++;
  *value = (tpti_json){.key = key, .kind = kind};
  *made = value;
  switch (kind) {
  case TPTI_JSON_OBJECT:
  case TPTI_JSON_ARRAY:
    return read_list(r, value);
  case TPTI_JSON_STRING:
    return read_string(r, &value->as.text, &value->count);
  case TPTI_JSON_INTEGER:
    return read_number(r, value);
  default:
    return read_word(r, value);
  }
}

static tpti_json_document *make_document(const tpti_memory *memory, size_t values, size_t length) {
  size_t bytes;
  bool fits = tpti_mul(&bytes, values, sizeof(tpti_json)) && tpti_add(&bytes, bytes, length) &&
              tpti_add(&bytes, bytes, sizeof(tpti_json_document));
  tpti_json_document *made = tpti_take(memory, fits ? bytes : SIZE_MAX);
  if (made) *made = (tpti_json_document){.memory = memory, .bytes = bytes};
  return made;
}

tpt_status tpti_json_parse(const tpti_memory *memory, tpti_run *run, const tpti_json_source *source,
                           tpti_json **root) {
  size_t values;
  tpti_json *made;
  *root = NULL;
  tpt_status status = tpti_json_count_values(run, source, &values);
  if (status) return status;
  tpti_json_document *document = make_document(memory, values, source->length);
  if (!document) return tpti_fail_memory_for(source->length, "JSON");
  reader r = {.memory = memory,
              .run = run,
              .source = source,
              .seed = tpti_random_system(),
              .values = document->values,
              .strings = (char *)(document->values + values)};
  status = read_value(&r, NULL, &made);
  if (!status) skip_space(&r);
  if (!status && r.at < source->length) status = wanted(&r, "the end of the text");
  if (status)
    tpti_json_free(document->values);
  else
    *root = made;
  return status;
}
