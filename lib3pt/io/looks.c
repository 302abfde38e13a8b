/* Kinds of files by their first bytes. */
#include "io/looks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

typedef enum look {
  EMPTY,
  SAFETENSORS,
  TOKENIZER,
  JSON,
  DESCRIPTION,
  TEXT,
  OTHER_TEXT, /* in an encoding of its own */
  BINARY,
  FOREIGN /* by one of the marks below */
} look;

static const char *const names[] = {
    [EMPTY] = "an empty file",
    [SAFETENSORS] = "a safetensors file",
    [TOKENIZER] = "a tokenizer.json",
    [JSON] = "JSON",
    [DESCRIPTION] = "a description (YAML)",
    [TEXT] = "text",
    [OTHER_TEXT] = "text that is not UTF-8",
    [BINARY] = "binary data",
};

/* What people have at hand beside our own kinds, by the marks that their formats fix. */
static const struct mark {
  char bytes[7];
  unsigned char length;
  const char *name;
} marks[] = {
    {"PK\3\4", 4, "a ZIP archive, as PyTorch saves models"},
    {"\x80\2\x8a\n", 4, "a Python pickle, as PyTorch saved models"},
    {"\x80\4\x95", 3, "a Python pickle"},
    {"\x93NUMPY", 6, "a NumPy array"},
    {"GGUF", 4, "a GGUF model"},
    {"\x1f\x8b\x08", 3, "a gzip file"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file"},
    {"%PDF-", 5, "a PDF"},
    {"\xff\xfe", 2, "UTF-16 text"},
    {"\xfe\xff", 2, "UTF-16 text"},
};

/* A set of looks. */
#define BIT(look) (1U << (look))

static const struct want {
  const char *name;
  unsigned fits; /* looks of which nothing needs saying */
} wants[] = {
    [TPTI_WANT_DESCRIPTION] = {"a description (YAML)", BIT(DESCRIPTION) | BIT(JSON) | BIT(TEXT) |
                                                           BIT(OTHER_TEXT) | BIT(EMPTY)},
    [TPTI_WANT_TOKENIZER] = {"a tokenizer.json", BIT(TOKENIZER) | BIT(JSON)},
    [TPTI_WANT_SAFETENSORS] = {"a safetensors file", BIT(SAFETENSORS)},
    [TPTI_WANT_TOKENS] = {"a token file", BIT(BINARY) | BIT(EMPTY)},
    [TPTI_WANT_TEXT] = {"text", BIT(TEXT) | BIT(OTHER_TEXT) | BIT(DESCRIPTION) | BIT(JSON) |
                                    BIT(TOKENIZER) | BIT(BINARY) | BIT(EMPTY)},
};

static size_t blanks(const char *head, size_t size) {
  size_t at = 0;
  while (at < size && strchr(" \t\r\n", head[at]) && head[at]) at++;
  return at;
}

static bool has(const char *head, size_t size, const char *word) {
  return memmem(head, size, word, strlen(word)) != NULL;
}

/* A length word that the format allows, then the object that it counts. */
static bool is_safetensors(const char *head, size_t size) {
  enum { LENGTH_WORD = 8 };
  const uint64_t most = 100000000;
  uint64_t length;
  if (size <= LENGTH_WORD) return false;
  memcpy(&length, head, LENGTH_WORD);
  size_t at = LENGTH_WORD + blanks(head + LENGTH_WORD, size - LENGTH_WORD);
  return length <= most && at < size && head[at] == '{';
}

static const struct mark *mark_of(const char *head, size_t size) {
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (size >= marks[i].length && memcmp(head, marks[i].bytes, marks[i].length) == 0)
      return &marks[i];
  return NULL;
}

/* Controls that no text has: all but white space and the escape of a terminal's colours. */
static bool has_controls(const char *head, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)head[i];
    if (c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b) return true;
  }
  return false;
}

/* An object or array whose first item is one of JSON, not of YAML's braces or a footnote. */
static bool is_json(const char *head, size_t size) {
  size_t at = blanks(head, size);
  if (at == size || (head[at] != '{' && head[at] != '[')) return false;
  char open = head[at++];
  at += blanks(head + at, size - at);
  return at < size && head[at] && strchr(open == '{' ? "\"}" : "\"[{", head[at]);
}

static bool begins_section(const char *at, const char *end) {
  static const char sections[2][7] = {"model:", "train:"};
  const size_t length = sizeof sections[0] - 1;
  if ((size_t)(end - at) < length) return false;
  return memcmp(at, sections[0], length) == 0 || memcmp(at, sections[1], length) == 0;
}

/* One of the two sections at the start of a line, or of an outermost object. */
static bool is_description(const char *head, size_t size) {
  const char *at = head + blanks(head, size), *end = head + size;
  if (at < end && *at == '{' && begins_section(at + 1, end)) return true;
  for (; at && at < end; at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : end)
    if (begins_section(at, end)) return true;
  return false;
}

static look look_of(const char *head, size_t size) {
  static const char order_mark[] = "\xef\xbb\xbf";
  if (size == 0) return EMPTY;
  if (is_safetensors(head, size)) return SAFETENSORS;
  if (mark_of(head, size)) return FOREIGN;
  if (has_controls(head, size)) return BINARY;
  if (size >= 3 && memcmp(head, order_mark, 3) == 0) head += 3, size -= 3;
  size_t whole = tpti_utf8_cut(head, size); /* the window may end inside a character */
  if (tpti_utf8_valid(head, whole) < whole) return OTHER_TEXT;
  if (is_json(head, size)) return has(head, size, "\"added_tokens\"") ? TOKENIZER : JSON;
  return is_description(head, size) ? DESCRIPTION : TEXT;
}

const char *tpti_looks_like(const void *head, size_t size) {
  if (size > TPTI_LOOK_BYTES) size = TPTI_LOOK_BYTES;
  look seen = look_of(head, size);
  return seen == FOREIGN ? mark_of(head, size)->name : names[seen];
}

tpt_status tpti_fail_looks(tpt_status status, tpti_want wanted, const void *head, size_t size) {
  if (size > TPTI_LOOK_BYTES) size = TPTI_LOOK_BYTES;
  if (wants[wanted].fits & BIT(look_of(head, size))) return status;
  return tpti_fail(status, "%s; %s is wanted, this looks like %s", tpti_error_text(),
                   wants[wanted].name, tpti_looks_like(head, size));
}
