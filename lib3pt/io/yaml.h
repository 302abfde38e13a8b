/* The subset of YAML that a description needs, by libyaml: mappings, scalars, and sequences of
 * scalars. Refused with the line: anchors, aliases, tags, a second document, nesting deeper than 4,
 * a key given twice, more than 1 MiB, text that is not UTF-8. yaml.c is the only file that includes
 * yaml.h. */
#ifndef TPTI_IO_YAML_H
#define TPTI_IO_YAML_H

#include "base/buffer.h"

/* One leaf: key is the dotted path ("model.rope.base"). A scalar has count 1 and list false; plain
 * is false where an item was quoted. Items are NUL-terminated. */
typedef struct tpti_yaml_leaf {
  const char *key;
  size_t line; /* from 1 */
  bool list;
  bool plain;
  size_t count;
  const char *const *items;
} tpti_yaml_leaf;

/* Calls leaf() for each, in order; its failure ends the walk. */
tpt_status tpti_yaml_walk(const char *text, size_t length,
                          tpt_status (*leaf)(void *user, const tpti_yaml_leaf *leaf), void *user);

#endif
