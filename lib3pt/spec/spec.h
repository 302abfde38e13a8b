/* A description: the model's dims and the training recipe, read from and written as YAML through
 * ONE table of keys (spec/keys.c). Lists and texts are on the C library's heap. */
#ifndef TPTI_SPEC_SPEC_H
#define TPTI_SPEC_SPEC_H

#include "base/buffer.h"
#include "model/dims.h"
#include "model/recipe.h"

typedef struct tpti_spec {
  tpti_dims model;
  tpti_recipe train;
  /* Bit i: key i of the table was given; a key that was not may follow another one (train.seq_len
   * follows model.max_seq_len, model.dc.tau a quarter of it, train.theta_lr train.lr). What
   * follows is kept up to date in the fields above. */
  uint64_t given;
} tpti_spec;

/* Defaults (the preset "3pt-5m"); cannot fail. */
void tpti_spec_init(tpti_spec *spec);
tpt_status tpti_spec_preset(const char *name, tpti_spec *spec);
const char *tpti_spec_preset_name(size_t index); /* NULL past the last */
/* copy is uninitialised before, and holds nothing after a failure. */
tpt_status tpti_spec_copy(const tpti_spec *source, tpti_spec *copy);
void tpti_spec_free(tpti_spec *spec);

/* YAML text over the defaults; checked as a whole. On failure spec holds nothing. */
tpt_status tpti_spec_parse(const char *yaml, size_t length, tpti_spec *spec);
/* Key and value are UTF-8. A failed set changes nothing. */
tpt_status tpti_spec_set(tpti_spec *spec, const char *key, const char *value);
tpt_status tpti_spec_get(const tpti_spec *spec, const char *key, tpti_buffer *text);
tpt_status tpti_spec_format(const tpti_spec *spec, tpti_buffer *yaml); /* every key */

/* The rules between keys: TPT_E_CONFIG with the keys, their values and the rule. */
tpt_status tpti_spec_check(const tpti_spec *spec);

/* Do the model parts agree? Else TPT_E_CONFIG naming the first key that differs and both values.
 * `other` says what the second is ("the file"). */
tpt_status tpti_spec_same_model(const tpti_spec *spec, const tpti_spec *against, const char *other);

/* Writes the keys that follow others anew: for who changes the fields directly. */
void tpti_spec_follow(tpti_spec *spec);

/* Parameters of a model, from its dims alone; false on overflow (then *count is SIZE_MAX). */
bool tpti_count_parameters(const tpti_dims *dims, size_t *count);

#endif
