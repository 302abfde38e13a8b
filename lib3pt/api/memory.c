/* What a description will ask of the allocator, without asking for any of it. */
#include "api/objects.h"

enum { PLANNED_THREADS = 2 };

static bool inference_bytes(const tpti_spec *spec, size_t *bytes) {
  size_t model, decoder;
  return tpti_model_bytes(spec, &model) &&
         tpti_decoder_bytes(spec, spec->model.max_seq_len, &decoder) &&
         tpti_add(bytes, model, decoder);
}

static bool training_bytes(const tpti_spec *spec, size_t *bytes) {
  size_t model, trainer, optimizer;
  return tpti_model_bytes(spec, &model) && tpti_trainer_bytes(spec, &trainer) &&
         tpti_optimizer_bytes(spec, &optimizer) && tpti_add(bytes, model, trainer) &&
         tpti_add(bytes, *bytes, optimizer);
}

static tpt_status config_memory(const tpt_config *config, tpt_memory_use use, size_t *bytes) {
  const tpti_spec *spec = &config->spec;
  size_t total;
  TPTI_NEED(bytes);
  if (use != TPT_MEMORY_INFERENCE && use != TPT_MEMORY_TRAINING)
    return tpti_fail(TPT_E_ARGUMENT, "use is %d; %d (inference) or %d (training) is allowed",
                     (int)use, TPT_MEMORY_INFERENCE, TPT_MEMORY_TRAINING);
  tpt_status status = tpti_spec_check(spec);
  if (status) return status;
  bool fits =
      use == TPT_MEMORY_INFERENCE ? inference_bytes(spec, &total) : training_bytes(spec, &total);
  if (!fits || !tpti_add(&total, total, tpti_pool_bytes(PLANNED_THREADS)))
    return tpti_fail(TPT_E_CONFIG, "the described model needs more memory than a size can say");
  *bytes = total;
  return TPT_OK;
}

tpt_status tpt_config_memory(const tpt_config *config, tpt_memory_use use, size_t *bytes) {
  return TPTI_CALL(config, TPTI_CONFIG, config_memory(config, use, bytes));
}
