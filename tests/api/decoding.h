/* What the tests of decoders share. */
#ifndef TPTI_TESTS_API_DECODING_H
#define TPTI_TESTS_API_DECODING_H

#include "api/session.h"

static inline tpt_decoder *decoder_of(const tpt_model *model, size_t room) {
  tpt_decoder *decoder;
  ok(tpt_decoder_create(model, room, &decoder));
  return decoder;
}

static inline size_t position_of(const tpt_decoder *decoder) {
  size_t position = 999;
  ok(tpt_decoder_position(decoder, &position));
  return position;
}

/* Train a little, so that gains, angles and a learned profile are not what they start as. */
static inline session trained(const char *settings) {
  session s = start(settings);
  for (uint64_t i = 0; i < 4; i++) train_step(&s, i);
  return s;
}

/* The logits of the first MOST tokens, in one pass. */
static inline void full_forward(session *s, float *all) {
  const float *logits;
  ok(tpt_trainer_forward(s->trainer, s->tokens, 1, MOST));
  ok(tpt_trainer_logits(s->trainer, &logits));
  memcpy(all, logits, MOST * V * sizeof *all);
}

#endif
