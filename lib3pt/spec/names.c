/* Finding a key by its name, and saying what a wrong name may have meant. */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "spec/keys.h"

enum {
  NAME_ROOM = 64,  /* longer than every key; a longer name is near none */
  FAR = NAME_ROOM, /* a distance that no near name has */
  NEAR = 3         /* edits: a slip of the fingers, not another word */
};

const tpti_key *tpti_key_find(const char *name) {
  for (size_t i = 0; i < TPTI_KEYS; i++)
    if (strcmp(tpti_keys[i].name, name) == 0) return &tpti_keys[i];
  return NULL;
}

/* Is `name` the first parts of `key`? */
static bool begins(const char *key, const char *name, size_t length) {
  return strncmp(key, name, length) == 0 && key[length] == '.';
}

bool tpti_key_is_section(const char *name) {
  for (size_t i = 0; i < TPTI_KEYS; i++)
    if (begins(tpti_keys[i].name, name, strlen(name))) return true;
  return false;
}

/* Levenshtein's distance of a[0..m) to b[0..n), both shorter than NAME_ROOM. */
static size_t distance(const char *a, size_t m, const char *b, size_t n) {
  size_t row[NAME_ROOM];
  for (size_t j = 0; j <= n; j++) row[j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = tpti_least(replaced, tpti_least(row[j], row[j - 1]) + 1);
    }
  }
  return row[n];
}

/* How far `name` is from the first `length` bytes of a key; the right last part in the wrong
 * section counts as one edit. */
static size_t farness(const char *name, const char *key, size_t length) {
  const char *last = strrchr(name, '.'), *key_last = strrchr(key, '.') + 1;
  last = last ? last + 1 : name;
  if (!key[length] && strcmp(last, key_last) == 0) return 1;
  return distance(name, strlen(name), key, length);
}

/* The nearest key or section: `best` begins with its `length` bytes. NULL: none is near. */
static const char *nearest(const char *name, size_t *length) {
  const char *dot = strrchr(name, '.');
  size_t least = tpti_least(NEAR, (strlen(dot ? dot + 1 : name) + 2) / 3) + 1;
  const char *best = NULL;
  if (strlen(name) >= NAME_ROOM) return NULL;
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const char *key = tpti_keys[i].name;
    for (const char *end = strchr(key, '.'); end; end = *end ? strchrnul(end + 1, '.') : NULL) {
      size_t far = farness(name, key, (size_t)(end - key));
      if (far >= least) continue;
      least = far;
      best = key;
      *length = (size_t)(end - key);
    }
  }
  return best;
}

tpt_status tpti_key_unknown(const char *name, size_t line) {
  char shown[TPTI_YAML_SHOWN], place[TPTI_NUMBER_TEXT + 8] = "";
  if (line) snprintf(place, sizeof place, "line %zu: ", line);
  tpti_yaml_show(name, shown);
  if (tpti_key_is_section(name))
    return tpti_fail(TPT_E_CONFIG, "%s%s is a section of keys, not a key%s", place, name,
                     line ? ": it holds KEY: VALUE, a line each" : "");
  size_t length = 0;
  const char *near = nearest(name, &length);
  if (near)
    return tpti_fail(TPT_E_CONFIG, "%sunknown key %s; did you mean %.*s?", place, shown,
                     (int)length, near);
  if (!strchr(name, '.'))
    return tpti_fail(TPT_E_CONFIG, "%sunknown key %s; model and train are allowed here", place,
                     shown);
  return tpti_fail(TPT_E_CONFIG, "%sunknown key %s; 3pt.yaml(5) lists the keys", place, shown);
}
