/* The JSON header of a safetensors file: kinds, fields, numbers, sizes. */
#include "io/safetensors_header.h"

#include <string.h>

#include "base/text.h"

enum {
  SHOWN_NAME = 100, /* bytes of a name in a message */
  /* Values of an entry: itself, dtype, shape, data_offsets and its two; 8 dimensions. */
  ENTRY_VALUES = 6 + 8,
  METADATA_VALUES = 4096,
  OTHER_BRACKETS = 256 /* the header, the metadata, and room for a better message */
};

typedef struct dtype_row {
  char name[12];
  unsigned bits;
  tpti_dtype dtype;
} dtype_row;

static const dtype_row dtypes[] = {
    {"BOOL", 8, TPTI_OTHER},
    {"F4", 4, TPTI_OTHER},
    {"F6_E2M3", 6, TPTI_OTHER},
    {"F6_E3M2", 6, TPTI_OTHER},
    {"U8", 8, TPTI_U8},
    {"I8", 8, TPTI_OTHER},
    {"F8_E5M2", 8, TPTI_OTHER},
    {"F8_E4M3", 8, TPTI_OTHER},
    {"F8_E8M0", 8, TPTI_OTHER},
    {"F8_E4M3FNUZ", 8, TPTI_OTHER},
    {"F8_E5M2FNUZ", 8, TPTI_OTHER},
    {"I16", 16, TPTI_OTHER},
    {"U16", 16, TPTI_OTHER},
    {"F16", 16, TPTI_F16},
    {"BF16", 16, TPTI_BF16},
    {"I32", 32, TPTI_OTHER},
    {"U32", 32, TPTI_OTHER},
    {"F32", 32, TPTI_F32},
    {"C64", 64, TPTI_OTHER},
    {"F64", 64, TPTI_F64},
    {"I64", 64, TPTI_I64},
    {"U64", 64, TPTI_OTHER},
};

/* Ends a message: what the source looks like, and its path. */
static tpt_status refuse(const tpti_source *source) {
  char head[TPTI_LOOK_BYTES];
  size_t size = source->file ? tpti_file_head(source->file, head) : (size_t)source->size;
  tpti_fail_looks(TPT_E_FORMAT, TPTI_WANT_SAFETENSORS, source->file ? head : source->data, size);
  return tpti_fail_in(TPT_E_FORMAT, source->path);
}

tpt_status tpti_header_fail(const tpti_source *source, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tpti_fail_args(TPT_E_FORMAT, format, args);
  va_end(args);
  return refuse(source);
}

tpt_status tpti_entry_fail(const tpti_source *source, const char *name, const char *format, ...) {
  char detail[TPTI_ERROR_TEXT];
  va_list args;
  va_start(args, format);
  tpti_vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  int shown = tpti_shown(name, SHOWN_NAME);
  return tpti_header_fail(source, "tensor \"%.*s%s\": %s", shown, name,
                          strlen(name) > (size_t)shown ? "..." : "", detail);
}

/* ---- the header as a whole ---- */

/* Objects and arrays cost most to parse, some 200 bytes each, and take the fewest characters: many
 * more of them than the entries need (an object and two arrays each), and the header is not parsed.
 * In text that is not JSON the quotes may be wrong, but that is refused anyway. */
static tpt_status check_brackets(const tpti_source *source, const char *text, size_t length,
                                 size_t max_entries) {
  size_t objects = 0, arrays = 0, most = 2 * max_entries + OTHER_BRACKETS;
  bool quoted = false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\') i++;
    if (quoted) continue;
    objects += text[i] == '{';
    arrays += text[i] == '[';
  }
  if (objects <= most && arrays <= most) return TPT_OK;
  return tpti_header_fail(source,
                          "the header has %zu objects and %zu arrays, too many for %zu tensors",
                          objects, arrays, max_entries);
}

/* JSON's -0 is the integer 0 to the parser; the format has no negative numbers at all. */
static tpt_status refuse_minus(const tpti_source *source, const char *text, size_t length) {
  bool quoted = false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\') i++;
    if (quoted || text[i] != '-') continue;
    return tpti_header_fail(source, "byte %zu of the header: no number may be negative", i);
  }
  return TPT_OK;
}

static tpt_status check_metadata(const tpti_source *source, const tpti_json *metadata) {
  if (!metadata) return TPT_OK;
  if (tpti_json_kind_of(metadata) != TPTI_JSON_OBJECT) {
    return tpti_header_fail(source, "\"__metadata__\" is %s; an object of strings is allowed",
                            tpti_json_kind_name(metadata));
  }
  for (const tpti_json *m = tpti_json_first(metadata); m; m = tpti_json_after(m)) {
    size_t length = 0;
    const char *key = tpti_json_key(m), *text = tpti_json_string(m, &length);
    if (text && strlen(text) == length) continue;
    return tpti_header_fail(source, "\"__metadata__\" key \"%.*s\" is %s; a string is allowed",
                            tpti_shown(key, SHOWN_NAME), key,
                            text ? "a string with a NUL" : tpti_json_kind_name(m));
  }
  return TPT_OK;
}

static tpt_status check_root(const tpti_source *source, const tpti_json *root, size_t max_entries,
                             size_t *count) {
  if (tpti_json_kind_of(root) != TPTI_JSON_OBJECT) {
    return tpti_header_fail(source, "the header is %s; an object is allowed",
                            tpti_json_kind_name(root));
  }
  const tpti_json *metadata = tpti_json_get(root, TPTI_METADATA_KEY);
  *count = tpti_json_count(root) - (metadata != NULL);
  if (*count > max_entries) {
    return tpti_header_fail(source, "the file holds %zu tensors; at most %zu are allowed", *count,
                            max_entries);
  }
  return check_metadata(source, metadata);
}

static tpt_status parse_json(const tpti_memory *memory, const tpti_source *source,
                             const tpti_json_source *json, tpti_json **root) {
  tpt_status status = tpti_json_parse(memory, NULL, json, root);
  return status == TPT_E_FORMAT ? refuse(source) : status;
}

tpt_status tpti_header_parse(const tpti_memory *memory, const tpti_source *source, const char *text,
                             size_t length, size_t max_entries, tpti_json **root, size_t *count) {
  size_t values;
  if (!tpti_mul(&values, max_entries, ENTRY_VALUES)) values = SIZE_MAX / 2;
  const tpti_json_source json = {
      .text = text, .length = length, .max_values = values + METADATA_VALUES, .what = "header"};
  *root = NULL;
  tpt_status status = check_brackets(source, text, length, max_entries);
  if (!status) status = parse_json(memory, source, &json, root);
  if (!status) status = check_root(source, *root, max_entries, count);
  if (!status) status = refuse_minus(source, text, length);
  if (status) {
    tpti_json_free(*root);
    *root = NULL;
    *count = 0;
  }
  return status;
}

/* ---- one entry ---- */

typedef struct entry_reader {
  const tpti_source *source;
  const tpti_json *value;
  tpti_entry *entry;
  unsigned bits; /* of an element */
} entry_reader;

static tpt_status check_fields(const entry_reader *r) {
  static const char *const fields[] = {"dtype", "shape", "data_offsets"};
  const char *name = r->entry->name;
  if (tpti_json_kind_of(r->value) != TPTI_JSON_OBJECT) {
    return tpti_entry_fail(r->source, name, "is %s; an object is allowed",
                           tpti_json_kind_name(r->value));
  }
  for (size_t i = 0; i < 3; i++) {
    if (tpti_json_get(r->value, fields[i])) continue;
    return tpti_entry_fail(r->source, name, "field \"%s\" is missing", fields[i]);
  }
  if (tpti_json_count(r->value) == 3) return TPT_OK;
  for (const tpti_json *m = tpti_json_first(r->value); m; m = tpti_json_after(m)) {
    const char *key = tpti_json_key(m);
    if (!strcmp(key, fields[0]) || !strcmp(key, fields[1]) || !strcmp(key, fields[2])) continue;
    return tpti_entry_fail(r->source, name,
                           "unknown field \"%.*s\"; dtype, shape and data_offsets are allowed",
                           tpti_shown(key, SHOWN_NAME), key);
  }
  return TPT_OK;
}

static tpt_status read_dtype(entry_reader *r) {
  size_t length = 0;
  const tpti_json *node = tpti_json_get(r->value, "dtype");
  const char *said = tpti_json_string(node, &length);
  if (!said) {
    return tpti_entry_fail(r->source, r->entry->name, "field \"dtype\" is %s; a string is allowed",
                           tpti_json_kind_name(node));
  }
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    const dtype_row *row = &dtypes[i];
    if (strlen(row->name) != length || memcmp(row->name, said, length) != 0) continue;
    r->entry->dtype = row->dtype;
    r->entry->dtype_name = row->name;
    r->bits = row->bits;
    return TPT_OK;
  }
  return tpti_entry_fail(r->source, r->entry->name,
                         "dtype \"%.*s\" is unknown; F32, F64, F16, "
                         "BF16, I64, U8 and the format's other names, in capitals, are allowed",
                         tpti_shown(said, 32), said);
}

/* An array of least..most integers that are not negative. */
static tpt_status read_numbers(const entry_reader *r, const char *field, size_t least, size_t most,
                               uint64_t *numbers) {
  const tpti_json *array = tpti_json_get(r->value, field);
  size_t count = tpti_json_count(array);
  if (tpti_json_kind_of(array) != TPTI_JSON_ARRAY) {
    return tpti_entry_fail(r->source, r->entry->name, "field \"%s\" is %s; an array is allowed",
                           field, tpti_json_kind_name(array));
  }
  if (count < least || count > most) {
    return tpti_entry_fail(r->source, r->entry->name,
                           "field \"%s\" has %zu numbers; %zu to %zu are allowed", field, count,
                           least, most);
  }
  const tpti_json *node = tpti_json_first(array);
  for (size_t i = 0; node; node = tpti_json_after(node), i++) {
    int64_t number = tpti_json_integer(node); /* 0 for another kind */
    if (tpti_json_kind_of(node) != TPTI_JSON_INTEGER || number < 0) {
      return tpti_entry_fail(r->source, r->entry->name,
                             "field \"%s\", place %zu is %s; integers from 0 on are allowed", field,
                             i, number < 0 ? "negative" : tpti_json_kind_name(node));
    }
    numbers[i] = (uint64_t)number;
  }
  return TPT_OK;
}

/* Overflow is refused in the order of the dimensions, even where a later one is 0. */
static tpt_status entry_bytes(const entry_reader *r, uint64_t *bytes) {
  uint64_t bits = 1;
  bool overflow = false;
  for (size_t i = 0; i < r->entry->ndim; i++) {
    overflow = overflow || __builtin_mul_overflow(bits, r->entry->shape[i], &bits);
  }
  overflow = overflow || __builtin_mul_overflow(bits, (uint64_t)r->bits, &bits);
  if (overflow) {
    return tpti_entry_fail(r->source, r->entry->name,
                           "field \"shape\": the size in bits does not fit 64 bits");
  }
  if (bits % 8 != 0) {
    return tpti_entry_fail(r->source, r->entry->name,
                           "field \"shape\": %llu bits of %s are no whole number of bytes",
                           (unsigned long long)bits, r->entry->dtype_name);
  }
  *bytes = bits / 8;
  return TPT_OK;
}

static tpt_status read_range(entry_reader *r) {
  uint64_t range[2], bytes = 0;
  tpt_status status = read_numbers(r, "data_offsets", 2, 2, range);
  if (!status) status = entry_bytes(r, &bytes);
  if (status) return status;
  r->entry->begin = range[0];
  r->entry->end = range[1];
  unsigned long long begin = range[0], end = range[1];
  if (end < begin) {
    return tpti_entry_fail(r->source, r->entry->name,
                           "data_offsets end at %llu, before their begin at %llu", end, begin);
  }
  if (end - begin != bytes) {
    return tpti_entry_fail(r->source, r->entry->name,
                           "data_offsets hold %llu bytes, but shape and dtype %s need %llu",
                           end - begin, r->entry->dtype_name, (unsigned long long)bytes);
  }
  return TPT_OK;
}

tpt_status tpti_header_entry(const tpti_source *source, const char *name, const tpti_json *value,
                             tpti_entry *entry) {
  *entry = (tpti_entry){.name = name};
  entry_reader r = {source, value, entry, 0};
  tpt_status status = check_fields(&r);
  if (!status) status = read_dtype(&r);
  if (!status) status = read_numbers(&r, "shape", 0, 8, entry->shape);
  if (status) return status;
  entry->ndim = tpti_json_count(tpti_json_get(value, "shape"));
  return read_range(&r);
}
