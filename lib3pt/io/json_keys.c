/* Few keys are compared with each other, many put into a table. */
#include "io/json_keys.h"

#include <string.h>

#include "base/hash.h"

enum { FEW = 8, TICK_KEYS = 1 << 11 };

static const char *twice_among_few(const tpti_json *object) {
  for (const tpti_json *a = tpti_json_first(object); a; a = tpti_json_after(a))
    for (const tpti_json *b = tpti_json_after(a); b; b = tpti_json_after(b))
      if (strcmp(tpti_json_key(a), tpti_json_key(b)) == 0) return tpti_json_key(a);
  return NULL;
}

typedef struct table {
  const char **keys; /* NULL: free */
  size_t mask;
  uint64_t seed;
} table;

/* false: it is there already. */
static bool add(const table *t, const char *key) {
  size_t at = (size_t)tpti_hash(t->seed, key, strlen(key)) & t->mask;
  for (; t->keys[at]; at = (at + 1) & t->mask)
    if (strcmp(t->keys[at], key) == 0) return false;
  t->keys[at] = key;
  return true;
}

static tpt_status add_all(const table *t, tpti_run *run, const tpti_json *object,
                          const char **twice) {
  size_t count = 0;
  for (const tpti_json *m = tpti_json_first(object); m && !*twice; m = tpti_json_after(m)) {
    if (!add(t, tpti_json_key(m))) *twice = tpti_json_key(m);
    if (++count % TICK_KEYS == 0 && run && !tpti_run_tick(run)) return tpti_run_status(run);
  }
  return TPT_OK;
}

tpt_status tpti_json_keys_check(const tpti_memory *memory, tpti_run *run, uint64_t seed,
                                const tpti_json *object, const char **twice) {
  size_t count = tpti_json_count(object);
  *twice = NULL;
  if (count <= FEW) {
    *twice = twice_among_few(object);
    return TPT_OK;
  }
  size_t mask = tpti_table_mask(count), bytes = (mask + 1) * sizeof(const char *);
  table t = {.keys = tpti_take(memory, bytes), .mask = mask, .seed = seed};
  if (!t.keys) return tpti_fail_memory_for(bytes, "the keys of an object of JSON");
  memset(t.keys, 0, bytes);
  tpt_status status = add_all(&t, run, object, twice);
  tpti_give(memory, t.keys, bytes);
  return status;
}
