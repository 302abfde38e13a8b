/* safetensors, by the strict rules of docs/safetensors.md. Reading gives a table of what the file
 * holds and values converted to float32; the data is read piece by piece, never mapped. */
#ifndef TPTI_IO_SAFETENSORS_H
#define TPTI_IO_SAFETENSORS_H

#include "base/threads.h"
#include "io/file.h"

typedef enum tpti_dtype {
  TPTI_F32,
  TPTI_F64,
  TPTI_F16,
  TPTI_BF16,
  TPTI_U8,
  TPTI_I64,
  TPTI_OTHER
} tpti_dtype;

typedef struct tpti_entry {
  const char *name;
  tpti_dtype dtype;
  const char *dtype_name;
  size_t ndim;
  uint64_t shape[8];
  uint64_t begin, end; /* bytes, from the start of the data */
} tpti_entry;

/* Where bytes come from: a file or memory. */
typedef struct tpti_source {
  const tpti_file *file; /* NULL: memory */
  const char *path;      /* for messages; "the data in memory" */
  const char *data;
  uint64_t size;
} tpti_source;

typedef struct tpti_safetensors tpti_safetensors;

/* What a caller allows who does not know yet: as many tensors as the header has room for. */
#define TPTI_ANY_ENTRIES SIZE_MAX

/* Reads and checks the header. max_entries: what the caller can use at most; a header that is too
 * large for them is refused before it is read. What parsing costs is bounded by the size of the
 * header in any case (docs/safetensors.md). The file, path and data of the source stay the caller's
 * and must outlive the table; names and metadata belong to the table. */
tpt_status tpti_safetensors_open(const tpti_source *source, const tpti_memory *memory,
                                 size_t max_entries, tpti_safetensors **tensors);
void tpti_safetensors_close(tpti_safetensors *tensors);

/* The source's, for messages. */
const char *tpti_safetensors_path(const tpti_safetensors *tensors);

/* In the order of their data, so that a walk reads the file from front to back. */
size_t tpti_safetensors_count(const tpti_safetensors *tensors);
const tpti_entry *tpti_safetensors_at(const tpti_safetensors *tensors, size_t index);
const tpti_entry *tpti_safetensors_find(const tpti_safetensors *tensors,
                                        const char *name); /* NULL: not there */
const char *tpti_safetensors_metadata(const tpti_safetensors *tensors,
                                      const char *key); /* NULL: not there */

/* All values of an entry as float32 (F32, F64, F16, BF16; anything else TPT_E_FORMAT; rounding as
 * in io/convert.h), read by the run's threads; the run, which may be NULL (this thread alone), is
 * told how far the tensor is. Any number of threads at once. */
tpt_status tpti_safetensors_floats(const tpti_safetensors *tensors, const tpti_entry *entry,
                                   tpti_run *run, float *values);
/* The raw bytes of an entry. */
tpt_status tpti_safetensors_bytes(const tpti_safetensors *tensors, const tpti_entry *entry,
                                  void *data);

/* What is to be written. Names, shapes and data are borrowed. */
typedef struct tpti_output {
  const char *name;
  tpti_dtype dtype; /* F32, U8 or I64 */
  size_t ndim;
  size_t shape[2];
  const void *data;
} tpti_output;

typedef struct tpti_metadata {
  const char *key;
  const char *value;
} tpti_metadata;

/* The header with its length word, padded with spaces to a multiple of 8; tensors in the given
 * order. Used by all writers below, and alone for the length of a file. */
tpt_status tpti_safetensors_header(const tpti_output *outputs, size_t count,
                                   const tpti_metadata *metadata, size_t metadata_count,
                                   tpti_buffer *header, uint64_t *file_size);
/* The file appears whole or not at all. Keeps the run's `done`; run may be NULL. */
tpt_status tpti_safetensors_write(const char *path, const tpti_memory *memory,
                                  const tpti_output *outputs, size_t count,
                                  const tpti_metadata *metadata, size_t metadata_count,
                                  tpti_run *run);
/* snprintf-like: *length is the whole; at most capacity bytes are written. */
tpt_status tpti_safetensors_write_memory(void *data, size_t capacity, size_t *length,
                                         const tpti_memory *memory, const tpti_output *outputs,
                                         size_t count, const tpti_metadata *metadata,
                                         size_t metadata_count, tpti_run *run);

#endif
