/* THE table of keys of a description: what each is called, where it is kept, what it may be, and
 * what it means. It drives reading and writing YAML, set and get, every message and the table
 * of docs/formats.md. */
#ifndef TPTI_SPEC_KEYS_H
#define TPTI_SPEC_KEYS_H

#include "io/yaml.h"
#include "spec/spec.h"

enum { TPTI_KEYS = 37, TPTI_KEY_TEXT = 256 };

typedef enum tpti_key_type {
  TPTI_KEY_SIZE,        /* size_t: least to most */
  TPTI_KEY_UINT64,      /* uint64_t: least to most */
  TPTI_KEY_INT32,       /* int32_t, every one */
  TPTI_KEY_REAL,        /* double: low to high */
  TPTI_KEY_BOOL,        /* bool */
  TPTI_KEY_WORD,        /* an enum whose values count from 0 as `words` do */
  TPTI_KEY_WORD_OR_LIST /* the same; one more value means the list of doubles */
} tpti_key_type;

typedef struct tpti_key {
  const char *name;
  tpti_key_type type;
  size_t at;                  /* offset in tpti_spec */
  size_t list_at, count_at;   /* offsets of a list: double *, size_t */
  uint64_t least, most;       /* of an integer */
  double low, high;           /* of a number, or of the numbers of a list */
  bool above_low, below_high; /* that bound itself is not allowed */
  const char *const *words;   /* NULL-terminated */
  const char *initial;        /* the default; NULL where it follows another key */
  const char *follows;        /* in words: what it is while not given */
  const char *unit;           /* NULL: a pure number or a word */
  const char *meaning;        /* sentences */
} tpti_key;

/* In the order in which a description is written: keys of one section are neighbours. */
extern const tpti_key tpti_keys[TPTI_KEYS];

/* NULL: there is none of that name. */
const tpti_key *tpti_key_find(const char *name);

/* TPT_E_CONFIG for a name that is no key, with the nearest one that is. line 0: not known. */
tpt_status tpti_key_unknown(const char *name, size_t line);

/* Is this the name of a section: "model", "model.dc"? */
bool tpti_key_is_section(const char *name);

/* "an integer from 1 to 4096", and so on for the other types. */
const char *tpti_key_allowed(const tpti_key *key, char text[TPTI_KEY_TEXT]);

static inline uint64_t tpti_key_bit(const tpti_key *key) {
  return (uint64_t)1 << (size_t)(key - tpti_keys);
}

/* spec/value.c: a key's value from and to YAML. A failed store changes nothing. */
tpt_status tpti_key_store(tpti_spec *spec, const tpti_key *key, const tpti_yaml_node *node);
bool tpti_key_print(const tpti_spec *spec, const tpti_key *key, tpti_buffer *text);
/* Of a key that may be a list: is it one, and how long? */
bool tpti_key_has_list(const tpti_spec *spec, const tpti_key *key);
size_t tpti_key_list_count(const tpti_spec *spec, const tpti_key *key);
bool tpti_key_equal(const tpti_spec *a, const tpti_spec *b, const tpti_key *key);

/* spec/check.c: tpti_spec_check; lines [TPTI_KEYS] of the keys in the text (0: not in it), or NULL.
 */
tpt_status tpti_spec_check_lines(const tpti_spec *spec, const size_t *lines);

#endif
