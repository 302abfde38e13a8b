/* The subset of YAML that a description needs, by libyaml: mappings, scalars, and lists of scalars.
 * Refused with the line: directives, anchors, aliases, tags, a second document, nesting deeper than
 * TPTI_YAML_DEPTH, a key given twice or with a dot in it, a text or a list over its bound, text
 * that is not UTF-8. yaml.c is the only file that includes yaml.h. */
#ifndef TPTI_IO_YAML_H
#define TPTI_IO_YAML_H

#include "base/buffer.h"

enum {
  TPTI_YAML_DEPTH = 4,       /* a document, model, dc, and the list of a profile */
  TPTI_YAML_KEYS = 256,      /* sections and keys of a text */
  TPTI_YAML_ITEMS = 1 << 18, /* of a list: one a position of the longest context in view */
  TPTI_YAML_BYTES = 8 << 20, /* of a text: a list of that many doubles, at most 26 bytes each */
  TPTI_YAML_SHOWN = 80       /* room for a text made fit for a message */
};

typedef enum tpti_yaml_kind { TPTI_YAML_SCALAR, TPTI_YAML_LIST, TPTI_YAML_MAPPING } tpti_yaml_kind;

/* A value: key is the dotted path ("model.rope.base"). A scalar has one item; a mapping, told of
 * before what is in it, none. plain is false where an item was quoted. Items are NUL-terminated,
 * with no other NUL in them. */
typedef struct tpti_yaml_node {
  const char *key;
  size_t line; /* of the key, from 1; 0 where the text is a lone value */
  tpti_yaml_kind kind;
  bool plain;
  size_t count;
  const char *const *items;
} tpti_yaml_node;

typedef tpt_status (*tpti_yaml_visit)(void *user, const tpti_yaml_node *node);

/* Calls visit for each value in order (not for the outermost mapping); its failure ends the walk. A
 * text that holds nothing has no values. */
tpt_status tpti_yaml_walk(const char *text, size_t length, tpti_yaml_visit visit, void *user);

/* The text is the value of `key` alone: visit is called once, with an empty scalar where the text
 * holds nothing. */
tpt_status tpti_yaml_value(const char *text, const char *key, tpti_yaml_visit visit, void *user);

/* `text` in quotes, for a message: cut to fit, control characters shown as '?'. Returns `shown`. */
const char *tpti_yaml_show(const char *text, char shown[TPTI_YAML_SHOWN]);

#endif
