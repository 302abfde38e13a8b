/* Reading safetensors: the frame (length word, header, data), the order of the data, and values as
 * float32. What an entry of the header may say is in safetensors_header.c. */
#include "io/safetensors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/safetensors_header.h"
#include "io/yaml.h"

enum {
  LENGTH_WORD = 8,
  HEADER_MOST = 100000000, /* the format's own bound */
  /* What a header may need, so that a file cannot make us take memory that no model needs: an entry
   * with a name of some hundred bytes, and for all else a fixed part: a description, of which JSON
   * escapes at most every second character (ours: a line's end), and padding to some page. */
  ENTRY_BYTES = 1024,
  OTHER_BYTES = 2 * TPTI_YAML_BYTES + (1 << 20),
  /* The least that an entry takes: "":{"dtype":"U8","shape":[],"data_offsets":[0,0]}, */
  ENTRY_LEAST = 50,
  PIECE = 1 << 20,     /* bytes that a thread reads at a time: some 200 microseconds */
  WINDOW = 32 * PIECE, /* bytes between two reports of how far a tensor is */
  CONVERTED = 16384    /* bytes on the stack that await conversion */
};

struct tpti_safetensors {
  tpti_source source;
  tpti_memory memory;
  tpti_json *header; /* holds all names and metadata */
  uint64_t data;     /* where the data begins */
  size_t count;
  tpti_entry *entries;        /* in the order of their data */
  const tpti_entry **by_name; /* the same, sorted */
};

static tpt_status read_source(const tpti_source *source, uint64_t offset, void *to, size_t bytes) {
  if (source->file) return tpti_file_read(source->file, source->path, offset, to, bytes);
  if (bytes) memcpy(to, source->data + offset, bytes); /* every caller is inside the checked size */
  return TPT_OK;
}

static tpt_status header_bytes(const tpti_source *source, size_t max_entries, uint64_t *bytes) {
  if (source->size < LENGTH_WORD) {
    return tpti_header_fail(source, "the file has %llu bytes, too few for its length word of 8",
                            (unsigned long long)source->size);
  }
  tpt_status status = read_source(source, 0, bytes, LENGTH_WORD);
  if (status) return status;
  unsigned long long said = *bytes, rest = source->size - LENGTH_WORD;
  if (said > HEADER_MOST) {
    return tpti_header_fail(source,
                            "bytes 0 to 7 say a header of %llu bytes; at most %d are allowed", said,
                            HEADER_MOST);
  }
  if (said > rest) {
    return tpti_header_fail(source, "bytes 0 to 7 say a header of %llu bytes, but only %llu follow",
                            said, rest);
  }
  if (said > OTHER_BYTES && (said - OTHER_BYTES) / ENTRY_BYTES >= max_entries) {
    return tpti_header_fail(source, "a header of %llu bytes is more than %zu tensors can need",
                            said, max_entries);
  }
  return TPT_OK;
}

static tpt_status read_header(tpti_safetensors *t, size_t max_entries) {
  uint64_t bytes = 0;
  tpt_status status = header_bytes(&t->source, max_entries, &bytes);
  if (status) return status;
  t->data = LENGTH_WORD + bytes;
  size_t room_for = (size_t)bytes / ENTRY_LEAST + 1;
  if (max_entries > room_for) max_entries = room_for;
  tpti_buffer text;
  tpti_buffer_init(&text, &t->memory);
  char *room = tpti_buffer_reserve(&text, (size_t)bytes + 1); /* never none */
  status = room ? read_source(&t->source, LENGTH_WORD, room, (size_t)bytes)
                : tpti_fail_memory((size_t)bytes + 1);
  if (!status) {
    status = tpti_header_parse(&t->memory, &t->source, room, (size_t)bytes, max_entries, &t->header,
                               &t->count);
  }
  tpti_buffer_free(&text);
  return status;
}

static tpt_status fill_entries(tpti_safetensors *t) {
  if (t->count == 0) return TPT_OK;
  t->entries = tpti_take(&t->memory, t->count * sizeof *t->entries);
  t->by_name = tpti_take(&t->memory, t->count * sizeof *t->by_name);
  if (!t->entries || !t->by_name) return tpti_fail_memory(t->count * sizeof *t->entries);
  size_t filled = 0;
  for (const tpti_json *m = tpti_json_first(t->header); m; m = tpti_json_after(m)) {
    const char *name = tpti_json_key(m);
    if (strcmp(name, TPTI_METADATA_KEY) == 0) continue;
    tpti_entry *entry = &t->entries[filled++];
    tpt_status status = tpti_header_entry(&t->source, name, m, entry);
    if (status) return status;
  }
  return TPT_OK;
}

/* An entry without data comes before the one that begins where it does. */
static int by_place(const void *left, const void *right) {
  const tpti_entry *a = left, *b = right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return strcmp(a->name, b->name);
}

static int by_name(const void *left, const void *right) {
  return strcmp((*(const tpti_entry *const *)left)->name,
                (*(const tpti_entry *const *)right)->name);
}

/* The data is covered once, from its first byte to its last. */
static tpt_status check_order(tpti_safetensors *t) {
  if (t->count > 1) qsort(t->entries, t->count, sizeof *t->entries, by_place);
  uint64_t at = 0, bytes = t->source.size - t->data;
  for (size_t i = 0; i < t->count; i++) {
    const tpti_entry *entry = &t->entries[i];
    t->by_name[i] = entry;
    if (entry->begin != at) {
      return tpti_entry_fail(&t->source, entry->name,
                             "data_offsets begin at %llu, where the data before ends at %llu; %s",
                             (unsigned long long)entry->begin, (unsigned long long)at,
                             entry->begin < at ? "tensors may not overlap" : "no hole is allowed");
    }
    at = entry->end;
  }
  if (at != bytes) {
    return tpti_header_fail(&t->source,
                            "the tensors end at byte %llu of the data, but the file has "
                            "%llu there: %llu too %s",
                            (unsigned long long)at, (unsigned long long)bytes,
                            (unsigned long long)(at > bytes ? at - bytes : bytes - at),
                            at > bytes ? "few" : "many");
  }
  if (t->count > 1) qsort(t->by_name, t->count, sizeof *t->by_name, by_name);
  return TPT_OK;
}

tpt_status tpti_safetensors_open(const tpti_source *source, const tpti_memory *memory,
                                 size_t max_entries, tpti_safetensors **tensors) {
  *tensors = NULL;
  tpti_safetensors *t = tpti_take(memory, sizeof *t);
  if (!t) return tpti_fail_memory(sizeof *t);
  *t = (tpti_safetensors){.source = *source, .memory = *memory};
  tpt_status status = read_header(t, max_entries);
  if (!status) status = fill_entries(t);
  if (!status) status = check_order(t);
  if (status) {
    tpti_safetensors_close(t);
  } else {
    *tensors = t;
  }
  return status;
}

void tpti_safetensors_close(tpti_safetensors *tensors) {
  if (!tensors) return;
  tpti_memory memory = tensors->memory;
  tpti_give(&memory, tensors->entries, tensors->count * sizeof *tensors->entries);
  tpti_give(&memory, tensors->by_name, tensors->count * sizeof *tensors->by_name);
  tpti_json_free(tensors->header);
  tpti_give(&memory, tensors, sizeof *tensors);
}

const char *tpti_safetensors_path(const tpti_safetensors *tensors) { return tensors->source.path; }

size_t tpti_safetensors_count(const tpti_safetensors *tensors) { return tensors->count; }

const tpti_entry *tpti_safetensors_at(const tpti_safetensors *tensors, size_t index) {
  return index < tensors->count ? &tensors->entries[index] : NULL;
}

const tpti_entry *tpti_safetensors_find(const tpti_safetensors *tensors, const char *name) {
  size_t low = 0, high = tensors->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name, tensors->by_name[middle]->name);
    if (order == 0) return tensors->by_name[middle];
    if (order < 0) high = middle;
    if (order > 0) low = middle + 1;
  }
  return NULL;
}

const char *tpti_safetensors_metadata(const tpti_safetensors *tensors, const char *key) {
  const tpti_json *metadata = tpti_json_get(tensors->header, TPTI_METADATA_KEY);
  return tpti_json_string(tpti_json_get(metadata, key), NULL);
}

/* ---- values ---- */

/* How a type becomes float32. */
typedef struct conversion {
  void (*convert)(const void *raw, float *values, size_t count); /* NULL: as it is */
  size_t width;                                                  /* bytes of an element */
} conversion;

/* An entry, of which a window of pieces is read at a time. */
typedef struct reading {
  const tpti_safetensors *tensors;
  const tpti_entry *entry;
  conversion how;
  void *to;
  uint64_t from, end; /* the window: bytes of the data */
  atomic_bool failed;
} reading;

static tpt_status convert_part(const reading *r, uint64_t at, uint64_t end, float *values) {
  char raw[CONVERTED];
  while (at < end) {
    size_t bytes = end - at < CONVERTED ? (size_t)(end - at) : CONVERTED;
    tpt_status status = read_source(&r->tensors->source, r->tensors->data + at, raw, bytes);
    if (status) return status;
    r->how.convert(raw, values, bytes / r->how.width);
    values += bytes / r->how.width;
    at += bytes;
  }
  return TPT_OK;
}

static size_t pieces_of(const reading *r) {
  return (size_t)((r->end - r->from + PIECE - 1) / PIECE);
}

static tpt_status read_piece(const reading *r, size_t piece) {
  uint64_t at = r->from + (uint64_t)piece * PIECE, left = r->end - at;
  size_t bytes = left < PIECE ? (size_t)left : PIECE, skip = (size_t)(at - r->entry->begin);
  if (r->how.convert) return convert_part(r, at, at + bytes, (float *)r->to + skip / r->how.width);
  return read_source(&r->tensors->source, r->tensors->data + at, (char *)r->to + skip, bytes);
}

static void try_piece(void *argument, size_t piece, void *scratch) {
  (void)scratch;
  reading *r = argument;
  if (read_piece(r, piece)) atomic_store(&r->failed, true);
}

/* All pieces of a window, by one thread. */
static tpt_status read_alone(const reading *r) {
  tpt_status status = TPT_OK;
  for (size_t piece = 0; piece < pieces_of(r) && !status; piece++) status = read_piece(r, piece);
  return status;
}

/* By all threads. A message is of the thread that failed: this one reads again for one of its own.
 */
static tpt_status read_together(reading *r, tpti_run *run) {
  atomic_store(&r->failed, false);
  tpti_parallel(run, pieces_of(r), try_piece, r);
  if (run->stopped) return tpti_run_status(run);
  return atomic_load(&r->failed) ? read_alone(r) : TPT_OK;
}

/* The entry has been read up to the window's end. */
static bool tick(tpti_run *run, const reading *r) {
  const tpti_entry *entry = r->entry;
  if (!run) return true;
  tpti_run_at(run, (double)(r->end - entry->begin) / (double)(entry->end - entry->begin));
  return tpti_run_tick(run);
}

static tpt_status read_entry(const tpti_safetensors *tensors, const tpti_entry *entry,
                             conversion how, tpti_run *run, void *to) {
  reading r = {.tensors = tensors, .entry = entry, .how = how, .to = to};
  for (r.from = entry->begin; r.from < entry->end; r.from = r.end) {
    r.end = entry->end - r.from < WINDOW ? entry->end : r.from + WINDOW;
    tpt_status status = run ? read_together(&r, run) : read_alone(&r);
    if (status) return status;
    if (!tick(run, &r)) return tpti_run_status(run);
  }
  return TPT_OK;
}

tpt_status tpti_safetensors_floats(const tpti_safetensors *tensors, const tpti_entry *entry,
                                   tpti_run *run, float *values) {
  static const conversion conversions[] = {[TPTI_F32] = {NULL, 4},
                                           [TPTI_F64] = {tpti_convert_f64, 8},
                                           [TPTI_F16] = {tpti_convert_f16, 2},
                                           [TPTI_BF16] = {tpti_convert_bf16, 2}};
  switch (entry->dtype) {
  case TPTI_F32:
  case TPTI_F64:
  case TPTI_F16:
  case TPTI_BF16:
    return read_entry(tensors, entry, conversions[entry->dtype], run, values);
  default:
    return tpti_entry_fail(&tensors->source, entry->name,
                           "dtype %s; allowed here are F32, F64, F16, BF16", entry->dtype_name);
  }
}

tpt_status tpti_safetensors_bytes(const tpti_safetensors *tensors, const tpti_entry *entry,
                                  void *data) {
  return read_entry(tensors, entry, (conversion){NULL, 1}, NULL, data);
}
