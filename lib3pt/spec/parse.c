/* A whole description from YAML and to YAML. */
#include <string.h>

#include "spec/keys.h"

/* What is written can be read: "-1.2345678901234567e-123, " is the longest number of a list, the
 * angles are at most 4096 of them, and the other keys are short. */
_Static_assert(26 * (TPTI_YAML_ITEMS + 4096) + 4096 <= TPTI_YAML_BYTES, "a text can be read back");

typedef struct reading {
  tpti_spec *spec;
  size_t lines[TPTI_KEYS]; /* where each key is in the text; 0: it is not */
} reading;

/* Nothing under a section, or null as YAML's core schema spells it: no key is given. */
static bool is_null(const tpti_yaml_node *node) {
  static const char *const spellings[] = {"", "~", "null", "Null", "NULL"};
  if (node->kind != TPTI_YAML_SCALAR || !node->plain) return false;
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (strcmp(node->items[0], spellings[i]) == 0) return true;
  return false;
}

static tpt_status read_node(void *user, const tpti_yaml_node *node) {
  reading *r = user;
  const tpti_key *key = tpti_key_find(node->key);
  if (!key) {
    bool keys = node->kind == TPTI_YAML_MAPPING || is_null(node);
    return keys && tpti_key_is_section(node->key) ? TPT_OK
                                                  : tpti_key_unknown(node->key, node->line);
  }
  tpt_status status = tpti_key_store(r->spec, key, node);
  if (status) return status;
  r->lines[key - tpti_keys] = node->line;
  r->spec->given |= tpti_key_bit(key);
  return TPT_OK;
}

tpt_status tpti_spec_parse(const char *yaml, size_t length, tpti_spec *spec) {
  reading r = {.spec = spec};
  tpti_spec_init(spec);
  tpt_status status = tpti_yaml_walk(yaml, length, read_node, &r);
  if (!status) {
    tpti_spec_follow(spec);
    status = tpti_spec_check_lines(spec, r.lines);
  }
  if (status) tpti_spec_free(spec);
  return status;
}

/* Bytes of `name` up to and with its dot number `level` (from 0), or 0 where it has fewer. */
static size_t section_end(const char *name, size_t level) {
  const char *dot = strchr(name, '.');
  for (; dot && level > 0; level--) dot = strchr(dot + 1, '.');
  return dot ? (size_t)(dot - name) + 1 : 0;
}

/* The lines that open the sections of `name` which `previous` is not in; returns the level of the
 * key itself. */
static size_t open_sections(tpti_buffer *yaml, const char *name, const char *previous) {
  size_t level = 0, begin = 0;
  for (size_t end; (end = section_end(name, level)) > 0; level++, begin = end)
    if (strncmp(name, previous, end) != 0)
      tpti_buffer_printf(yaml, "%*s%.*s:\n", (int)(2 * level), "", (int)(end - 1 - begin),
                         name + begin);
  return level;
}

tpt_status tpti_spec_format(const tpti_spec *spec, tpti_buffer *yaml) {
  const char *previous = "";
  for (size_t i = 0; i < TPTI_KEYS; i++) {
    const char *name = tpti_keys[i].name;
    size_t level = open_sections(yaml, name, previous);
    tpti_buffer_printf(yaml, "%*s%s: ", (int)(2 * level), "", strrchr(name, '.') + 1);
    tpti_key_print(spec, &tpti_keys[i], yaml);
    tpti_buffer_append(yaml, "\n", 1);
    previous = name;
  }
  return yaml->failed ? tpti_fail_memory_for(yaml->used, "a description's text") : TPT_OK;
}
