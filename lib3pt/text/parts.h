/* The parts of tokenizer.json that are pipelines: read into steps; and help for reading any part.
 */
#ifndef TPTI_TEXT_PARTS_H
#define TPTI_TEXT_PARTS_H

#include "io/json.h"
#include "text/step.h"

enum { TPTI_PATH_TEXT = 160 };

/* One object of the file, and how it is called in messages: "pre_tokenizer.pretokenizers[1]"; "" is
 * the outermost. */
typedef struct tpti_part {
  const tpti_json *node;
  char path[TPTI_PATH_TEXT];
} tpti_part;

tpti_part tpti_part_of(const tpti_json *node, const char *path);
tpti_part tpti_part_item(const tpti_part *parent, const char *key, size_t index,
                         const tpti_json *node);

/* Every member is one of `keys`, names separated by spaces, else TPT_E_UNSUPPORTED by name. */
tpt_status tpti_part_keys(const tpti_part *part, const char *keys);

/* Members of one kind. absent: what holds where there is none; without one (NULL) a missing member
 * is TPT_E_FORMAT. */
tpt_status tpti_part_bool(const tpti_part *part, const char *key, const bool *absent, bool *value);
tpt_status tpti_part_size(const tpti_part *part, const char *key, size_t most, size_t *value);
tpt_status tpti_part_string(const tpti_part *part, const char *key, const char *absent,
                            const char **text, size_t *length);

/* Appends the steps of a part; null is none. */
tpt_status tpti_read_normalizer(const tpti_memory *memory, const tpti_part *part,
                                tpti_steps *steps);
/* normalized: there is a normalizer, with which Metaspace's "first" is not supported. */
tpt_status tpti_read_pre_tokenizer(const tpti_memory *memory, const tpti_part *part,
                                   bool normalized, tpti_steps *steps);
tpt_status tpti_read_decoder(const tpti_memory *memory, const tpti_part *part, tpti_steps *steps);

/* ---- for the files that read one kind of part each ---- */

typedef struct tpti_part_reader {
  const tpti_memory *memory;
  tpti_steps *steps;
  bool normalized;
  size_t depth; /* of Sequences in each other */
} tpti_part_reader;

typedef struct tpti_part_type {
  const char *name, *keys; /* keys: all that are known, besides "type" */
  tpt_status (*read)(tpti_part_reader *reader, const tpti_part *part);
} tpti_part_type;

typedef struct tpti_part_types {
  const tpti_part_type *at;
  size_t count;
  const char *list; /* the member of a Sequence that holds its parts */
} tpti_part_types;

/* By its "type", with Sequences taken apart. */
tpt_status tpti_read_part(tpti_part_reader *reader, const tpti_part_types *types,
                          const tpti_part *part);

/* A new step at the end. TPT_E_UNSUPPORTED: too many. */
tpt_status tpti_add_step(tpti_part_reader *reader, tpti_step_kind kind, tpti_step **step);
tpt_status tpti_step_content(tpti_step *step, const char *text, size_t length);

/* Compiles {"String": ...} or {"Regex": ...}. */
tpt_status tpti_read_pattern(tpti_part_reader *reader, const tpti_part *part, tpti_step *step,
                             bool *is_regex);

/* Replace, the same in a normalizer and in a decoder. */
tpt_status tpti_read_replace(tpti_part_reader *reader, const tpti_part *part);

#endif
