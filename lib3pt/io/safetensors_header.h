/* The JSON header of a safetensors file: what it may say. Part of safetensors.c. */
#ifndef TPTI_IO_SAFETENSORS_HEADER_H
#define TPTI_IO_SAFETENSORS_HEADER_H

#include "io/json.h"
#include "io/safetensors.h"

#define TPTI_METADATA_KEY "__metadata__"

/* TPT_E_FORMAT: "...: FILE" and "tensor "NAME": ...: FILE", before the path what the file looks
 * like where that is something else; a long name is shortened. */
tpt_status tpti_header_fail(const tpti_source *source, const char *format, ...) TPTI_PRINTF(2, 3);
tpt_status tpti_entry_fail(const tpti_source *source, const char *name, const char *format, ...)
    TPTI_PRINTF(3, 4);

/* An object with at most max_entries tensors, and metadata that is as it must be. */
tpt_status tpti_header_parse(const tpti_memory *memory, const tpti_source *source, const char *text,
                             size_t length, size_t max_entries, tpti_json **root, size_t *count);

/* One tensor: every field there, none else, and sizes that agree. */
tpt_status tpti_header_entry(const tpti_source *source, const char *name, const tpti_json *value,
                             tpti_entry *entry);

#endif
