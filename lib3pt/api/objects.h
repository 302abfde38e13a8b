/* Models, trainers, optimizers and decoders as they stand in memory: one block of the context's
 * allocator each, laid out by a plan of which the struct itself is the first piece. */
#ifndef TPTI_API_OBJECTS_H
#define TPTI_API_OBJECTS_H

#include "api/api.h"
#include "base/size.h"
#include "decode/sequence.h"
#include "io/safetensors.h"
#include "model/step.h"
#include "train/adamw.h"

struct tpt_model {
  tpti_handle head;
  tpt_context *context;
  tpt_config *config;
  size_t bytes; /* of this block */
  tpti_network net;
  atomic_ullong version; /* counts the library's own changes of the weights */
};

/* What a trainer can do next; each needs what the one before it left. */
typedef struct tpti_trainer_state {
  bool readable;              /* activations belong to a whole forward or accumulate */
  bool forward;               /* since the last accumulate */
  bool loss;                  /* of that forward */
  bool backward;              /* of that forward: no second one */
  bool spoiled;               /* gradients are unfinished sums */
  unsigned long long version; /* of the weights that forward read */
} tpti_trainer_state;

struct tpt_trainer {
  tpti_handle head;
  tpt_context *context;
  tpt_model *model;
  tpt_config *config;
  size_t bytes;
  tpti_acts acts;
  float *gradients;
  bool blank;    /* the gradients count as 0, whatever their memory holds */
  bool shown;    /* their memory is the host's to read: never blank */
  float *logits; /* [room, V], made when first asked for; NULL before */
  size_t logits_bytes;
  tpti_precision precision; /* of its products: the recipe's, or float32 */
  size_t B, T;              /* of the last forward or accumulate */
  tpti_trainer_state state;
};

struct tpt_optimizer {
  tpti_handle head;
  tpt_context *context;
  tpt_trainer *trainer;
  tpt_config *config;
  size_t bytes;
  tpti_adamw adamw;
};

struct tpt_decoder {
  tpti_handle head;
  tpt_context *context;
  const tpt_model *model;
  size_t bytes;
  tpti_sequence sequence;
  bool listed; /* while feed_many looks for one given twice */
};

/* Bytes of each, as they will be asked of the allocator; false: they do not fit size_t. */
bool tpti_model_bytes(const tpti_spec *spec, size_t *bytes);
bool tpti_trainer_bytes(const tpti_spec *spec, size_t *bytes);
bool tpti_optimizer_bytes(const tpti_spec *spec, size_t *bytes);
bool tpti_decoder_bytes(const tpti_spec *spec, size_t max_positions, size_t *bytes);

/* A model with tables and a copy of the description, its weights not set yet. */
tpt_status tpti_model_new(tpt_context *context, const tpti_spec *spec, tpt_model **model);
void tpti_model_hold(const tpt_model *model);

/* The library has changed the weights: what a trainer computed before is no basis for a gradient.
 */
void tpti_model_changed(tpt_model *model);

/* Reads the parameters, laid out as `net`'s, from a file's table; every other tensor must be one of
 * the published code's buffers or, in a checkpoint, of the optimizer. (model_file.c) */
tpt_status tpti_model_read(const tpti_network *net, const tpti_safetensors *tensors, tpti_run *run,
                           float *weights);
/* The description under a file's 3pt.config. */
tpt_status tpti_model_file_spec(const tpti_safetensors *tensors, tpti_spec *spec);

/* Tensors that a checkpoint holds beside the model's: m, v, the caller's bytes. */
enum { TPTI_CHECKPOINT_ENTRIES = 3 };

/* How many tensors a header may hold, of which the model that is wanted can use `used`: enough for
 * another model as well, so that the descriptions are compared, and the message says what differs.
 * Some 7000 layers; such a header takes at most 200 MB while it is read. */
enum { TPTI_OTHER_MODEL_ENTRIES = 1 << 16 };
static inline size_t tpti_model_most_entries(size_t used) {
  return tpti_most(used, TPTI_OTHER_MODEL_ENTRIES);
}

/* What a file of these weights holds: one output a parameter. */
void tpti_model_outputs(const tpti_network *net, tpti_output *outputs);

/* A copy of `config` or, where it is NULL, of `fallback`; config's model part must equal the
 * model's. */
tpt_status tpti_config_for(const tpt_config *config, const tpt_config *fallback,
                           const tpt_model *model, tpt_config **copy);

/* A call of the trainer in progress. */
tpti_run tpti_trainer_run(const tpt_trainer *trainer);

/* A trainer's activations at a point [B, T, D]; STATE or UNSUPPORTED where they are not there. */
tpt_status tpti_trainer_stream(const tpt_trainer *trainer, tpt_point point, size_t layer,
                               const float **values);

/* A dataset's file, or that it has none, for messages. */
const char *tpti_dataset_name(const tpt_dataset *dataset);

/* TPT_E_ARGUMENT: it has no window of `seq` tokens and their targets. */
tpt_status tpti_dataset_short(const tpt_dataset *dataset, size_t seq);

/* Token ids below V, or TPT_E_ARGUMENT naming the first that is not. extra: train.ignore_index, the
 * one more value that is allowed; where there is none an id. */
tpt_status tpti_check_ids(const char *name, const int32_t *ids, size_t count, size_t V,
                          int32_t extra);

#endif
