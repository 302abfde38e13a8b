/* Writing safetensors: the same input gives the same bytes. The header is padded to a multiple of
 * 8, so that data whose types come in falling size is aligned. */
#include "io/safetensors.h"

#include <string.h>

#include "io/json.h"

enum {
  LENGTH_WORD = 8,
  HEADER_MOST = 100000000, /* the format's own bound */
  PIECE = 4 << 20          /* bytes between two ticks of a run */
};

typedef struct stored {
  const char *name;
  size_t width;
} stored;

/* What a dtype that we write is called, and the bytes of an element; NULL for any other. */
static const stored *stored_as(tpti_dtype dtype) {
  static const stored f32 = {"F32", 4}, u8 = {"U8", 1}, i64 = {"I64", 8};
  switch (dtype) {
  case TPTI_F32:
    return &f32;
  case TPTI_U8:
    return &u8;
  case TPTI_I64:
    return &i64;
  default:
    return NULL;
  }
}

static tpt_status output_bytes(const tpti_output *output, size_t *bytes) {
  const stored *as = stored_as(output->dtype);
  if (!as || output->ndim > 2) {
    return tpti_fail(TPT_E_INTERNAL, "tensor \"%s\" cannot be written: its type or dimensions",
                     output->name);
  }
  bool fits = true;
  *bytes = as->width;
  for (size_t i = 0; i < output->ndim; i++) {
    fits = tpti_mul(bytes, *bytes, output->shape[i]) && fits;
  }
  if (fits) return TPT_OK;
  return tpti_fail(TPT_E_ARGUMENT, "tensor \"%s\" is too large to be written", output->name);
}

static void write_metadata(tpti_buffer *header, const tpti_metadata *metadata, size_t count) {
  tpti_buffer_printf(header, "\"__metadata__\":{");
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tpti_buffer_append(header, ",", 1);
    tpti_json_write_string(header, metadata[i].key, strlen(metadata[i].key));
    tpti_buffer_append(header, ":", 1);
    tpti_json_write_string(header, metadata[i].value, strlen(metadata[i].value));
  }
  tpti_buffer_append(header, "}", 1);
}

static void write_entry(tpti_buffer *header, const tpti_output *output, uint64_t begin,
                        uint64_t end) {
  tpti_json_write_string(header, output->name, strlen(output->name));
  tpti_buffer_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", stored_as(output->dtype)->name);
  for (size_t i = 0; i < output->ndim; i++) {
    tpti_buffer_printf(header, i > 0 ? ",%zu" : "%zu", output->shape[i]);
  }
  tpti_buffer_printf(header, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                     (unsigned long long)end);
}

/* Pads, and puts the length into its word, which starts at `start`. */
static tpt_status finish_header(tpti_buffer *header, size_t start, uint64_t data,
                                uint64_t *file_size) {
  static const char spaces[] = "       ";
  tpti_buffer_append(header, spaces, (size_t)(start - header->used) % 8);
  if (header->failed) return tpti_fail_memory(header->used);
  uint64_t length = header->used - start - LENGTH_WORD;
  if (length > HEADER_MOST) {
    return tpti_fail(TPT_E_UNSUPPORTED,
                     "a safetensors header of %llu bytes; at most %d are "
                     "allowed",
                     (unsigned long long)length, HEADER_MOST);
  }
  memcpy(header->data + start, &length, LENGTH_WORD);
  if (file_size) *file_size = LENGTH_WORD + length + data;
  return TPT_OK;
}

tpt_status tpti_safetensors_header(const tpti_output *outputs, size_t count,
                                   const tpti_metadata *metadata, size_t metadata_count,
                                   tpti_buffer *header, uint64_t *file_size) {
  static const char later[LENGTH_WORD] = {0};
  size_t start = header->used, data = 0;
  tpti_buffer_append(header, later, LENGTH_WORD);
  tpti_buffer_append(header, "{", 1);
  if (metadata_count > 0) write_metadata(header, metadata, metadata_count);
  for (size_t i = 0; i < count; i++) {
    size_t bytes = 0, begin = data;
    tpt_status status = output_bytes(&outputs[i], &bytes);
    if (status) return status;
    if (!tpti_add(&data, data, bytes)) {
      return tpti_fail(TPT_E_ARGUMENT, "the tensors together are too large to be written");
    }
    if (i > 0 || metadata_count > 0) tpti_buffer_append(header, ",", 1);
    write_entry(header, &outputs[i], begin, data);
  }
  tpti_buffer_append(header, "}", 1);
  return finish_header(header, start, data, file_size);
}

/* ---- header and data, piece by piece, into whatever takes them ---- */

typedef tpt_status sink_fn(void *to, const void *data, size_t bytes);

typedef struct saving {
  sink_fn *sink;
  void *to;
  tpti_run *run; /* may be NULL */
  uint64_t done, size;
} saving;

static tpt_status append_pieces(saving *s, const char *data, size_t bytes) {
  while (bytes > 0) {
    size_t piece = bytes < PIECE ? bytes : PIECE;
    tpt_status status = s->sink(s->to, data, piece);
    if (status) return status;
    data += piece;
    bytes -= piece;
    s->done += piece;
    if (!s->run) continue;
    s->run->done = (double)s->done / (double)s->size;
    if (!tpti_run_tick(s->run)) return tpti_run_status(s->run);
  }
  return TPT_OK;
}

static tpt_status append_all(saving *s, const tpti_buffer *header, const tpti_output *outputs,
                             size_t count) {
  tpt_status status = append_pieces(s, header->data, header->used);
  for (size_t i = 0; !status && i < count; i++) {
    size_t bytes = 0;
    status = output_bytes(&outputs[i], &bytes);
    if (!status) status = append_pieces(s, outputs[i].data, bytes);
  }
  return status;
}

static tpt_status to_writer(void *to, const void *data, size_t bytes) {
  return tpti_writer_append(to, data, bytes);
}

static tpt_status write_file(const char *path, const tpti_memory *memory, saving *s,
                             const tpti_buffer *header, const tpti_output *outputs, size_t count) {
  tpti_writer *writer = NULL;
  tpt_status status = tpti_writer_open(path, memory, &writer);
  s->sink = to_writer;
  s->to = writer;
  if (!status) status = append_all(s, header, outputs, count);
  if (!status) return tpti_writer_commit(writer);
  tpti_writer_abandon(writer);
  return status;
}

tpt_status tpti_safetensors_write(const char *path, const tpti_memory *memory,
                                  const tpti_output *outputs, size_t count,
                                  const tpti_metadata *metadata, size_t metadata_count,
                                  tpti_run *run) {
  saving s = {.run = run};
  tpti_buffer header;
  tpti_buffer_init(&header, memory);
  tpt_status status =
      tpti_safetensors_header(outputs, count, metadata, metadata_count, &header, &s.size);
  if (!status) status = write_file(path, memory, &s, &header, outputs, count);
  tpti_buffer_free(&header);
  return status;
}

typedef struct room {
  char *data;
  size_t capacity, used;
} room;

static tpt_status to_room(void *argument, const void *from, size_t bytes) {
  room *to = argument;
  size_t left = to->capacity - to->used, fits = bytes < left ? bytes : left;
  if (fits > 0) memcpy(to->data + to->used, from, fits);
  to->used += fits;
  return TPT_OK;
}

tpt_status tpti_safetensors_write_memory(void *data, size_t capacity, size_t *length,
                                         const tpti_memory *memory, const tpti_output *outputs,
                                         size_t count, const tpti_metadata *metadata,
                                         size_t metadata_count, tpti_run *run) {
  room to = {data, capacity, 0};
  saving s = {.sink = to_room, .to = &to, .run = run};
  tpti_buffer header;
  tpti_buffer_init(&header, memory);
  tpt_status status =
      tpti_safetensors_header(outputs, count, metadata, metadata_count, &header, &s.size);
  if (!status) status = append_all(&s, &header, outputs, count);
  tpti_buffer_free(&header);
  if (!status) *length = (size_t)s.size;
  return status;
}
