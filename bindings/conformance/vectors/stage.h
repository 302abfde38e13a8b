/* What a case of the errors works on: fresh objects, and the calls that fail. */
#ifndef STAGE_H
#define STAGE_H

#include "run.h"

typedef struct stage {
  tpt_context *context;
  tpt_config *config;
  tpt_tokenizer *tokenizer;
  tpt_dataset *data;
  tpt_model *model;
  tpt_trainer *trainer;
  tpt_optimizer *optimizer;
  tpt_decoder *decoder;
  tpt_context *other;  /* of the cases that need a context of their own, else NULL */
  size_t budget, held; /* bytes that its allocator may give, and those that it has given */
  uint64_t seed;
} stage;

/* The calls by part of the library; name: as README.md has it. */
typedef struct call {
  const char *name;
  tpt_status (*go)(stage *s, const json_t *what);
  size_t handle; /* where in the stage the first argument is, or NO_HANDLE */
} call;

enum { NO_HANDLE = 1 << 20 };

extern const call CALLS_OF_MODELS[], CALLS_OF_TEXTS[]; /* each ends with a NULL name */

#endif
